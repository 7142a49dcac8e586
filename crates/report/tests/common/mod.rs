//! A small run with figures known by arithmetic.

// Not every test program uses all helpers.
#![allow(dead_code, missing_docs)]

use std::time::Duration;

use corpus::compose::{self, Line, Scene};
use model::{
    advice::{
        ADVICE_SCHEMA, Advice, AdviceFigure, Change, Effect, Goal, NotTried, Origin, Outcome,
        Tried, Unchanged,
    },
    findings::Findings,
    net::{Direction, IpVersion, Layer},
    remedy::{Action, CcScope, Location, Remedy},
    run::{Column, FlowResult, Key, Probes, Run, Sample, Series, StepKind, Tcp},
    text::Text,
    twin::{Twin, TwinVerdict},
};

/// Measured time of a load, µs after its start.
pub(crate) const WINDOW_US: [i64; 2] = [2_000_000, 8_000_000];

pub(crate) fn key(
    step: StepKind,
    direction: Option<Direction>,
    flows: Option<u32>,
    cc: &str,
) -> Key {
    Key {
        step,
        layer: Layer::Underlay,
        family: IpVersion::V4,
        direction,
        bidirectional: false,
        flows,
        cc: (!cc.is_empty()).then(|| cc.to_owned()),
        rate_bps: None,
        bytes: None,
    }
}

/// Bytes received `ms` after the start: a rate that increases from `scale` Mbyte/s.
fn bytes(ms: i64, scale: i64) -> u64 {
    u64::try_from(scale * (1000 * ms + ms * ms / 10)).expect("a time after the start")
}

/// Goodput of the window by that formula, bit/s.
pub(crate) fn goodput_bps(scale: i64) -> f64 {
    let grown = bytes(WINDOW_US[1] / 1000, scale) - bytes(WINDOW_US[0] / 1000, scale);
    grown as f64 * 8e6 / (WINDOW_US[1] - WINDOW_US[0]) as f64
}

fn flow(scale: i64) -> FlowResult {
    let mut received = Series {
        at_us: (0..=803).map(|sample| sample * 10_000).collect(),
        ..Series::default()
    };
    let points = received
        .at_us
        .iter()
        .map(|us| Some(bytes(us / 1000, scale)));
    let points = points.collect();
    received.push(Column::BytesReceived, points);
    FlowResult {
        goodput_bps: goodput_bps(scale),
        received: Some(received),
        ..FlowResult::default()
    }
}

/// Probes every 10 ms from half a second before the start; those sent in `window_us` are counted.
/// RTTs vary, and one probe in 50 is lost.
pub(crate) fn probes(window_us: [i64; 2], base_ms: u64) -> Probes {
    let at_us: Vec<i64> = (-50..820).map(|n| n * 10_000).collect();
    let rtt = |at: &i64| {
        let n = (at / 10_000 + 50) as u64;
        (n % 50 != 7).then_some(base_ms * 1_000_000 + n * n % 97 * 100_000)
    };
    let counts = |at: &&i64| (window_us[0]..window_us[1]).contains(*at);
    let sent = at_us.iter().filter(counts).count() as u64;
    let rtts: Vec<f64> = at_us
        .iter()
        .filter(counts)
        .filter_map(rtt)
        .map(|ns| ns as f64 / 1e3)
        .collect();
    let mut series = Series {
        at_us: at_us.clone(),
        ..Series::default()
    };
    series.push(Column::RttNs, at_us.iter().map(rtt).collect());
    Probes {
        sent,
        n: rtts.len() as u64,
        lost: 1.0 - rtts.len() as f64 / sent as f64,
        mean_us: Some(rtts.iter().sum::<f64>() / rtts.len() as f64),
        series: Some(series),
        ..Probes::default()
    }
}

/// A load at a time, with flows of these scales.
pub(crate) fn load(key: Key, at_us: u64, scales: &[i64]) -> Sample {
    let mut sample = Sample::new(key, at_us);
    sample.load_at_us = Some(at_us + 700_000);
    sample.tcp = Some(Tcp {
        cc_used: sample.key.cc.clone(),
        window_us: WINDOW_US,
        goodput_bps: scales.iter().map(|s| goodput_bps(*s)).sum(),
        bytes: scales.iter().map(|s| bytes(8030, *s)).sum(),
        flows: scales.iter().map(|s| flow(*s)).collect(),
    });
    sample.probes = Some(probes(WINDOW_US, 20));
    sample
}

/// A run with these samples and no figures.
pub(crate) fn run(samples: Vec<Sample>) -> Run {
    let text = r#"{"schema": 1, "id": "00c0ffee00c0ffee", "program": "0.1.0",
        "started_us": 1795255200250000, "took_s": 60.5, "plan": {"name": "own", "step": []},
        "near": {"program": "0.1.0", "facts": {"schema": 1, "kernel": "6.12.9"}},
        "far": {"program": "0.1.0", "facts": {"schema": 1}},
        "layers": [{"layer": "underlay", "family": "v4", "near": "192.0.2.1", "far": "192.0.2.7"}],
        "samples": [], "figures": [], "ratios": []}"#;
    let mut run = Run::parse(text.as_bytes()).expect("a run");
    run.samples = samples;
    for (number, sample) in run.samples.iter_mut().enumerate() {
        sample.number = number as u32;
    }
    run
}

/// Findings without a finding.
pub(crate) fn nothing_found() -> Findings {
    let text = r#"{"schema": 1, "program": "0.1.0", "run": "00c0ffee00c0ffee",
        "summary": "nothing", "findings": []}"#;
    Findings::parse(text.as_bytes()).expect("findings")
}

fn outcomes(goodput_bps: f64, rtt_us: f64) -> Vec<Outcome> {
    let of = |direction| Outcome {
        direction,
        goodput_bps,
        rtt_p50_us: rtt_us,
        rtt_p99_us: Some(1.2 * rtt_us),
        retransmitted: Some(0.001),
    };
    vec![of(Direction::Down), of(Direction::Up)]
}

fn tried(name: &str, effect: Effect, goodput_bps: f64, rtt_us: f64) -> Tried {
    let change = |figure| Change {
        direction: Direction::Down,
        figure,
        ratio: 1.5,
        low: 1.2,
        high: 1.9,
    };
    let cc = Action::CongestionControl {
        cc: "bbr".to_owned(),
        scope: CcScope::Host,
    };
    Tried {
        name: Text::name(name),
        origin: Origin::Recipe,
        remedies: vec![Remedy::new(cc, Location::Far, Text::plain(""))],
        effect,
        texts: vec![Text::fixed("the path has it already")],
        outcomes: outcomes(goodput_bps, rtt_us),
        changes: vec![
            change(AdviceFigure::Goodput),
            change(AdviceFigure::LoadedP50),
        ],
        worth: 0.4,
        regret: 0.0,
        competitor: Vec::new(),
        pairs: 8,
        runs: vec!["0123456789abcdef".to_owned()],
    }
}

/// An advice with one remedy that helps and one without effect.
pub(crate) fn advice() -> Advice {
    Advice {
        schema: ADVICE_SCHEMA,
        program: "0.1.0".to_owned(),
        run: "r1".to_owned(),
        twin: TwinVerdict::FitForAdvising,
        goal: Goal::Balanced,
        keep: Vec::new(),
        text: Text::fixed("it changes nothing"),
        advised: Some(0),
        settle: None,
        capacity: model::capacity::PathCapacity::default(),
        unchanged: Unchanged {
            outcomes: outcomes(30e6, 120e3),
            runs: Vec::new(),
        },
        tried: vec![
            tried("bbr", Effect::Helps, 45e6, 60e3),
            tried("cake", Effect::Nothing, 30e6, 119e3),
        ],
        not_tried: vec![NotTried {
            name: Text::name("tcp_sack=0"),
            why: Text::fixed("the lab has no such setting"),
            remedy: None,
        }],
        notes: Vec::new(),
        runs: 40,
        failed: 0,
    }
}

/// The lab by arithmetic: the Run of the same scene with other noise, with series.
struct SameScene(Scene);

impl twin::Bench for SameScene {
    fn measure(
        &mut self,
        jobs: &[model::job::Measure],
        seen: &mut dyn FnMut(usize, twin::Outcome),
    ) -> Result<(), twin::Stopped> {
        for (place, job) in jobs.iter().enumerate() {
            let mut run = compose::run(&self.0, 1000 + job.cell.seed.0);
            compose::with_series(&mut run);
            let name = format!("run-{place}");
            seen(place, twin::Outcome::Run(Box::new(run), name));
        }
        Ok(())
    }
}

/// A twin with fitted figures, figures left out and a step over time.
pub(crate) fn twin() -> Twin {
    let line = Line {
        rate_mbps: 50.0,
        rtt_ms: 30.0,
        buffer_ms: 40.0,
        ..Line::default()
    };
    let scene = Scene {
        down: line.clone(),
        up: line,
        ..Scene::default()
    };
    let mut run = compose::run(&scene, 7);
    compose::with_series(&mut run);
    let budget = twin::Budget::Of(Duration::from_secs(600));
    let fit = twin::Fit::prepare(&run, budget, "0.1.0").expect("a run with all that a twin needs");
    let twin = fit.search(&mut SameScene(scene)).expect("a twin");
    assert!(!twin.fitted.is_empty() && !twin.held_out.is_empty() && twin.series.is_some());
    twin
}

/// A path with a small window in one direction and a deep queue in the other.
pub(crate) fn window_and_queue() -> Run {
    let down = Line {
        rtt_ms: 80.0,
        rwnd_kb: Some(200.0),
        ..Line::default()
    };
    let up = Line {
        rate_mbps: 20.0,
        buffer_ms: 300.0,
        ..Line::default()
    };
    let scene = Scene {
        down,
        up,
        ..Scene::default()
    };
    compose::run(&scene, 1)
}
