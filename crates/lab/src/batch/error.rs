//! Errors of array jobs.

use std::{io, path::PathBuf};

use model::spec::quantity::QuantityError;

/// Reason why a text is not an option of `--on`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OptionError {
    /// Another scheduler.
    #[error("the only scheduler is slurm")]
    Scheduler,
    /// No `=`.
    #[error("write KEY=VALUE")]
    Form,
    /// An empty value.
    #[error("its value is missing")]
    NoValue,
    /// It is not a positive whole number.
    #[error("not a whole number above 0")]
    Number,
    /// It is not a duration.
    #[error("{0}")]
    Duration(#[from] QuantityError),
    /// An unknown key.
    #[error(
        "the options are partition, account, qos, time, mem, constraint, processors, parallel, work and tries; sbatch \
         also reads SBATCH_* from the environment"
    )]
    Unknown,
}

/// Reason why cells cannot be run on a cluster.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// An unknown option of `--on`, or one with an invalid value.
    #[error("--on slurm: \"{text}\": {why}")]
    Option {
        /// The option.
        text: String,
        /// The reason.
        why: OptionError,
    },
    /// The folder has a batch already, and it is not to be resumed.
    #[error("{} has an array job already: continue it with --resume, or choose another folder", .0.display())]
    Exists(PathBuf),
    /// The spec names a file that cannot be copied beside the copy of the spec.
    #[error(
        "the spec names {0}, outside of its folder, which workers do not get: put it into the folder of the spec, or \
         write an absolute path that every worker has"
    )]
    Outside(String),
    /// The folder has no batch to resume.
    #[error("{} has no array job to resume: run it without --resume first", .0.display())]
    Nothing(PathBuf),
    /// The folder belongs to another sweep.
    #[error("the array job in {} was made with another {what}: choose another folder", folder.display())]
    OtherRun {
        /// The part that differs.
        what: &'static str,
        /// The folder.
        folder: PathBuf,
    },
    /// A submission's document cannot be parsed.
    #[error("cannot parse {}: {source}", file.display())]
    Document {
        /// The file.
        file: PathBuf,
        /// The parser's error.
        source: serde_json::Error,
    },
    /// A submission's document has no such task.
    #[error("{} has no task {task}", file.display())]
    NoTask {
        /// The file.
        file: PathBuf,
        /// The task.
        task: u32,
    },
    /// A program of the scheduler cannot be started.
    #[error(
        "cannot start {program}: {source}; is this a host of the cluster that can submit jobs?"
    )]
    Start {
        /// The program.
        program: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// A program of the scheduler failed.
    #[error("{program} failed: {report}")]
    Refused {
        /// The program.
        program: &'static str,
        /// Its output.
        report: String,
    },
    /// The scheduler has not answered for a long time.
    #[error(
        "the scheduler has not answered for {minutes} min ({last}); job {job} goes on without this program: \
         continue with --resume"
    )]
    Unreachable {
        /// The time limit.
        minutes: u64,
        /// The job.
        job: String,
        /// The last error.
        last: String,
    },
}
