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
    /// The scheduler's number of the job, `JOB;CLUSTER` if the scheduler names the cluster.
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
    /// Submits a job; returns its number, with the cluster if that is another: `JOB;CLUSTER`.
    fn submit(&self, array: &Array<'_>) -> Result<String, BatchError>;
    /// The tasks of the job of a name that have not ended; `job` = what [`Self::submit`] returned,
    /// absent = the job is searched for where one would be submitted.
    fn active(&self, name: &str, job: Option<&str>) -> Result<Active, BatchError>;
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
        // `JOB`, or `JOB;CLUSTER` with `--clusters` (sbatch(1), --parsable).
        match is_number(number_and_cluster(text.trim()).0) {
            true => Ok(text.trim().to_owned()),
            false => Err(BatchError::Refused {
                program: "sbatch",
                report: format!("it printed \"{}\" in place of a job's number", text.trim()),
            }),
        }
    }

    fn active(&self, name: &str, job: Option<&str>) -> Result<Active, BatchError> {
        // Only sbatch reads this variable.
        let possible = std::env::var("SBATCH_CLUSTERS").ok();
        let clusters = match job {
            Some(job) => number_and_cluster(job).1,
            None => possible.as_deref().filter(|names| !names.is_empty()),
        };
        Ok(active(&output("squeue", &query(name, clusters))?))
    }

    fn cancel(&self, job: &str) -> Result<(), BatchError> {
        output("scancel", &cancellation(job)).map(drop)
    }
}

/// Returns true if this is the number of a job.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit())
}

/// Parts of `JOB;CLUSTER`. Numbers are unique in a cluster only; without one, it is this host's.
fn number_and_cluster(job: &str) -> (&str, Option<&str>) {
    match job.split_once(';') {
        Some((number, cluster)) => (number, Some(cluster)),
        None => (job, None),
    }
}

/// The option of squeue and scancel for other clusters than that of this host.
fn on(clusters: Option<&str>) -> impl Iterator<Item = String> {
    clusters
        .map(|names| format!("--clusters={names}"))
        .into_iter()
}

/// The arguments of squeue. With the header, since the line with a cluster's name is a part of it
/// (src/squeue/squeue.c; Slurm 22.05.8).
fn query(name: &str, clusters: Option<&str>) -> Vec<String> {
    let name = format!("--name={name}");
    let tasks = ["--array", "--format=%F|%T|%r", &name].map(str::to_owned);
    tasks.into_iter().chain(on(clusters)).collect()
}

/// The arguments of scancel.
fn cancellation(job: &str) -> Vec<String> {
    let (number, cluster) = number_and_cluster(job);
    on(cluster).chain([number.to_owned()]).collect()
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

/// The lines `JOB|STATE|REASON` of squeue, one a task, after a header and, with `--clusters`, the
/// name of the cluster.
fn active(lines: &str) -> Active {
    let mut active = Active::default();
    let mut cluster = None;
    for line in lines.lines() {
        cluster = line.strip_prefix("CLUSTER: ").map(str::trim).or(cluster);
        let mut fields = line.trim().split('|');
        let (Some(job), Some(state)) = (fields.next(), fields.next()) else {
            continue;
        };
        if !is_number(job) {
            continue;
        }
        active.job.get_or_insert_with(|| match cluster {
            Some(cluster) => format!("{job};{cluster}"),
            None => job.to_owned(),
        });
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

    const HEADER: &str = "ARRAY_JOB_ID|STATE|REASON\n";

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
        assert_eq!(active(&format!("{HEADER}{lines}")), expected);
        assert!(active("").is_empty() && active(HEADER).is_empty());
        assert!(!active("12|COMPLETING|None\n").is_empty());
    }

    /// Output of Slurm 22.05.8.
    #[test]
    fn a_job_on_another_cluster_is_sought_and_cancelled_there() {
        assert!(query("x-0", Some("big")).contains(&"--clusters=big".to_owned()));
        assert_eq!(cancellation("12;big"), ["--clusters=big", "12"]);
        // Two clusters, as where sbatch chooses one and its response is lost.
        let tasks = "12|RUNNING|None\n12|PENDING|Resources\n";
        let lines = format!("CLUSTER: small\n{HEADER}\nCLUSTER: big\n{HEADER}{tasks}");
        let found = active(&lines);
        assert_eq!(found.job.as_deref(), Some("12;big"));
        assert_eq!((found.running, found.pending), (1, 1));
        assert_eq!(cancellation("12"), ["12"]);
        assert!(!query("x-0", None).iter().any(|a| a.contains("cluster")));
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
