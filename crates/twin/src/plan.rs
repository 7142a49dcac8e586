//! Plan of a candidate: the steps of the Run, once.

use std::collections::BTreeMap;

use model::{
    net::{Direction, Layer},
    plan::{Budget, LoadDirection, Measurement, PLAN_SCHEMA, Plan, Repeats, Step},
    run::{Run, Sample, StepKind},
    units::Seed,
};

use crate::{ends::in_lab, moments::Moments};

/// Length of the latency measurement without load, s.
const IDLE_S: f64 = 1.5;
/// Longest time that more is offered than the path carries, s.
const SWEEP_S: f64 = 3.0;
/// Interval of probes if the Run had none, ms.
const PROBE_MS: f64 = 10.0;
/// Default measured time, where a Run does not have it, s.
const USUAL_WINDOW_S: [f64; 2] = [2.0, 8.0];

/// TCP loads that differ by congestion control only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    toward: LoadDirection,
    flows: u32,
    /// Time that counts, ms: from, to.
    window_ms: [u64; 2],
}

/// The steps of the Run on these layers, each once, with the parameters actually used; with or
/// without the loads in both directions at once.
pub(crate) fn plan(run: &Run, known: &Moments, layers: &[Layer], bidirectional: bool) -> Plan {
    let mut steps = vec![step(Measurement::Idle, IDLE_S)];
    for direction in [Direction::Down, Direction::Up] {
        if has_sweep(run, known.layer, direction) {
            steps.push(sweep(known, direction));
        }
    }
    let shapes = shapes(run, layers, bidirectional);
    steps.extend(shapes.into_iter().map(|(shape, cc)| Step {
        measurement: Measurement::Tcp {
            direction: shape.toward,
            flows: shape.flows,
            cc,
            warmup_s: shape.window_ms[0] as f64 / 1e3,
        },
        duration_s: shape.window_ms[1] as f64 / 1e3,
        repeat: false,
    }));
    Plan {
        schema: PLAN_SCHEMA,
        name: "twin".to_owned(),
        seed: Some(Seed(1)),
        layers: layers.to_vec(),
        families: Vec::new(),
        probe_ms: Some(run.plan.probe_ms.unwrap_or(PROBE_MS)),
        hotspots: false,
        // The very durations that were measured.
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

/// Congestion controls of the Run that the lab does not have.
pub(crate) fn not_in_lab(run: &Run) -> Vec<String> {
    let mut all: Vec<String> = run
        .samples
        .iter()
        .filter(|s| s.valid)
        .filter_map(|s| s.key.cc.clone())
        .filter(|cc| !in_lab(cc))
        .collect();
    all.sort();
    all.dedup();
    all
}

fn shapes(run: &Run, layers: &[Layer], bidirectional: bool) -> BTreeMap<Shape, Vec<String>> {
    let mut shapes: BTreeMap<Shape, Vec<String>> = BTreeMap::new();
    let ours = |s: &&Sample| {
        s.key.step == StepKind::Tcp && s.tcp.is_some() && layers.contains(&s.key.layer)
    };
    for sample in run.samples.iter().filter(ours) {
        let (Some(shape), Some(cc)) = (shape(sample), sample.key.cc.clone()) else {
            continue;
        };
        if (shape.toward == LoadDirection::Both && !bidirectional) || !in_lab(&cc) {
            continue;
        }
        let all = shapes.entry(shape).or_default();
        if !all.contains(&cc) {
            all.push(cc);
            all.sort();
        }
    }
    shapes
}

fn shape(sample: &Sample) -> Option<Shape> {
    let toward = match (sample.key.bidirectional, sample.key.direction?) {
        (true, _) => LoadDirection::Both,
        (false, Direction::Down) => LoadDirection::Down,
        (false, Direction::Up) => LoadDirection::Up,
    };
    let [from, to] = sample.tcp.as_ref()?.window_us;
    let known = from >= 0 && to > from;
    let window_ms = match known {
        true => [from as u64 / 1000, to as u64 / 1000],
        false => USUAL_WINDOW_S.map(|s| (s * 1e3) as u64),
    };
    Some(Shape {
        toward,
        flows: sample.key.flows.unwrap_or(1),
        window_ms,
    })
}

fn has_sweep(run: &Run, layer: Layer, direction: Direction) -> bool {
    run.samples.iter().any(|s| {
        s.valid
            && s.key.step == StepKind::UdpSweep
            && s.key.layer == layer
            && s.key.direction == Some(direction)
    })
}

/// A sweep that begins not far below the capacity of the path: the behaviour at lower rates is
/// known.
fn sweep(known: &Moments, direction: Direction) -> Step {
    let rate = known.line(direction).rate_bps.value;
    step(
        Measurement::UdpSweep {
            direction,
            from_bps: ((rate / 12.0) as u64).max(100_000),
            to_bps: ((rate * 4.0) as u64).max(1_000_000),
        },
        SWEEP_S,
    )
}

fn step(measurement: Measurement, duration_s: f64) -> Step {
    Step {
        measurement,
        duration_s,
        repeat: false,
    }
}
