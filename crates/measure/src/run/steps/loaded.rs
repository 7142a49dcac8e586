//! What is recorded beside every load: probes, and what both hosts' counters did.

use model::{
    evidence::Evidence,
    run::{Probes, Sample},
};

/// What was recorded beside a load.
#[derive(Clone)]
pub(crate) struct Beside {
    /// Start of the load, µs since the run began.
    pub(crate) load_at_us: u64,
    pub(crate) probes: Option<Probes>,
    pub(crate) near: Evidence,
    pub(crate) far: Evidence,
}

impl Beside {
    /// A sample with all of it.
    pub(crate) fn put(self, sample: Sample) -> Sample {
        Sample {
            load_at_us: Some(self.load_at_us),
            probes: self.probes,
            near: Some(self.near),
            far: Some(self.far),
            ..sample
        }
    }
}
