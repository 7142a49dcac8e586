//! Order of the steps of a plan, and their cost.

use model::{
    plan::{LoadDirection, OF_HOST, Plan, Step},
    run::LayerAddress,
};
use stats::Random;

use super::{
    budget::Needs,
    estimate::Estimate,
    steps::{self, Cost},
    task::Task,
};

/// Seconds around a step in which nothing is measured: negotiation, and waiting for empty queues.
const AROUND_S: f64 = 0.7;

/// The steps that run once, at the start: in the plan's order, each on all layers.
pub(crate) fn once(plan: &Plan, layers: &[LayerAddress], cc: &Senders) -> Vec<Task> {
    let steps = plan.steps.iter().filter(|s| !s.repeat);
    steps.flat_map(|step| tasks(step, layers, cc, 0)).collect()
}

/// The repeated steps of one block, in random order. Every block contains each of them once, so
/// that drift of the line affects all of them equally.
pub(crate) fn block(
    plan: &Plan,
    layers: &[LayerAddress],
    cc: &Senders,
    number: u32,
    random: &mut Random,
) -> Vec<Task> {
    let steps = plan.steps.iter().filter(|s| s.repeat);
    let mut tasks: Vec<_> = steps
        .flat_map(|step| tasks(step, layers, cc, number))
        .collect();
    // Fisher and Yates.
    for i in (1..tasks.len()).rev() {
        tasks.swap(i, random.below(i + 1));
    }
    tasks
}

/// Congestion controls that each end can send with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Senders {
    pub(crate) near: Vec<String>,
    pub(crate) far: Vec<String>,
}

impl Senders {
    /// The congestion controls to try in a direction when the plan names none: the [`USUAL`] ones
    /// of the sender, else its first.
    fn of(&self, direction: LoadDirection) -> Vec<String> {
        let both = |name: &String| match direction {
            LoadDirection::Up => self.near.contains(name),
            LoadDirection::Down => self.far.contains(name),
            LoadDirection::Both => self.near.contains(name) && self.far.contains(name),
        };
        let all = if direction == LoadDirection::Down {
            &self.far
        } else {
            &self.near
        };
        let usual: Vec<_> = USUAL
            .map(str::to_owned)
            .into_iter()
            .filter(|name| both(name))
            .collect();
        if usual.is_empty() {
            all.iter()
                .filter(|name| both(name))
                .take(1)
                .cloned()
                .collect()
        } else {
            usual
        }
    }
}

/// The congestion controls that a step is measured with; `None` for steps without congestion
/// control.
fn controls(step: &Step, senders: &Senders) -> Vec<Option<String>> {
    match steps::of(&step.measurement).congestion() {
        None => vec![None],
        Some((direction, [])) => senders.of(direction).into_iter().map(Some).collect(),
        Some((_, named)) => named
            .iter()
            .map(|name| Some(name.clone()).filter(|name| name != OF_HOST))
            .collect(),
    }
}

fn tasks(step: &Step, layers: &[LayerAddress], senders: &Senders, block: u32) -> Vec<Task> {
    let cc = controls(step, senders);
    layers
        .iter()
        .flat_map(|layer| {
            cc.iter().map(|cc| Task {
                step: step.clone(),
                layer: layer.clone(),
                cc: cc.clone(),
                block,
            })
        })
        .collect()
}

/// Congestion controls that a plan tries when it names none and both ends have them: the two that
/// are in use.
pub(crate) const USUAL: [&str; 2] = ["cubic", "bbr"];

/// Estimate for a plan over this many layers, between ends with these congestion controls.
pub fn estimate(plan: &Plan, layers: usize, near: &[String], far: &[String]) -> Estimate {
    let senders = Senders {
        near: near.to_vec(),
        far: far.to_vec(),
    };
    let samples = |step: &Step| layers * controls(step, &senders).len();
    let sum = |repeat: bool, f: fn(&Step) -> f64| -> f64 {
        let steps = plan.steps.iter().filter(|step| step.repeat == repeat);
        steps.map(|step| samples(step) as f64 * f(step)).sum()
    };
    let repeats = [plan.repeats.min, plan.repeats.max];
    let total = |f: fn(&Step) -> f64| repeats.map(|n| sum(false, f) + f64::from(n) * sum(true, f));
    Estimate {
        time_s: total(time_s),
        loaded_s: total(|step| cost(step).loaded_s),
        samples: total(|_| 1.0).map(|n| n as usize),
    }
}

/// Same as [`estimate`], before the capabilities of the ends are known: with those of typical ends.
pub fn usual_estimate(plan: &Plan, layers: usize) -> Estimate {
    let usual = USUAL.map(str::to_owned);
    estimate(plan, layers, &usual, &usual)
}

/// Time of a step, s.
pub(crate) fn time_s(step: &Step) -> f64 {
    AROUND_S + cost(step).time_s
}

/// Cost of a step, at a rate if one is known.
pub(crate) fn needs(step: &Step, rate_bps: Option<f64>) -> Needs {
    Needs {
        time_s: time_s(step),
        loaded_s: cost(step).loaded_s,
        rate_bps,
    }
}

fn cost(step: &Step) -> Cost {
    steps::of(&step.measurement).cost(step.duration_s)
}

#[cfg(test)]
mod tests {
    use model::{
        net::{IpVersion, Layer},
        units::Seed,
    };

    use super::*;

    fn layers() -> Vec<LayerAddress> {
        [Layer::Underlay, Layer::Tunnel]
            .map(|layer| LayerAddress {
                layer,
                family: IpVersion::V4,
                near: "10.0.0.1".parse().unwrap(),
                far: "10.0.0.2".parse().unwrap(),
            })
            .to_vec()
    }

    fn senders() -> Senders {
        let all = || ["reno", "cubic", "bbr"].map(str::to_owned).to_vec();
        Senders {
            near: all(),
            far: all(),
        }
    }

    #[test]
    fn a_block_holds_each_task_once_and_the_seed_makes_the_order() {
        let plan = crate::plans::default();
        let make = |seed| {
            let mut tasks = block(&plan, &layers(), &senders(), 1, &mut Random::new(seed));
            let order: Vec<_> = tasks.iter().map(|t| format!("{t:?}")).collect();
            tasks.sort_by_key(|t| format!("{t:?}"));
            (order, tasks)
        };
        let ((a, all), (b, same)) = (make(1), make(2));
        assert_eq!(all, same);
        assert_ne!(a, b);
        assert_eq!(a, make(1).0);
        let mut unique = all.clone();
        unique.dedup();
        assert_eq!(unique.len(), all.len());
        assert_eq!(plan.seed, None::<Seed>);
    }

    #[test]
    fn an_estimate_counts_the_tasks_that_are_run() {
        let (senders, layers) = (senders(), layers());
        for plan in [crate::plans::quick(), crate::plans::default()] {
            let before = once(&plan, &layers, &senders);
            let one = block(&plan, &layers, &senders, 1, &mut Random::new(0));
            let estimate = estimate(&plan, layers.len(), &senders.near, &senders.far);
            for (n, samples) in [plan.repeats.min, plan.repeats.max]
                .into_iter()
                .zip(estimate.samples)
            {
                assert_eq!(samples, before.len() + n as usize * one.len());
            }
            let time: f64 = before
                .iter()
                .chain(&one)
                .map(|task| time_s(&task.step))
                .sum();
            let repeats = f64::from(plan.repeats.max) - 1.0;
            let more: f64 = one.iter().map(|task| time_s(&task.step)).sum();
            assert!((estimate.time_s[1] - time - repeats * more).abs() < 1e-6);
            assert_eq!(estimate, usual_estimate(&plan, layers.len()));
        }
    }

    #[test]
    fn only_congestion_controls_of_the_sender_are_tried() {
        let mut senders = senders();
        senders.far = vec!["reno".to_owned()];
        assert_eq!(senders.of(LoadDirection::Down), ["reno"]);
        assert_eq!(senders.of(LoadDirection::Up), ["cubic", "bbr"]);
        assert_eq!(senders.of(LoadDirection::Both), ["reno"]);
    }
}
