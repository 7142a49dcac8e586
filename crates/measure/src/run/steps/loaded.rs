//! Probes and both hosts' counters beside a load.

use model::{
    evidence::Evidence,
    run::{Probes, Sample},
};

/// Probes and counters beside a load.
#[derive(Clone)]
pub(crate) struct Context {
    /// Start of the load, µs since the run began.
    pub(crate) load_at_us: u64,
    pub(crate) probes: Option<Probes>,
    pub(crate) near: Evidence,
    pub(crate) far: Evidence,
}

impl Context {
    /// The sample with all of it.
    pub(crate) fn apply(self, sample: Sample) -> Sample {
        Sample {
            load_at_us: Some(self.load_at_us),
            probes: self.probes,
            near: Some(self.near),
            far: Some(self.far),
            ..sample
        }
    }
}
