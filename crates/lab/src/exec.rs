//! Programs of the host on the nodes of a path, in a guest.

use std::path::Path;

use model::{
    job::{self, Exec, ExecOutput, OUTPUT_FILE},
    units::Seed,
};

use crate::{
    LabError,
    cell::memory_mb,
    guest::Cost,
    job::{Artifacts, Job, json},
};

/// How one program ended, and what it said.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// Exit status (128 + signal, if one ended it); absent if it had to be stopped.
    pub status: Option<i32>,
    /// What it wrote to its standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to its standard error.
    pub stderr: Vec<u8>,
}

/// What became of the programs.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecResult {
    /// Why they were stopped, if they were.
    pub error: Option<String>,
    /// The programs in the order they were given.
    pub programs: Vec<Ended>,
    /// Virtual time from boot to the end, s.
    pub virtual_s: f64,
    /// What it cost.
    pub cost: Cost,
}

/// What is done where this host has no means to keep its files from being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostFiles {
    /// Nothing is run.
    ReadOnly,
    /// The programs run, and can write what the caller can write.
    WritableIfNeedBe,
}

/// Programs to run, and what they may do to the host.
#[derive(Clone, Copy, Debug)]
pub struct Programs<'a> {
    /// The programs and their path.
    pub exec: &'a Exec,
    /// What is done where this host has no means to keep its files from being written.
    pub files: HostFiles,
}

impl Job for Programs<'_> {
    type Output = ExecResult;

    fn guest_job(&self) -> job::Job {
        job::Job::Exec(Box::new(self.exec.clone()))
    }

    fn seed(&self) -> Seed {
        self.exec.cell.seed
    }

    fn memory_mb(&self) -> u64 {
        // Programs of the host are larger than our own, and use memory of the guest for files.
        memory_mb(&self.exec.cell).max(1024)
    }

    fn files(&self) -> Vec<String> {
        let said = (0..self.exec.commands.len())
            .flat_map(|n| ["stdout", "stderr"].map(|end| name(n, end)));
        std::iter::once(OUTPUT_FILE.to_owned())
            .chain(said)
            .collect()
    }

    /// The programs and the files of the host that they read are in no key: they are run each
    /// time.
    fn is_cacheable(&self) -> bool {
        false
    }

    /// Shows the host's files to the guest.
    ///
    /// # Errors
    /// The host can neither make its files read-only by a mount namespace nor by Landlock, and
    /// that is demanded.
    fn prepare(&self, folder: &Path) -> Result<(), LabError> {
        let kept = sys::isolation::Means::here().keep_files();
        if self.files == HostFiles::ReadOnly && !kept {
            return Err(LabError::FilesWritable);
        }
        let link = folder.join("host");
        std::os::unix::fs::symlink("/", &link).map_err(LabError::file("make", &link))
    }

    fn result(&self, mut artifacts: Artifacts) -> Result<ExecResult, LabError> {
        let output: ExecOutput = json(OUTPUT_FILE, &artifacts.take(OUTPUT_FILE)?)?;
        let mut said = |n, end| artifacts.take_optional(&name(n, end)).unwrap_or_default();
        let programs = (0..self.exec.commands.len()).map(|n| Ended {
            status: output.statuses.get(n).copied().flatten(),
            stdout: said(n, "stdout"),
            stderr: said(n, "stderr"),
        });
        Ok(ExecResult {
            programs: programs.collect(),
            error: output.error,
            virtual_s: output.virtual_ns as f64 / 1e9,
            cost: artifacts.cost,
        })
    }
}

/// The file with what a program wrote.
fn name(program: usize, end: &str) -> String {
    format!("{program}.{end}")
}
