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

/// Congestion controls that an end can send with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sender {
    /// All that may be used.
    pub(crate) usable: Vec<String>,
    /// The one of programs that set none; `None` if unknown.
    pub(crate) default: Option<String>,
}

/// Both ends as senders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Senders {
    pub(crate) near: Sender,
    pub(crate) far: Sender,
}

impl Senders {
    /// The congestion controls to try in a direction when the plan names none: the sender's default
    /// and the [`USUAL`] ones, as far as it has them, else its first.
    fn of(&self, direction: LoadDirection) -> Vec<String> {
        let senders = match direction {
            LoadDirection::Up => vec![&self.near],
            LoadDirection::Down => vec![&self.far],
            LoadDirection::Both => vec![&self.near, &self.far],
        };
        let all_have = |name: &String| senders.iter().all(|s| s.usable.contains(name));
        let default = senders.first().and_then(|s| s.default.clone());
        let is_rare = |name: &String| !USUAL.contains(&name.as_str());
        let own = default.filter(|name| is_rare(name) && senders.iter().all(|s| s.uses(name)));
        let usual = USUAL.map(str::to_owned).into_iter().filter(all_have);
        let tried: Vec<String> = own.into_iter().chain(usual).collect();
        if !tried.is_empty() {
            return tried;
        }
        let all = senders.iter().flat_map(|s| &s.usable);
        all.filter(|name| all_have(name)).take(1).cloned().collect()
    }
}

impl Sender {
    /// Returns true if it is the default.
    fn uses(&self, name: &str) -> bool {
        self.default.as_deref() == Some(name)
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

/// Congestion controls that a plan tries when it names none and the sender has them, beside its
/// default: the two that are in use.
pub(crate) const USUAL: [&str; 2] = ["cubic", "bbr"];

/// Estimate for a plan over this many layers, between these ends.
pub(crate) fn estimate(plan: &Plan, layers: usize, senders: &Senders) -> Estimate {
    let samples = |step: &Step| layers * controls(step, senders).len();
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

/// Estimate for a plan over this many layers before the capabilities of the ends are known: with
/// those of typical ends.
pub fn usual_estimate(plan: &Plan, layers: usize) -> Estimate {
    let usual = Sender {
        usable: USUAL.map(str::to_owned).to_vec(),
        default: None,
    };
    let senders = Senders {
        near: usual.clone(),
        far: usual,
    };
    estimate(plan, layers, &senders)
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

    fn sender(default: &str) -> Sender {
        Sender {
            usable: ["reno", "cubic", "bbr"].map(str::to_owned).to_vec(),
            default: Some(default.to_owned()),
        }
    }

    fn senders() -> Senders {
        Senders {
            near: sender("cubic"),
            far: sender("bbr"),
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
            let estimate = estimate(&plan, layers.len(), &senders);
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
        senders.far.usable = vec!["reno".to_owned()];
        assert_eq!(senders.of(LoadDirection::Down), ["reno"]);
        assert_eq!(senders.of(LoadDirection::Up), ["cubic", "bbr"]);
        assert_eq!(senders.of(LoadDirection::Both), ["reno"]);
    }

    /// Hosts with reno were measured with cubic and bbr alone, and so not with what their programs
    /// get.
    #[test]
    fn a_default_that_is_none_of_the_usual_is_measured_first() {
        let mut senders = senders();
        senders.far = sender("reno");
        assert_eq!(senders.of(LoadDirection::Down), ["reno", "cubic", "bbr"]);
        assert_eq!(senders.of(LoadDirection::Up), ["cubic", "bbr"]);
        assert_eq!(senders.of(LoadDirection::Both), ["cubic", "bbr"]);
        senders.near = sender("reno");
        assert_eq!(senders.of(LoadDirection::Both), ["reno", "cubic", "bbr"]);
    }
}
