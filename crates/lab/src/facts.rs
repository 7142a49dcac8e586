//! The abilities of a kernel image, found by booting it.

use model::{
    job::{self, Facts, OUTPUT_FILE},
    units::Seed,
};

use crate::{
    LabError,
    job::{Artifacts, Job, json},
};

/// Memory of the guest that probes, MB.
const MEMORY_MB: u64 = 256;

/// Boots the image and probes everything that pathtwin can use.
#[derive(Clone, Copy, Debug)]
pub struct Probe;

impl Job for Probe {
    type Output = Facts;

    fn guest_job(&self) -> job::Job {
        job::Job::Facts
    }

    fn seed(&self) -> Seed {
        Seed(1)
    }

    fn memory_mb(&self) -> u64 {
        MEMORY_MB
    }

    fn files(&self) -> Vec<String> {
        vec![OUTPUT_FILE.to_owned()]
    }

    /// A successful boot is part of the result.
    fn is_cacheable(&self) -> bool {
        false
    }

    fn result(&self, mut artifacts: Artifacts) -> Result<Facts, LabError> {
        json(OUTPUT_FILE, &artifacts.take(OUTPUT_FILE)?)
    }
}
