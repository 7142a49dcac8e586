//! Interface to Slurm's programs sbatch, squeue, scancel and scontrol.
//!
//! Tried with Slurm 22.05 of Debian 12. The scheduler is only queried for the existence of a job:
//! without an accounting database it forgets a job minutes after its end (`MinJobAge`).

use std::{
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, Stdio},
};

use super::BatchError;

/// `MaxArraySize` of a cluster that does not state another (slurm.conf(5)).
const ARRAY_SIZE: usize = 1001;

/// An array job to submit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Array<'a> {
    /// Its name.
    pub(super) name: &'a str,
    /// Number of tasks.
    pub(super) tasks: usize,
    /// Tasks at once; absent = as many as the scheduler allows.
    pub(super) parallel: Option<usize>,
    /// Processors of a task.
    pub(super) processors: usize,
    /// Further options of sbatch.
    pub(super) options: &'a [String],
    /// File of a task's messages; `%a` stands for its number.
    pub(super) log: &'a Path,
    /// The script.
    pub(super) script: &'a Path,
}

/// The tasks of a job that have not ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Active {
    /// The scheduler's number of the job.
    pub job: Option<String>,
    /// Number of running tasks.
    pub running: usize,
    /// Number of pending tasks.
    pub pending: usize,
    /// Reason why the first pending task is pending, in the scheduler's terms.
    pub reason: Option<String>,
}

impl Active {
    /// Returns true if the job has ended.
    pub(super) fn is_empty(&self) -> bool {
        self.running + self.pending == 0
    }
}

/// Interface of a scheduler.
pub(super) trait Scheduler {
    /// Maximum number of tasks of an array job.
    fn most_tasks(&self) -> Result<usize, BatchError>;
    /// Submits a job; returns its number.
    fn submit(&self, array: &Array<'_>) -> Result<String, BatchError>;
    /// The tasks of the job of a name that have not ended.
    fn active(&self, name: &str) -> Result<Active, BatchError>;
    /// Ends a job.
    fn cancel(&self, job: &str) -> Result<(), BatchError>;
}

/// Slurm, by its programs in PATH.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slurm;

impl Scheduler for Slurm {
    fn most_tasks(&self) -> Result<usize, BatchError> {
        let text = output("scontrol", &["show".to_owned(), "config".to_owned()])?;
        Ok(array_size(&text).unwrap_or(ARRAY_SIZE).max(2) - 1)
    }

    fn submit(&self, array: &Array<'_>) -> Result<String, BatchError> {
        let text = output("sbatch", &arguments(array))?;
        // With several clusters: `JOB;CLUSTER` (sbatch(1), --parsable).
        let job = text.trim().split(';').next().unwrap_or_default();
        match !job.is_empty() && job.bytes().all(|c| c.is_ascii_digit()) {
            true => Ok(job.to_owned()),
            false => Err(BatchError::Refused {
                program: "sbatch",
                report: format!("it printed \"{}\" in place of a job's number", text.trim()),
            }),
        }
    }

    fn active(&self, name: &str) -> Result<Active, BatchError> {
        let text = output(
            "squeue",
            &[
                "--noheader".to_owned(),
                "--array".to_owned(),
                format!("--name={name}"),
                "--format=%F|%T|%r".to_owned(),
            ],
        )?;
        Ok(active(&text))
    }

    fn cancel(&self, job: &str) -> Result<(), BatchError> {
        output("scancel", &[job.to_owned()]).map(drop)
    }
}

/// The arguments of sbatch.
fn arguments(array: &Array<'_>) -> Vec<String> {
    let last = array.tasks.saturating_sub(1);
    let at_once = array.parallel.map_or_else(String::new, |n| format!("%{n}"));
    let mut arguments = vec![
        "--parsable".to_owned(),
        format!("--job-name={}", array.name),
        format!("--array=0-{last}{at_once}"),
        "--ntasks=1".to_owned(),
        format!("--cpus-per-task={}", array.processors),
        // A restarted task preserves the messages of its first start.
        "--open-mode=append".to_owned(),
        format!("--output={}", array.log.display()),
    ];
    arguments.extend(array.options.iter().cloned());
    arguments.push(array.script.display().to_string());
    arguments
}

/// `MaxArraySize` in the output of `scontrol show config`.
fn array_size(config: &str) -> Option<usize> {
    let value = |line: &str| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "MaxArraySize").then(|| value.trim().parse().ok())?
    };
    config.lines().find_map(value)
}

/// The lines `JOB|STATE|REASON` of squeue, one a task.
fn active(lines: &str) -> Active {
    let mut active = Active::default();
    for line in lines.lines() {
        let mut fields = line.trim().split('|');
        let (Some(job), Some(state)) = (fields.next(), fields.next()) else {
            continue;
        };
        active.job.get_or_insert_with(|| job.to_owned());
        // CONFIGURING, COMPLETING, SUSPENDED, …: on a worker.
        if matches!(
            state,
            "PENDING" | "REQUEUED" | "REQUEUE_HOLD" | "SPECIAL_EXIT"
        ) {
            active.pending += 1;
            let reason = fields.next().filter(|reason| *reason != "None");
            if let (None, Some(reason)) = (&active.reason, reason) {
                active.reason = Some(reason.to_owned());
            }
        } else {
            active.running += 1;
        }
    }
    active
}

/// Runs a program and returns its output.
fn output(program: &'static str, arguments: &[String]) -> Result<String, BatchError> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        // Ctrl-C is for this program, which then ends the job.
        .process_group(0)
        .output()
        .map_err(|source| BatchError::Start { program, source })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(BatchError::Refused {
            program,
            report: match text(&output.stderr).trim() {
                "" => output.status.to_string(),
                report => report.to_owned(),
            },
        }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Output of Slurm 22.05.8.
    #[test]
    fn the_output_of_squeue_is_read() {
        let lines = "12|RUNNING|None\n12|RUNNING|None\n12|PENDING|Resources\n12|PENDING|Priority\n";
        let expected = Active {
            job: Some("12".to_owned()),
            running: 2,
            pending: 2,
            reason: Some("Resources".to_owned()),
        };
        assert_eq!(active(lines), expected);
        assert!(active("").is_empty());
        assert!(!active("12|COMPLETING|None\n").is_empty());
    }

    #[test]
    fn the_largest_array_is_read() {
        let config = "Configuration data as of 2026-11-22T10:00:00\nMaxArraySize            = 4001\nMaxDBDMsgs = 20008\n";
        assert_eq!(array_size(config), Some(4001));
        assert_eq!(array_size("MaxArraySize = many"), None);
    }

    #[test]
    fn sbatch_gets_one_index_a_task() {
        let array = Array {
            name: "pathtwin-1-0",
            tasks: 50,
            parallel: Some(8),
            processors: 2,
            options: &["--partition=short".to_owned()],
            log: Path::new("/x/log-0-%a.txt"),
            script: Path::new("/x/round-0.sh"),
        };
        let arguments = arguments(&array);
        for argument in [
            "--array=0-49%8",
            "--cpus-per-task=2",
            "--partition=short",
            "--output=/x/log-0-%a.txt",
        ] {
            assert!(arguments.iter().any(|a| a == argument), "{argument}");
        }
        assert_eq!(arguments.last().map(String::as_str), Some("/x/round-0.sh"));
    }

    #[test]
    fn a_program_that_there_is_not_is_named() {
        let error = output("no-such-scheduler", &[]).unwrap_err().to_string();
        assert!(error.contains("no-such-scheduler"), "{error}");
    }

    #[test]
    fn the_message_of_a_program_that_fails_is_passed_on() {
        let script = ["-c", "echo invalid partition >&2; exit 1"].map(str::to_owned);
        let error = output("sh", &script).unwrap_err().to_string();
        assert_eq!(error, "sh failed: invalid partition");
    }

    proptest! {
        #[test]
        fn no_output_makes_it_panic(text in "[ -~\n|]{0,80}") {
            let _ = (active(&text), array_size(&text));
        }
    }
}
