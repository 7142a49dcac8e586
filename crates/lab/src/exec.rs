//! Programs of the host on the nodes of a path, in a guest.

use std::{borrow::Cow, path::Path};

use model::{
    cell::{Cell, KernelName},
    job::{self, Command, Exec, ExecOutput, OUTPUT_FILE},
    text::Text,
    units::Seed,
};
use serde::Serialize;

use crate::{
    LabError,
    cell::memory_mb,
    check,
    guest::Cost,
    job::{Artifacts, Job, json},
};

/// Limit of virtual time beyond which programs are expected to wait most of the time, ns.
const IDLE_NS: u64 = 6 * 3600 * 1_000_000_000;

/// Exit status and output of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// Exit status (128 + signal, if one ended it); absent if it was stopped.
    pub status: Option<i32>,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
}

/// The result of the programs.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecResult {
    /// Reason why they were stopped, if they were.
    pub error: Option<Text>,
    /// The programs in the order they were given.
    pub programs: Vec<Ended>,
    /// Virtual time from boot to the end, s.
    pub virtual_s: f64,
    /// Real and processor time.
    pub cost: Cost,
}

/// The result of programs as a document.
#[derive(Serialize)]
pub struct Document<'a> {
    programs: Vec<Program<'a>>,
    virtual_s: f64,
    wall_s: f64,
    cpu_s: f64,
}

/// A program with its output as text.
#[derive(Serialize)]
struct Program<'a> {
    node: &'a str,
    argv: &'a [String],
    status: Option<i32>,
    stdout: Cow<'a, str>,
    stderr: Cow<'a, str>,
}

/// Checks, before anything is run, that the path has the nodes and this host the programs.
///
/// # Errors
/// A node or program is missing.
pub fn check(cell: &Cell, commands: &[Command]) -> Result<(), LabError> {
    check::commands(cell, commands)
}

impl ExecResult {
    /// The result with the command lines of its job.
    pub fn document<'a>(&'a self, job: &'a Exec) -> Document<'a> {
        let programs = job.commands.iter().zip(&self.programs);
        Document {
            programs: programs
                .map(|(command, ended)| Program {
                    node: &command.node,
                    argv: &command.argv,
                    status: ended.status,
                    stdout: String::from_utf8_lossy(&ended.stdout),
                    stderr: String::from_utf8_lossy(&ended.stderr),
                })
                .collect(),
            virtual_s: self.virtual_s,
            wall_s: self.cost.wall_s,
            cpu_s: self.cost.cpu_s,
        }
    }
}

/// Behaviour on a host that cannot make its files read-only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostFiles {
    /// Run nothing.
    ReadOnly,
    /// Run the programs, which can then write wherever the caller can write.
    WritableIfUnavoidable,
}

/// Programs to run, and their access to the host's files.
#[derive(Clone, Copy, Debug)]
pub struct Programs<'a> {
    /// The programs and their path.
    pub exec: &'a Exec,
    /// Behaviour on a host that cannot make its files read-only.
    pub files: HostFiles,
}

impl Job for Programs<'_> {
    type Output = ExecResult;

    fn guest_job(&self) -> job::Job {
        job::Job::Exec(Box::new(self.exec.clone()))
    }

    fn kernel(&self) -> Option<&KernelName> {
        self.exec.cell.kernel.as_ref()
    }

    fn seed(&self) -> Seed {
        self.exec.cell.seed
    }

    fn memory_mb(&self) -> u64 {
        // Programs of the host are larger than the guest program, and use guest memory for files.
        memory_mb(&self.exec.cell).max(1024)
    }

    fn files(&self) -> Vec<String> {
        let outputs = (0..self.exec.commands.len())
            .flat_map(|n| ["stdout", "stderr"].map(|end| name(n, end)));
        std::iter::once(OUTPUT_FILE.to_owned())
            .chain(outputs)
            .collect()
    }

    /// Programs that may run for hours wait most of the time.
    fn is_mostly_idle(&self) -> bool {
        self.exec.limit_ns > IDLE_NS
    }

    /// The programs and the files of the host that they read are in no key, so they are run each
    /// time.
    fn is_cacheable(&self) -> bool {
        false
    }

    /// Shows the host's files to the guest.
    ///
    /// # Errors
    /// The files must be read-only, and the host has neither a mount namespace nor Landlock for
    /// that.
    fn prepare(&self, folder: &Path) -> Result<(), LabError> {
        let kept = sys::isolation::Means::here().keep_files();
        if self.files == HostFiles::ReadOnly && !kept {
            return Err(LabError::FilesWritable);
        }
        let link = folder.join("host");
        std::os::unix::fs::symlink("/", &link).map_err(LabError::file("create", &link))
    }

    fn result(&self, mut artifacts: Artifacts) -> Result<ExecResult, LabError> {
        let output: ExecOutput = json(OUTPUT_FILE, &artifacts.take(OUTPUT_FILE)?)?;
        let mut output_of = |n, end| artifacts.take_optional(&name(n, end)).unwrap_or_default();
        let programs = (0..self.exec.commands.len()).map(|n| Ended {
            status: output.statuses.get(n).copied().flatten(),
            stdout: output_of(n, "stdout"),
            stderr: output_of(n, "stderr"),
        });
        Ok(ExecResult {
            programs: programs.collect(),
            error: output.error,
            virtual_s: output.virtual_ns as f64 / 1e9,
            cost: artifacts.cost,
        })
    }
}

/// Name of the file with a program's output.
fn name(program: usize, end: &str) -> String {
    format!("{program}.{end}")
}
