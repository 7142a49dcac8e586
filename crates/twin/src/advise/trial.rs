//! Plans of a trial: one flow in each direction, and a competing cubic flow.

use std::time::Duration;

use model::{
    advice::Outcome,
    job,
    net::{Direction, Layer, LoadDirection, Side},
    path::{Competitor, CompetitorKind, Parameter, Path, Trial},
    plan::{Budget, Measurement, OF_HOST, PLAN_SCHEMA, Plan, Repeats, Step},
    run::{FigureKind, Run, StepKind},
    units::Seed,
};

use crate::error::TwinError;

/// Interval of the probes, ms.
const PROBE_MS: f64 = 10.0;
/// Time without load at the start, s.
const IDLE_S: f64 = 1.0;
/// Shortest time of a load that does not count, and shortest that does, s.
const SHORTEST_S: [f64; 2] = [2.0, 6.0];
/// The same in round trips: the start of a flow takes some ten.
const ROUND_TRIPS: [f64; 2] = [12.0, 40.0];
/// Longest of both, s.
const LONGEST_S: f64 = 20.0;
/// Virtual time after which a trial counts as hung.
const LIMIT: Duration = Duration::from_secs(1200);
/// Round trip of a path without it, s.
const USUAL_RTT_S: f64 = 0.05;

/// One flow in each direction, with the congestion control of each sender.
pub(super) fn plan(path: &Path) -> Plan {
    let loads = [Direction::Down, Direction::Up]
        .map(|direction| load(path, direction, &cc(path, direction)));
    with(path, loads.into())
}

/// One flow in each direction, with the default congestion control of its host.
pub(super) fn of_hosts(path: &Path) -> Plan {
    let loads = [Direction::Down, Direction::Up].map(|direction| load(path, direction, OF_HOST));
    Plan {
        name: "turns".to_owned(),
        ..with(path, loads.into())
    }
}

/// One cubic flow in a direction, to measure its goodput with the competitor of [`beside`].
pub(super) fn victim(path: &Path, direction: Direction) -> Plan {
    with(path, vec![load(path, direction, "cubic")])
}

/// The path with one flow in a direction that runs all the time, of the congestion control of its
/// sender.
pub(super) fn beside(path: &Path, direction: Direction) -> Path {
    let flow = Competitor {
        kind: Some(Parameter::given(CompetitorKind::Tcp)),
        direction: Some(Parameter::given(LoadDirection::from(direction))),
        flows: Some(Parameter::given(1)),
        cc: Some(Parameter::given(cc(path, direction))),
        ..Competitor::default()
    };
    let mut path = path.clone();
    path.competitors.push(flow);
    path
}

/// The congestion control of the sender of a direction.
pub(super) fn cc(path: &Path, direction: Direction) -> String {
    let end = path.ends.end(Side::sends(direction));
    end.cc
        .as_ref()
        .map_or("cubic", |cc| cc.value.as_str())
        .to_owned()
}

/// Times of a load on a path: that which does not count, and that which does, s.
fn times_s(path: &Path) -> [f64; 2] {
    let delay = |d| {
        let line = path.underlay.line(d);
        line.delay_ns.as_ref().map(|p| p.value.0 as f64 / 1e9)
    };
    let rtt_s = delay(Direction::Down)
        .zip(delay(Direction::Up))
        .map_or(USUAL_RTT_S, |(down, up)| down + up);
    [0, 1].map(|i| (ROUND_TRIPS[i] * rtt_s).clamp(SHORTEST_S[i], LONGEST_S))
}

/// The time of a load on a path that counts.
pub(super) fn counts(path: &Path) -> Duration {
    let [_, counts_s] = times_s(path);
    Duration::from_secs_f64(counts_s)
}

fn load(path: &Path, direction: Direction, cc: &str) -> Step {
    let [warmup_s, counts_s] = times_s(path);
    let tcp = Measurement::Tcp {
        direction: LoadDirection::from(direction),
        flows: 1,
        cc: vec![cc.to_owned()],
        warmup_s,
    };
    step(tcp, warmup_s + counts_s)
}

fn step(measurement: Measurement, duration_s: f64) -> Step {
    Step {
        measurement,
        duration_s,
        repeat: false,
    }
}

fn with(path: &Path, loads: Vec<Step>) -> Plan {
    let layer = match path.tunnel {
        Some(_) => Layer::Tunnel,
        None => Layer::Underlay,
    };
    let mut steps = vec![step(Measurement::Idle, IDLE_S)];
    steps.extend(loads);
    Plan {
        schema: PLAN_SCHEMA,
        name: "advise".to_owned(),
        seed: Some(Seed(1)),
        layers: vec![layer],
        families: Vec::new(),
        probe_ms: Some(PROBE_MS),
        hotspots: false,
        // The same time for every remedy.
        adapt: false,
        repeats: Repeats {
            min: 1,
            max: 1,
            width: None,
        },
        budget: Budget::default(),
        steps,
    }
}

/// The job of a plan on a path with a seed.
pub(super) fn job(
    path: &Path,
    plan: Plan,
    seed: u64,
    program: &str,
) -> Result<job::Measure, TwinError> {
    // The same name for all, since it is part of the cache key.
    let path = Path {
        name: "trial".to_owned(),
        ..path.clone()
    };
    let trial = Trial {
        seed: Seed(seed),
        ..Trial::default()
    };
    let cell = path.cell(&trial)?;
    Ok(job::Measure::new(cell, plan, program, LIMIT))
}

/// Returns the outcomes of one flow in each direction; `None` if one of them is invalid.
pub(super) fn outcomes(run: &Run) -> Option<Vec<Outcome>> {
    [Direction::Down, Direction::Up]
        .into_iter()
        .map(|direction| outcome(run, direction))
        .collect()
}

/// Returns the outcome of the first TCP load of a direction alone; `None` if there is no valid one.
pub fn outcome(run: &Run, direction: Direction) -> Option<Outcome> {
    let sample = tcp(run, direction)?;
    let value = |kind| analysis::figures::value(sample, kind);
    Some(Outcome {
        direction,
        goodput_bps: value(FigureKind::Goodput)?,
        rtt_p50_us: value(FigureKind::RttP50)?,
        rtt_p99_us: value(FigureKind::RttP99),
        retransmitted: value(FigureKind::Retransmitted),
    })
}

/// Goodput of a direction, bit/s.
pub(super) fn goodput(run: &Run, direction: Direction) -> Option<f64> {
    analysis::figures::value(tcp(run, direction)?, FigureKind::Goodput)
}

fn tcp(run: &Run, direction: Direction) -> Option<&model::run::Sample> {
    let mut tcp = run
        .samples
        .iter()
        .filter(|s| s.valid && s.key.step == StepKind::Tcp);
    tcp.find(|s| s.key.direction == Some(direction) && !s.key.bidirectional)
}
