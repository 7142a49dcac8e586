//! Durations adapted to the path: past slow start and tens of round trips.

use analysis::pace::{Line, Pace};
use model::{
    net::Direction,
    plan::{Measurement, Plan, Step},
    run::{LayerAddress, Sample, TooShort},
};

use super::{bench::Bench, task::Task};

/// State of a run about a layer and direction.
pub(crate) fn line(bench: &Bench<'_>, layer: &LayerAddress, direction: Direction) -> Line {
    let place = (layer.clone(), direction);
    Line {
        idle_us: bench.idle_us.get(layer).copied().or(bench.control_us),
        loaded_us: bench.loaded_us.get(&place).copied(),
        rate_bps: bench.capacity.get(&place).copied(),
    }
}

/// The task with the duration that it needs on its path, if the plan adapts durations. Knowledge
/// before the first block applies to all blocks, so that repeats are equal.
pub(crate) fn fitted(bench: &mut Bench<'_>, task: Task) -> Task {
    if !bench.plan.adapt {
        return task;
    }
    let mut lines = [Direction::Down, Direction::Up].map(|d| (d, line(bench, &task.layer, d)));
    if task.block > 0 {
        for (direction, line) in &mut lines {
            let place = (task.layer.clone(), *direction);
            *line = *bench.lines.entry(place).or_insert(*line);
        }
    }
    let [(_, down), (_, up)] = lines;
    let step = fit(&task.step, &|direction| match direction {
        Direction::Down => down,
        Direction::Up => up,
    });
    Task { step, ..task }
}

/// The plan with the durations that it needs on a path of which only the round trip is known.
pub(crate) fn expected(plan: &Plan, idle_us: Option<f64>) -> Plan {
    if !plan.adapt {
        return plan.clone();
    }
    let line = Line {
        idle_us,
        ..Line::default()
    };
    let steps = plan.steps.iter().map(|step| fit(step, &|_| line));
    Plan {
        steps: steps.collect(),
        ..plan.clone()
    }
}

/// The plan with the durations that it needs on the path as measured by the first steps, for the
/// layer and direction that needs the longest.
pub(crate) fn for_all(bench: &Bench<'_>, layers: &[LayerAddress]) -> Plan {
    if !bench.plan.adapt {
        return bench.plan.clone();
    }
    let longest = |step: &Step| {
        let on = layers
            .iter()
            .map(|layer| fit(step, &|direction| line(bench, layer, direction)));
        on.max_by(|a, b| a.duration_s.total_cmp(&b.duration_s))
            .unwrap_or_else(|| step.clone())
    };
    Plan {
        steps: bench.plan.steps.iter().map(longest).collect(),
        ..bench.plan.clone()
    }
}

/// A step, never shorter than in its plan, on a path that is such a line in each direction.
fn fit(step: &Step, line: &dyn Fn(Direction) -> Line) -> Step {
    let mut step = step.clone();
    match &mut step.measurement {
        Measurement::Tcp {
            direction,
            warmup_s,
            ..
        } => {
            let directions = direction.directions().iter();
            let pace =
                directions
                    .map(|d| line(*d).bulk())
                    .fold(Pace::default(), |a: Pace, b: Pace| Pace {
                        warmup_s: a.warmup_s.max(b.warmup_s),
                        counted_s: a.counted_s.max(b.counted_s),
                    });
            lengthen(&mut step.duration_s, warmup_s, pace);
        }
        Measurement::Quic {
            direction,
            warmup_s,
        } => lengthen(&mut step.duration_s, warmup_s, line(*direction).bulk()),
        Measurement::Short { bytes } | Measurement::Http { bytes } => {
            let needed_s = line(Direction::Down).requests_s(*bytes);
            step.duration_s = step.duration_s.max(needed_s.ceil());
        }
        _ => {}
    }
    step
}

fn lengthen(duration_s: &mut f64, warmup_s: &mut f64, pace: Pace) {
    // Whole tenths of a second.
    let up = |seconds: f64| (seconds * 10.0).ceil() / 10.0;
    let counted_s = (*duration_s - *warmup_s).max(up(pace.counted_s));
    *warmup_s = warmup_s.max(up(pace.warmup_s));
    *duration_s = *warmup_s + counted_s;
}

/// Marks a bulk load that was too short for its path: it shows its goodput, but rules nothing out.
pub(crate) fn mark(line: Line, sample: &mut Sample) {
    let Some(tcp) = &sample.tcp else {
        return;
    };
    let probed = sample.probes.as_ref().and_then(|p| p.p50_us);
    let loaded_us = [line.loaded_us, probed].into_iter().flatten();
    let least = Line {
        loaded_us: loaded_us.reduce(f64::max),
        // A flow slowed down by loss has left slow start long ago.
        rate_bps: Some(tcp.goodput_bps).filter(|bps| *bps > 0.0),
        ..line
    }
    .least();
    let [from_us, to_us] = tcp.window_us;
    let counted_s = (to_us - from_us) as f64 / 1e6;
    let warm_s = from_us as f64 / 1e6;
    let short = counted_s < 0.99 * least.counted_s || warm_s < 0.99 * least.warmup_s;
    sample.too_short = short.then(|| TooShort {
        took_s: warm_s + counted_s,
        needed_s: least.warmup_s.max(warm_s) + least.counted_s.max(counted_s),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn satellite(_: Direction) -> Line {
        Line {
            idle_us: Some(600e3),
            loaded_us: None,
            rate_bps: Some(50e6),
        }
    }

    #[test]
    fn quick_is_long_enough_for_a_satellite() {
        let plan = crate::plans::quick();
        assert!(plan.adapt);
        for step in &plan.steps {
            let fitted = fit(step, &satellite);
            let Measurement::Tcp { warmup_s, .. } = fitted.measurement else {
                continue;
            };
            // 50 Mbit/s times 600 ms are 2590 segments, eight doublings of ten.
            assert!(warmup_s > 8.0 * 0.6, "{warmup_s}");
            assert!((fitted.duration_s - warmup_s - 25.0 * 0.6).abs() < 1e-9);
        }
    }

    #[test]
    fn a_short_path_keeps_the_durations_of_the_plan() {
        let short = |_: Direction| Line {
            idle_us: Some(10e3),
            loaded_us: Some(30e3),
            rate_bps: Some(100e6),
        };
        for plan in [crate::plans::quick(), crate::plans::default()] {
            for step in &plan.steps {
                assert_eq!(fit(step, &short), *step);
            }
        }
    }

    #[test]
    fn an_estimate_on_a_long_path_is_longer() {
        let plan = crate::plans::quick();
        let time = |idle_us| {
            let plan = expected(&plan, idle_us);
            crate::run::usual_estimate(&plan, 1).time_s[1]
        };
        assert!(time(Some(600e3)) > 2.0 * time(None));
        assert_eq!(time(Some(1e3)), time(None));
    }
}
