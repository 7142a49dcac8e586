//! Compared parts of a run.

use std::collections::BTreeMap;

use analysis::figures::value;
use model::{
    comparison::Unit,
    run::{FigureKind, Key, Run, Sample, StepKind},
};

/// The values of a run without its series, which are most of its size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Id of the run.
    pub id: String,
    /// True if it was measured on a lab path.
    pub lab: bool,
    /// Valid samples of TCP and QUIC, and all of them.
    pub(crate) throughput: (usize, usize),
    pub(crate) values: BTreeMap<Key, BTreeMap<FigureKind, Vec<f64>>>,
}

impl Measured {
    /// The values of the valid samples. Processor time of a lab path is left out, since processing
    /// takes no time there.
    pub fn of(run: &Run) -> Self {
        let mut values: BTreeMap<Key, BTreeMap<FigureKind, Vec<f64>>> = BTreeMap::new();
        for sample in run.samples.iter().filter(|sample| sample.valid) {
            for kind in FigureKind::ALL
                .into_iter()
                .filter(|kind| !run.lab || !kind.depends_on_cpu())
            {
                if let Some(value) = value(sample, kind).filter(|v| v.is_finite()) {
                    let kinds = values.entry(sample.key.clone()).or_default();
                    kinds.entry(kind).or_default().push(value);
                }
            }
        }
        let bulk = |sample: &&Sample| matches!(sample.key.step, StepKind::Tcp | StepKind::Quic);
        let bulk = || run.samples.iter().filter(bulk);
        Self {
            throughput: (bulk().filter(|s| s.valid).count(), bulk().count()),
            id: run.id.clone(),
            lab: run.lab,
            values,
        }
    }

    /// Measurements with at least one valid sample.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.values.keys()
    }

    /// The values of a figure: one for each sample, or their median.
    pub(crate) fn values(&self, key: &Key, kind: FigureKind, unit: Unit) -> Vec<f64> {
        let values = self.values.get(key).and_then(|kinds| kinds.get(&kind));
        match (values, unit) {
            (None, _) => Vec::new(),
            (Some(values), Unit::Samples) => values.clone(),
            (Some(values), Unit::Runs) => stats::median(values).into_iter().collect(),
        }
    }
}
