//! Statistical properties of comparisons, over many seeds.

use model::{
    comparison::{Unit, Verdict},
    run::{FigureKind, Key, Run, Sample, StepKind},
};
use stats::Random;

use crate::{Measured, Options, compare};

fn normal(random: &mut Random) -> f64 {
    let (u, v) = (random.unit(), random.unit());
    (-2.0 * u.ln()).sqrt() * (2.0 * std::f64::consts::PI * v).cos()
}

/// Properties of the runs of a path.
#[derive(Clone, Copy)]
struct Path {
    goodput: f64,
    /// P99 under load, µs; lognormal.
    p99: f64,
    lost: f64,
    /// Noise from sample to sample, and from run to run.
    noise: (f64, f64),
}

const PATH: Path = Path {
    goodput: 94e6,
    p99: 40_000.0,
    lost: 0.0,
    noise: (0.02, 0.0),
};

/// A sample from JSON, as in a run's file.
fn sample(path: &Path, direction: &str, level: f64, random: &mut Random) -> Sample {
    let noise = level * (path.noise.0 * normal(random)).exp();
    let delay = level * (5.0 * path.noise.0 * normal(random)).exp();
    let lost = (path.lost * (1.0 + normal(random).abs())).min(1.0);
    let text = format!(
        r#"{{"number": 0, "block": 0, "at_us": 0, "took_us": 1, "valid": true,
            "key": {{"step": "tcp", "layer": "underlay", "family": "v4",
                     "direction": "{direction}", "flows": 1}},
            "tcp": {{"window_us": [0, 1], "goodput_bps": {}, "bytes": 1, "flows": []}},
            "probes": {{"sent": 1000, "n": 990, "lost": {lost}, "p50_us": {}, "p99_us": {},
                        "kernel_times": true}}}}"#,
        path.goodput * noise,
        path.p99 / 2.0 * delay,
        path.p99 * delay,
    );
    serde_json::from_str(&text).expect("a sample")
}

/// A run without samples.
const EMPTY: &str = r#"{"schema": 1, "id": "", "program": "test", "started_us": 0, "took_s": 1.0,
    "plan": {"step": []}, "near": {"program": "", "facts": {"schema": 1}},
    "far": {"program": "", "facts": {"schema": 1}}, "layers": [], "samples": [],
    "figures": [], "ratios": []}"#;

fn run(id: &str, path: &Path, samples: usize, random: &mut Random) -> Measured {
    let level = (path.noise.1 * normal(random)).exp();
    let mut run = Run::parse(EMPTY.as_bytes()).expect("a run");
    id.clone_into(&mut run.id);
    for direction in ["down", "up"] {
        run.samples
            .extend((0..samples).map(|_| sample(path, direction, level, random)));
    }
    Measured::of(&run)
}

fn runs(n: usize, path: &Path, samples: usize, random: &mut Random) -> Vec<Measured> {
    (0..n)
        .map(|i| run(&i.to_string(), path, samples, random))
        .collect()
}

/// Share of `rounds` comparisons in which `holds`, %.
fn share(rounds: u64, holds: impl Fn(&mut Random) -> bool) -> f64 {
    let hits = (0..rounds)
        .filter(|&seed| holds(&mut Random::new(seed * 7919 + 3)))
        .count();
    100.0 * hits as f64 / rounds as f64
}

fn verdicts(a: &[Measured], b: &[Measured]) -> model::comparison::Comparison {
    compare(("a", a), ("b", b), &Options::default())
}

#[test]
fn missing_throughput_is_reported_and_is_not_agreement() {
    let mut random = Random::new(1);
    let before = runs(1, &PATH, 4, &mut random);
    let mut invalid = Run::parse(EMPTY.as_bytes()).expect("a run");
    for _ in 0..4 {
        let mut sample = sample(&PATH, "down", 1.0, &mut random);
        sample.valid = false;
        invalid.samples.push(sample);
    }
    let mut idle = sample(&PATH, "down", 1.0, &mut random);
    (idle.key.step, idle.tcp) = (StepKind::Idle, None);
    invalid.samples.push(idle.clone());
    let mut others = before.clone();
    let mut both = Run::parse(EMPTY.as_bytes()).expect("a run");
    both.samples.push(idle);
    others.push(Measured::of(&both));
    let after = [Measured::of(&invalid)];
    let compared = verdicts(&others, &after);
    assert!(!compared.lines.is_empty(), "the idle figures are there");
    assert_eq!(
        compared
            .no_throughput
            .as_ref()
            .map(ToString::to_string)
            .as_deref(),
        Some(
            "no throughput is compared: of the TCP and QUIC samples, 8 of 8 are valid before and \
             0 of 4 after"
        )
    );
    assert_eq!(verdicts(&before, &before).no_throughput, None);
    let only = Options {
        only: vec![FigureKind::RttP50],
        ..Options::default()
    };
    let latency = compare(("a", &others), ("b", &after), &only);
    assert_eq!(latency.no_throughput, None, "nobody asked for it");
}

#[test]
fn without_a_change_one_comparison_of_twenty_differs_at_most() {
    for samples in [3, 5, 10] {
        let wrong = share(500, |random| {
            let (a, b) = (
                runs(1, &PATH, samples, random),
                runs(1, &PATH, samples, random),
            );
            let lines = verdicts(&a, &b).lines;
            assert_eq!(lines.len(), 8);
            lines
                .iter()
                .any(|l| matches!(l.verdict, Verdict::Better | Verdict::Worse))
        });
        assert!(wrong <= 5.0, "{samples} samples: {wrong} %");
    }
}

#[test]
fn runs_with_large_variation_are_not_reported_as_a_change() {
    // 10 % from run to run and 2 % from sample to sample: by samples almost every pair would
    // differ.
    let path = Path {
        noise: (0.02, 0.1),
        ..PATH
    };
    for (n, m) in [(20, 5), (20, 1), (3, 3)] {
        let wrong = share(300, |random| {
            let (a, b) = (runs(n, &path, 5, random), runs(m, &path, 5, random));
            let comparison = verdicts(&a, &b);
            assert!(comparison.lines.iter().all(|l| l.unit == Unit::Runs));
            comparison
                .lines
                .iter()
                .any(|l| matches!(l.verdict, Verdict::Better | Verdict::Worse))
        });
        assert!(wrong <= 6.5, "{n} against {m}: {wrong} %");
    }
}

#[test]
fn five_percent_less_goodput_is_found_with_five_samples_of_one_percent_noise() {
    let found = |noise: f64, samples: usize| {
        let (before, after) = (
            Path {
                noise: (noise, 0.0),
                ..PATH
            },
            Path {
                noise: (noise, 0.0),
                goodput: 0.95 * PATH.goodput,
                ..PATH
            },
        );
        share(200, |random| {
            let (a, b) = (
                runs(1, &before, samples, random),
                runs(1, &after, samples, random),
            );
            let comparison = verdicts(&a, &b);
            comparison
                .with(Verdict::Worse)
                .filter(|l| l.kind == FigureKind::Goodput)
                .count()
                == 2
        })
    };
    for (noise, samples) in [(0.01, 5), (0.02, 8), (0.03, 16)] {
        let share = found(noise, samples);
        assert!(share >= 90.0, "{noise} {samples}: {share} %");
    }
}

#[test]
fn new_loss_is_worse_and_traces_of_it_are_the_same() {
    let mut random = Random::new(1);
    let a = runs(1, &PATH, 8, &mut random);
    let verdict = |lost: f64, random: &mut Random| {
        let b = runs(1, &Path { lost, ..PATH }, 8, random);
        let comparison = verdicts(&a, &b);
        let line = comparison
            .lines
            .iter()
            .find(|l| l.kind == FigureKind::ProbeLost);
        line.map(|l| (l.ratio.is_none(), l.verdict))
    };
    assert_eq!(verdict(0.01, &mut random), Some((true, Verdict::Worse)));
    assert_eq!(verdict(0.0002, &mut random), Some((true, Verdict::Same)));
    assert_eq!(verdict(0.0, &mut random), Some((true, Verdict::Same)));
}

#[test]
fn less_delay_is_better_and_less_goodput_is_worse() {
    let mut random = Random::new(1);
    let a = runs(1, &PATH, 8, &mut random);
    let change = Path {
        goodput: 50e6,
        p99: 10_000.0,
        ..PATH
    };
    let mut b = runs(1, &change, 8, &mut random);
    // The ids are numbers from 0.
    assert_eq!(
        verdicts(&a, &b).notes.len(),
        2,
        "of so few runs, and on both sides"
    );
    b[0].id.push('b');
    let comparison = verdicts(&a, &b);
    assert!(comparison.regressed());
    assert!(
        comparison
            .with(Verdict::Worse)
            .all(|l| l.kind == FigureKind::Goodput)
    );
    assert_eq!(comparison.with(Verdict::Better).count(), 4);
    assert_eq!(comparison.notes.len(), 1);
}

#[test]
fn figures_of_one_side_only_are_named() {
    let mut random = Random::new(1);
    let a = runs(1, &PATH, 5, &mut random);
    let comparison = verdicts(&a, &[]);
    assert!(comparison.lines.is_empty());
    assert_eq!(comparison.only_before.len(), 2);
    assert!(
        comparison
            .only_before
            .iter()
            .all(|k: &Key| k.step == StepKind::Tcp)
    );
    assert_eq!(comparison.notes, [model::text!("a side has no run")]);
}
