//! Tasks of a run: a step on a layer.

use model::{
    plan::Step,
    run::{Key, LayerAddress, StepKind},
};

/// A step on one layer with one congestion control: one sample (two if in both directions).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Task {
    pub(crate) step: Step,
    pub(crate) layer: LayerAddress,
    pub(crate) cc: Option<String>,
    pub(crate) block: u32,
}

impl Task {
    /// A key of this task's samples, without the fields that only the step's type knows.
    pub(crate) fn key(&self, step: StepKind) -> Key {
        Key {
            step,
            layer: self.layer.layer,
            family: self.layer.family,
            direction: None,
            bidirectional: false,
            flows: None,
            cc: self.cc.clone(),
            rate_bps: None,
            bytes: None,
        }
    }
}
