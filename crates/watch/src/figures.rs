//! Watched figures of a path: one value per hour of probes, or per load.

use std::collections::BTreeSet;

use analysis::{figures::added_us, view::View};
use model::{
    net::{Direction, IpVersion, Layer},
    run::{FigureKind, Key, Run, StepKind},
    text,
    text::Text,
    watch::WatchFigure,
};
use serde::{Deserialize, Serialize};

/// A watched figure of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Figure {
    /// Its kind.
    pub kind: WatchFigure,
    /// The layer.
    pub layer: Layer,
    /// The address family.
    pub family: IpVersion,
    /// The direction of the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
}

impl Figure {
    /// Its name for people.
    pub fn text(&self) -> Text {
        let (kind, family) = (self.kind.words(), self.family.to_string());
        match self.direction {
            None => text!(
                "{kind} ({layer}/{family})",
                kind = kind,
                layer = self.layer,
                family = family
            ),
            Some(direction) => text!(
                "{kind} {direction} ({layer}/{family})",
                kind = kind,
                direction = direction,
                layer = self.layer,
                family = family
            ),
        }
    }
}

/// Probes of one group on one layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Probed {
    /// The layer.
    pub layer: Layer,
    /// The address family.
    pub family: IpVersion,
    /// Round trips of the answered probes, s.
    pub rtt_s: Vec<f64>,
    /// Number of unanswered probes.
    pub lost: u64,
}

/// The watched figures of a run: means over the congestion controls of its loads by one flow in one
/// direction, if each of them has a value: without one of them the mean would be another figure.
pub fn of_run(run: &Run) -> Vec<(Figure, f64)> {
    let mut found: Vec<(Figure, Vec<f64>)> = Vec::new();
    let loads = run.figures.iter().filter(|figure| is_load(&figure.key));
    for figure in loads {
        let Some((kind, value)) = of_figure(run, figure) else {
            continue;
        };
        let watched = Figure {
            kind,
            layer: figure.key.layer,
            family: figure.key.family,
            direction: figure.key.direction,
        };
        match found.iter_mut().find(|(own, _)| *own == watched) {
            Some((_, values)) => values.push(value),
            None => found.push((watched, vec![value])),
        }
    }
    let whole = |(figure, values): &(Figure, Vec<f64>)| values.len() == controls(run, figure);
    let mean = |(figure, values): (Figure, Vec<f64>)| Some((figure, stats::mean(&values)?));
    found.into_iter().filter(whole).filter_map(mean).collect()
}

/// Number of congestion controls of the loads that a figure is of, those without a valid sample
/// included.
fn controls(run: &Run, figure: &Figure) -> usize {
    let place = (figure.layer, figure.family, figure.direction);
    let keys = run.samples.iter().map(|sample| &sample.key);
    let own = keys.filter(|key| is_load(key) && (key.layer, key.family, key.direction) == place);
    let controls: BTreeSet<_> = own.map(|key| &key.cc).collect();
    controls.len()
}

/// True for loads by one flow in one direction.
fn is_load(key: &Key) -> bool {
    key.step == StepKind::Tcp && key.flows == Some(1) && !key.bidirectional
}

/// Returns the watched value of a figure of a load. Added delay is over the base RTT of the Run,
/// like in its findings.
fn of_figure(run: &Run, figure: &model::run::Figure) -> Option<(WatchFigure, f64)> {
    let value = figure.spread.median;
    match figure.kind {
        FigureKind::Goodput => Some((WatchFigure::Goodput, value)),
        FigureKind::RttP50 => {
            let view = View::on(run, figure.key.layer, figure.key.family);
            Some((WatchFigure::Added, added_us(value, view.base_us()?) / 1e6))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use model::run::{Probes, Sample};

    use super::*;

    fn sample(step: StepKind, at_us: u64, p50_us: f64, min_us: f64) -> Sample {
        let is_load = step == StepKind::Tcp;
        let key = Key {
            step,
            layer: Layer::Underlay,
            family: IpVersion::V4,
            direction: is_load.then_some(Direction::Down),
            bidirectional: false,
            flows: is_load.then_some(1),
            cc: is_load.then(|| "cubic".to_owned()),
            rate_bps: None,
            bytes: None,
        };
        let mut sample = Sample::new(key, at_us);
        sample.valid = true;
        sample.probes = Some(Probes {
            p50_us: Some(p50_us),
            min_us: Some(min_us),
            ..Probes::default()
        });
        sample
    }

    fn added_s(run: &mut Run) -> f64 {
        run.figures = analysis::summary::figures(&run.samples);
        let found = of_run(run);
        let added = found.iter().find(|(f, _)| f.kind == WatchFigure::Added);
        added.expect("the load has probes").1
    }

    fn empty() -> Run {
        let text = r#"{"schema": 1, "id": "", "program": "", "started_us": 0, "took_s": 1.0,
            "plan": {"step": []}, "near": {"program": "", "facts": {"schema": 1}},
            "far": {"program": "", "facts": {"schema": 1}}, "layers": [], "samples": [],
            "figures": [], "ratios": []}"#;
        Run::parse(text.as_bytes()).expect("an empty Run")
    }

    /// Bug: with cubic and bbr the mean of a load whose bbr sample did not count was that of cubic
    /// alone, and a change was reported though neither had changed.
    #[test]
    fn a_mean_without_one_of_its_congestion_controls_is_no_value() {
        let mut run = empty();
        let mut bbr = sample(StepKind::Tcp, 2, 30e3, 20e3);
        bbr.key.cc = Some("bbr".to_owned());
        run.samples = vec![
            sample(StepKind::Idle, 0, 20e3, 20e3),
            sample(StepKind::Tcp, 1, 50e3, 20e3),
            bbr,
        ];
        // Half of 30 and 10 ms.
        assert!((added_s(&mut run) - 0.020).abs() < 1e-9);
        run.samples[2].valid = false;
        run.figures = analysis::summary::figures(&run.samples);
        assert_eq!(of_run(&run), []);
    }

    /// Bug: the watch had a separate definition, above the idle median, in which queues of others
    /// counted as part of the path.
    #[test]
    fn delay_is_added_to_the_path_and_not_to_a_queue_of_others() {
        let mut run = empty();
        run.samples = vec![
            sample(StepKind::Idle, 0, 20e3, 20e3),
            sample(StepKind::Tcp, 1, 50e3, 20e3),
        ];
        assert!((added_s(&mut run) - 0.030).abs() < 1e-9);
        // Others fill the queue while it is idle: never below 40 ms, with a path of 20 ms.
        run.samples[0] = sample(StepKind::Idle, 0, 45e3, 40e3);
        assert!((added_s(&mut run) - 0.030).abs() < 1e-9);
    }
}
