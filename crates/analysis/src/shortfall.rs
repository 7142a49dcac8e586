//! Samples of a run that do not count, where few or none of a kind do.

use std::collections::BTreeSet;

use model::{
    net::{Direction, Layer},
    plan::Measurement,
    run::{Figure, Invalid, Run, Sample, StepKind},
};

use crate::summary;

/// Number of the samples that count, and what is known of the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Shortfall {
    /// Samples that count.
    pub valid: usize,
    /// All samples.
    pub all: usize,
    /// Layers and directions where bulk TCP was planned or tried and no sample is valid.
    pub without: Vec<(Layer, Direction)>,
    /// Reasons why samples do not count, the most frequent first, each with its number of samples.
    pub reasons: Vec<(Invalid, usize)>,
    /// Figures over the samples that do not count, of steps without any that does.
    pub not_counted: Vec<Figure>,
}

impl Shortfall {
    /// Returns true if fewer than half of the samples count.
    pub fn is_few(&self) -> bool {
        is_few(self.valid, self.all)
    }
}

/// Share of the samples that count from which the others are not listed.
const FEW: f64 = 0.5;

/// Returns the shortfall of a run, if fewer than half of its samples count, or if no TCP sample of
/// a layer and direction does although its plan has one.
pub fn of(run: &Run) -> Option<Shortfall> {
    let all = run.samples.len();
    let valid = run.samples.iter().filter(|s| s.valid).count();
    let without = without_tcp(run);
    if without.is_empty() && !is_few(valid, all) {
        return None;
    }
    Some(Shortfall {
        valid,
        all,
        without,
        reasons: reasons(&run.samples),
        not_counted: summary::not_counted(&run.samples),
    })
}

fn is_few(valid: usize, all: usize) -> bool {
    (valid as f64) < FEW * all as f64
}

fn without_tcp(run: &Run) -> Vec<(Layer, Direction)> {
    let tcp = || run.samples.iter().filter(|s| s.key.step == StepKind::Tcp);
    let place = |s: &Sample| Some((s.key.layer, s.key.direction?));
    let mut wanted: BTreeSet<_> = tcp().filter_map(place).collect();
    wanted.extend(planned(run));
    let valid: BTreeSet<_> = tcp().filter(|s| s.valid).filter_map(place).collect();
    wanted.difference(&valid).copied().collect()
}

/// Layers and directions of the plan's loads of bulk TCP in one direction.
fn planned(run: &Run) -> impl Iterator<Item = (Layer, Direction)> {
    let directions = run.plan.steps.iter().filter_map(|s| match s.measurement {
        Measurement::Tcp { direction, .. } => match direction.directions() {
            [one] => Some(*one),
            _ => None,
        },
        _ => None,
    });
    let layers = || run.layers.iter().map(|l| l.layer);
    directions.flat_map(move |direction| layers().map(move |layer| (layer, direction)))
}

/// Reasons are the same if only their numbers differ.
fn reasons(samples: &[Sample]) -> Vec<(Invalid, usize)> {
    let mut reasons: Vec<(Invalid, usize)> = Vec::new();
    for reason in samples.iter().filter_map(|s| s.invalid.first()) {
        let kind = std::mem::discriminant(reason);
        let same = |r: &&mut (Invalid, usize)| {
            std::mem::discriminant(&r.0) == kind
                && (!matches!(reason, Invalid::Failed { .. }) || r.0 == *reason)
        };
        match reasons.iter_mut().find(same) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason.clone(), 1)),
        }
    }
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    reasons
}

#[cfg(test)]
mod tests {
    use model::{
        net::{IpVersion, LoadDirection},
        plan::Step,
        run::{FigureKind, Key, LayerAddress, Tcp},
    };

    use super::*;

    fn sample(direction: Direction, goodput_bps: f64, invalid: &[Invalid]) -> Sample {
        let key = Key {
            step: StepKind::Tcp,
            layer: Layer::Underlay,
            family: IpVersion::V4,
            direction: Some(direction),
            bidirectional: false,
            flows: Some(1),
            cc: None,
            rate_bps: None,
            bytes: None,
        };
        let mut sample = Sample::new(key, 0);
        sample.tcp = Some(Tcp {
            cc_used: None,
            window_us: [0, 1_000_000],
            goodput_bps,
            bytes: 1,
            flows: Vec::new(),
        });
        sample.valid = invalid.is_empty();
        sample.invalid = invalid.to_vec();
        sample
    }

    fn run(samples: Vec<Sample>) -> Run {
        let text = r#"{"schema": 1, "id": "", "program": "", "started_us": 0, "took_s": 1.0,
            "plan": {"step": []}, "near": {"program": "", "facts": {"schema": 1}},
            "far": {"program": "", "facts": {"schema": 1}}, "layers": [], "samples": [],
            "figures": [], "ratios": []}"#;
        let mut run = Run::parse(text.as_bytes()).unwrap();
        run.samples = samples;
        run
    }

    /// Bug: a run whose budget ended before its first load of TCP lacked nothing, and `measure`
    /// ended with success.
    #[test]
    fn a_run_without_any_sample_of_the_planned_tcp_has_a_shortfall() {
        let mut run = run(Vec::new());
        run.plan.steps = vec![Step {
            measurement: Measurement::Tcp {
                direction: LoadDirection::Up,
                flows: 1,
                cc: Vec::new(),
                warmup_s: 2.0,
            },
            duration_s: 10.0,
            repeat: true,
        }];
        assert_eq!(of(&run), None, "no address was measured");
        run.layers = vec![LayerAddress {
            layer: Layer::Tunnel,
            family: IpVersion::V4,
            near: [192, 0, 2, 1].into(),
            far: [192, 0, 2, 2].into(),
        }];
        let lacks = of(&run).unwrap();
        assert_eq!(lacks.without, [(Layer::Tunnel, Direction::Up)]);
        run.samples = vec![Sample {
            key: Key {
                layer: Layer::Tunnel,
                ..sample(Direction::Up, 1e6, &[]).key
            },
            ..sample(Direction::Up, 1e6, &[])
        }];
        assert_eq!(of(&run), None);
    }

    #[test]
    fn four_of_sixteen_samples_are_too_few() {
        let busy = |share| [Invalid::SenderProcessor { share }];
        let mut samples: Vec<Sample> = (0..12)
            .map(|n| sample(Direction::Down, 13e9, &busy(0.98 + 0.001 * f64::from(n))))
            .collect();
        samples.extend((0..4).map(|_| sample(Direction::Up, 9e9, &[])));
        let lacks = of(&run(samples)).unwrap();
        assert_eq!((lacks.valid, lacks.all), (4, 16));
        assert_eq!(lacks.without, [(Layer::Underlay, Direction::Down)]);
        assert_eq!(lacks.reasons.len(), 1, "the numbers in it differ only");
        assert_eq!(lacks.reasons[0].1, 12);
        let goodput = |f: &&Figure| f.kind == FigureKind::Goodput;
        let shown: Vec<_> = lacks.not_counted.iter().filter(goodput).collect();
        assert_eq!(shown.len(), 1, "only the direction that does not count");
        assert_eq!((shown[0].spread.median, shown[0].spread.n), (13e9, 12));
    }

    /// A far end without bbr costs the samples of bbr, not the verdict.
    #[test]
    fn a_congestion_control_that_is_missing_leaves_enough() {
        let replaced = [Invalid::CongestionReplaced {
            requested: "bbr".to_owned(),
            used: "cubic".to_owned(),
        }];
        let mut samples = vec![sample(Direction::Down, 1e6, &replaced)];
        samples.extend((0..3).map(|_| sample(Direction::Down, 1e6, &[])));
        assert_eq!(of(&run(samples)), None);
    }
}
