//! Jobs of the lab, each run in a separate guest.

use std::{collections::BTreeMap, path::Path, time::Duration};

use model::{cell::KernelName, job, units::Seed};
use serde::de::DeserializeOwned;

use crate::{
    LabError,
    guest::{self, Cost},
};

/// Work for a guest: a cell, a plan, programs.
pub trait Job: Sync {
    /// Its result.
    type Output: Send;

    /// The job in the form that the guest reads.
    fn guest_job(&self) -> job::Job;

    /// Seed of every random number in the guest.
    fn seed(&self) -> Seed;

    /// Memory of the guest, MB.
    fn memory_mb(&self) -> u64;

    /// Name of the kernel image that it needs; `None` = the usual one.
    fn kernel(&self) -> Option<&KernelName> {
        None
    }

    /// Names of the files that the guest writes and that its result is decoded from.
    fn files(&self) -> Vec<String>;

    /// Decodes the result from the files of the guest, whether it ran now or they were cached.
    ///
    /// # Errors
    /// A file is missing or cannot be read, or the guest reported an error.
    fn result(&self, artifacts: Artifacts) -> Result<Self::Output, LabError>;

    /// Time of the guest's clock that it takes at least.
    fn length(&self) -> Duration {
        Duration::ZERO
    }

    /// Returns true if little happens in most of its time. Its kernel then stops its ticks while
    /// nothing runs, which makes idle days cheap, and packets dearer.
    fn is_mostly_idle(&self) -> bool {
        false
    }

    /// Returns true if the same job in the same kernel by the same guest program always has the
    /// same result, which may then be cached.
    fn is_cacheable(&self) -> bool {
        true
    }

    /// Adds the job's input to the guest's folder, besides its own file.
    ///
    /// # Errors
    /// A file cannot be created, or this host lacks a requirement of the job.
    fn prepare(&self, folder: &Path) -> Result<(), LabError> {
        let _ = folder;
        Ok(())
    }
}

/// A job that is run even if its result is cached.
#[derive(Clone, Copy, Debug)]
pub struct Fresh<J>(pub J);

impl<J: Job> Job for Fresh<J> {
    type Output = J::Output;

    fn guest_job(&self) -> job::Job {
        self.0.guest_job()
    }

    fn seed(&self) -> Seed {
        self.0.seed()
    }

    fn memory_mb(&self) -> u64 {
        self.0.memory_mb()
    }

    fn kernel(&self) -> Option<&KernelName> {
        self.0.kernel()
    }

    fn files(&self) -> Vec<String> {
        self.0.files()
    }

    fn result(&self, artifacts: Artifacts) -> Result<J::Output, LabError> {
        self.0.result(artifacts)
    }

    fn length(&self) -> Duration {
        self.0.length()
    }

    fn is_mostly_idle(&self) -> bool {
        self.0.is_mostly_idle()
    }

    fn is_cacheable(&self) -> bool {
        false
    }

    fn prepare(&self, folder: &Path) -> Result<(), LabError> {
        self.0.prepare(folder)
    }
}

/// The files that a guest wrote.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Artifacts {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// Real and processor time.
    pub cost: Cost,
    /// True if it came from the cache.
    pub cached: bool,
}

impl Artifacts {
    /// The files of a guest that ran now.
    pub(crate) fn new(files: BTreeMap<String, Vec<u8>>, cost: Cost) -> Self {
        Self {
            files,
            cost,
            cached: false,
        }
    }

    /// Reads the existing ones of the files.
    ///
    /// # Errors
    /// An existing file cannot be read.
    pub(crate) fn read(folder: &Path, names: Vec<String>, cost: Cost) -> Result<Self, LabError> {
        let mut files = BTreeMap::new();
        for name in names {
            let path = folder.join(&name);
            if path.symlink_metadata().is_ok() {
                files.insert(name, guest::read(&path)?);
            }
        }
        Ok(Self::new(files, cost))
    }

    /// The files, by name.
    pub fn files(&self) -> &BTreeMap<String, Vec<u8>> {
        &self.files
    }

    /// Takes a file that may be missing.
    pub fn take_optional(&mut self, name: &str) -> Option<Vec<u8>> {
        self.files.remove(name)
    }

    /// Takes a file.
    ///
    /// # Errors
    /// The guest did not write it.
    pub fn take(&mut self, name: &str) -> Result<Vec<u8>, LabError> {
        self.take_optional(name)
            .ok_or_else(|| LabError::Missing(name.to_owned()))
    }
}

/// Reads a file of a result as JSON.
///
/// # Errors
/// It is not JSON, or has other fields.
pub fn json<T: DeserializeOwned>(name: &str, text: &[u8]) -> Result<T, LabError> {
    serde_json::from_slice(text).map_err(|source| LabError::Result {
        file: name.to_owned(),
        source,
    })
}
