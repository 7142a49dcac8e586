//! Programs of the host on the nodes of a path, in a guest.

use std::fs;

use model::job::{Exec, ExecOutput, Job, OUTPUT_FILE};

use crate::{
    LabError,
    cell::memory_mb,
    guest::{self, Boot, Cost},
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

/// Runs the programs.
///
/// # Errors
/// The host can neither make its files read-only by a mount namespace nor by Landlock, and `files` demands it; the guest
/// cannot be started, fails, or is ended.
pub fn run(boot: Boot<'_>, exec: &Exec, files: HostFiles) -> Result<ExecResult, LabError> {
    if files == HostFiles::ReadOnly && !sys::isolation::Means::here().keep_files() {
        return Err(LabError::FilesWritable);
    }
    let folder = boot.sandbox.cell_folder()?;
    let link = folder.join("host");
    std::os::unix::fs::symlink("/", &link).map_err(LabError::file("make", &link))?;
    let job = Job::Exec(Box::new(exec.clone()));
    // Programs of the host are larger than our own, and use memory of the guest for files.
    let memory = memory_mb(&exec.cell).max(1024);
    let done = guest::run(boot, &folder, &job, exec.cell.seed, memory)
        .and_then(|cost| read(&folder, exec.commands.len(), cost));
    let _ = fs::remove_file(&link);
    let _ = fs::remove_dir_all(&folder);
    done
}

fn read(folder: &std::path::Path, programs: usize, cost: Cost) -> Result<ExecResult, LabError> {
    let path = folder.join(OUTPUT_FILE);
    let text = guest::read(&path)?;
    let output: ExecOutput =
        serde_json::from_slice(&text).map_err(|e| LabError::Result(path, e.to_string()))?;
    let said = |number: usize, end: &str| {
        guest::read(&folder.join(format!("{number}.{end}"))).unwrap_or_default()
    };
    let ended = (0..programs).map(|n| Ended {
        status: output.statuses.get(n).copied().flatten(),
        stdout: said(n, "stdout"),
        stderr: said(n, "stderr"),
    });
    Ok(ExecResult {
        error: output.error,
        programs: ended.collect(),
        virtual_s: output.virtual_ns as f64 / 1e9,
        cost,
    })
}
