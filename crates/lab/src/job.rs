//! What the lab can be asked for: jobs of any kind, each for a guest of its own.

use std::{collections::BTreeMap, path::Path};

use model::{job, units::Seed};
use serde::de::DeserializeOwned;

use crate::{
    LabError,
    guest::{self, Cost},
};

/// Something to do in a guest: a cell, a plan, programs.
pub trait Job: Sync {
    /// What comes of it.
    type Output: Send;

    /// What the guest is told.
    fn order(&self) -> job::Job;

    /// Seed of every random number in the guest.
    fn seed(&self) -> Seed;

    /// Memory of the guest, MB.
    fn memory_mb(&self) -> u64;

    /// Names of the files that the guest leaves and that its result is made of.
    fn files(&self) -> Vec<String>;

    /// Makes the result of what the guest left, now or when it was remembered.
    ///
    /// # Errors
    /// A file is missing or cannot be read, or the guest says why it could not do it.
    fn result(&self, left: Left) -> Result<Self::Output, LabError>;

    /// Whether the same order in the same kernel by the same guest program always has the same
    /// result, which may then be remembered.
    fn repeats(&self) -> bool {
        true
    }

    /// Puts into the guest's folder what it finds there beside its order.
    ///
    /// # Errors
    /// A file cannot be made, or this host lacks what the job needs.
    fn prepare(&self, folder: &Path) -> Result<(), LabError> {
        let _ = folder;
        Ok(())
    }
}

/// A job that is done each time, also if its result is known.
#[derive(Clone, Copy, Debug)]
pub struct Fresh<J>(pub J);

impl<J: Job> Job for Fresh<J> {
    type Output = J::Output;

    fn order(&self) -> job::Job {
        self.0.order()
    }

    fn seed(&self) -> Seed {
        self.0.seed()
    }

    fn memory_mb(&self) -> u64 {
        self.0.memory_mb()
    }

    fn files(&self) -> Vec<String> {
        self.0.files()
    }

    fn result(&self, left: Left) -> Result<J::Output, LabError> {
        self.0.result(left)
    }

    fn repeats(&self) -> bool {
        false
    }

    fn prepare(&self, folder: &Path) -> Result<(), LabError> {
        self.0.prepare(folder)
    }
}

/// What a guest left behind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Left {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// What it cost.
    pub cost: Cost,
    /// Whether it was remembered, not run.
    pub cached: bool,
}

impl Left {
    /// What a guest left now.
    pub(crate) fn new(files: BTreeMap<String, Vec<u8>>, cost: Cost) -> Self {
        Self {
            files,
            cost,
            cached: false,
        }
    }

    /// Reads those of the files that are there.
    ///
    /// # Errors
    /// One is there and cannot be read.
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
    pub fn take_any(&mut self, name: &str) -> Option<Vec<u8>> {
        self.files.remove(name)
    }

    /// Takes a file.
    ///
    /// # Errors
    /// The guest left none of this name.
    pub fn take(&mut self, name: &str) -> Result<Vec<u8>, LabError> {
        self.take_any(name)
            .ok_or_else(|| LabError::Missing(name.to_owned()))
    }
}

/// Reads a file of a result as JSON.
///
/// # Errors
/// It is none, or not of this shape.
pub fn json<T: DeserializeOwned>(name: &str, text: &[u8]) -> Result<T, LabError> {
    serde_json::from_slice(text).map_err(|source| LabError::Result {
        file: name.to_owned(),
        source,
    })
}
