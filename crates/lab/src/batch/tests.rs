//! The driver with a fake scheduler, whose tasks write files like real ones.

#![allow(clippy::unwrap_used)]

use std::{cell::RefCell, collections::BTreeSet, fs};

use model::spec::Spec;

use super::*;
use crate::segment::{
    Part,
    file::{Contents, Entry, Header},
    tests::{entry, text},
};

const PACE_OF_TESTS: Pace = Pace {
    first: Duration::from_millis(1),
    longest: Duration::from_millis(1),
    give_up: Duration::ZERO,
};

/// A cluster that runs a job on submission, and reports it at the next query.
#[derive(Default)]
struct Cluster {
    folder: std::path::PathBuf,
    /// Cells whose task ends while it runs them.
    killers: BTreeSet<usize>,
    /// Cells that fail.
    failing: BTreeSet<usize>,
    /// Task of the first submission that is killed before its second cell.
    killed: Option<usize>,
    /// Tasks of the first submission that start; absent = all.
    started: Option<usize>,
    /// True if all tasks end before they have a file.
    broken: bool,
    /// True to lose the response of sbatch.
    silent: bool,
    /// True if jobs run on another cluster, and those of this host's are not known by their name.
    elsewhere: bool,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    submitted: Vec<String>,
    cancelled: Vec<String>,
    /// Responses of the scheduler that the job still exists; `Err` = no response.
    answers: Vec<Result<(), ()>>,
}

impl Cluster {
    fn task(&self, round: &Round, number: usize) {
        if round.number == 0 && self.started.is_some_and(|started| number >= started) {
            return;
        }
        let log = self
            .folder
            .join(format!("slurm/log-{}-{number}.txt", round.number));
        if self.broken {
            fs::write(log, "no shared folder\n").unwrap();
            return;
        }
        let mut entries = Vec::new();
        for (at, cell) in round.tasks[number].iter().enumerate() {
            let killed = round.number == 0 && self.killed == Some(number) && at == 1;
            if killed || self.killers.contains(cell) {
                fs::write(log, format!("killed in cell {cell}\n")).unwrap();
                break;
            }
            let failed = self.failing.contains(cell);
            entries.push(Entry {
                rows: entry(*cell).rows.filter(|_| !failed),
                error: failed.then(|| model::text!("no such queue")),
                ..entry(*cell)
            });
        }
        let part = Part::Task(round.task(number));
        let sweep = round.sweep.clone();
        let contents = Contents {
            header: Header { part, sweep },
            entries,
            unreadable: Vec::new(),
        };
        fs::write(self.folder.join(part.file_name()), text(&contents)).unwrap();
    }
}

impl Scheduler for Cluster {
    fn most_tasks(&self) -> Result<usize, BatchError> {
        Ok(1000)
    }

    fn submit(&self, array: &Array<'_>) -> Result<String, BatchError> {
        let number = array.name.rsplit_once('-').unwrap().1.parse().unwrap();
        let round = Round::read(&self.folder.join("slurm"), number).unwrap();
        assert_eq!(round.tasks.len(), array.tasks);
        (0..array.tasks).for_each(|task| self.task(&round, task));
        let mut state = self.state.borrow_mut();
        state.submitted.push(array.name.to_owned());
        match self.silent {
            false if self.elsewhere => Ok("7;big".to_owned()),
            false => Ok("7".to_owned()),
            true => {
                // The job still exists when it is searched for.
                state.answers.push(Ok(()));
                Err(BatchError::Refused {
                    program: "sbatch",
                    report: "Socket timed out on send/recv operation".to_owned(),
                })
            }
        }
    }

    fn active(&self, _name: &str, job: Option<&str>) -> Result<Active, BatchError> {
        if self.elsewhere && job != Some("7;big") {
            return Ok(Active::default());
        }
        match self.state.borrow_mut().answers.pop() {
            None => Ok(Active::default()),
            Some(Ok(())) => Ok(Active {
                job: Some("7".to_owned()),
                running: 1,
                ..Active::default()
            }),
            Some(Err(())) => Err(BatchError::Refused {
                program: "squeue",
                report: "Unable to contact slurm controller".to_owned(),
            }),
        }
    }

    fn cancel(&self, job: &str) -> Result<(), BatchError> {
        self.state.borrow_mut().cancelled.push(job.to_owned());
        Ok(())
    }
}

struct Case {
    folder: tempfile::TempDir,
    cells: Vec<Cell>,
    options: &'static str,
}

impl Case {
    /// Some cells, of 0.1 s of work and a little more each.
    fn new(cells: u64) -> Self {
        let spec = format!(
            "repeats = {cells}\nduration = \"1s\"\nwarmup = \"0s\"\n[path]\nrtt = \"10ms\"\nrate = \"1mbit\"\n"
        );
        let case = Self {
            folder: tempfile::tempdir().unwrap(),
            cells: Spec::parse("spec", &spec).unwrap().cells().unwrap(),
            options: "slurm:work=1s",
        };
        fs::write(case.folder.path().join("spec.toml"), spec).unwrap();
        fs::write(case.folder.path().join("linux"), "a kernel").unwrap();
        case
    }

    fn cluster(&self) -> Cluster {
        Cluster {
            folder: self.folder.path().canonicalize().unwrap().join("out"),
            ..Cluster::default()
        }
    }

    fn drive(&self, cluster: &Cluster, resume: bool, stop: bool) -> Result<Vec<GivenUp>, LabError> {
        let files = Files::new(&cluster.folder).unwrap();
        if !resume && !files.exist() {
            // Real programs would be copied there.
            fs::create_dir_all(files.folder()).unwrap();
        }
        let batch = Batch {
            sweep: &round::tests::sweep(self.cells.len()),
            cells: &self.cells,
            spec: &self.folder.path().join("spec.toml"),
            named: &[],
            arguments: &[],
            kernel: &self.folder.path().join("linux"),
            files: &files,
            options: &self.options.parse().unwrap(),
            resume,
        };
        batch.drive(cluster, PACE_OF_TESTS, &AtomicBool::new(stop), &mut |_| ())
    }
}

#[test]
fn all_but_the_cells_that_always_fail_are_completed_and_those_are_named() {
    let case = Case::new(200);
    let cluster = Cluster {
        killers: [17].into(),
        failing: [40].into(),
        killed: Some(3),
        ..case.cluster()
    };
    let given_up = case.drive(&cluster, false, false).unwrap();
    let cells: Vec<_> = given_up.iter().map(|g| (g.cell, g.attempts)).collect();
    assert_eq!(cells, [(17, 3), (40, 3)]);
    // Repeat r has the seed 1 + r.
    assert_eq!(given_up[0].seed, Seed(18));
    assert_eq!(given_up[0].messages, "killed in cell 17");
    let gathered = crate::gather::gather(&[cluster.folder]).unwrap();
    assert_eq!(gathered.completed, 198);
    assert_eq!(gathered.failed.len(), 1);
    // Tasks of ten cells: many fewer than cells, and no more submissions than attempts.
    let submitted = cluster.state.into_inner().submitted;
    assert_eq!(submitted.len(), 3, "{submitted:?}");
}

#[test]
fn traces_are_copied_beside_the_spec_and_one_outside_of_its_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let files = Files::new(folder.path()).unwrap();
    let named = |names: &[&str]| -> Vec<NamedFile> {
        let file = |name: &&str| NamedFile {
            name: (*name).to_owned(),
            text: format!("content of {name}"),
        };
        names.iter().map(file).collect()
    };
    let refused = files.copy_named(&named(&["a.csv", "../b.csv"]));
    assert!(matches!(
        refused,
        Err(LabError::Batch(BatchError::Outside(name))) if name == "../b.csv"
    ));
    assert!(!files.folder().exists());
    let given = named(&["./a.csv", "traces/lte.csv", "/everywhere/c.csv"]);
    files.copy_named(&given).unwrap();
    let copied = |name: &str| fs::read_to_string(files.folder().join("spec").join(name)).unwrap();
    assert_eq!(copied("a.csv"), "content of ./a.csv");
    assert_eq!(copied("traces/lte.csv"), "content of traces/lte.csv");
    assert_eq!(
        fs::read_dir(files.folder().join("spec")).unwrap().count(),
        2
    );
}

#[test]
fn a_job_is_cancelled_when_the_user_stops_the_program() {
    let case = Case::new(20);
    let cluster = case.cluster();
    cluster.state.borrow_mut().answers = vec![Ok(()); 5];
    let stopped = case.drive(&cluster, false, true);
    assert!(matches!(stopped, Err(LabError::Stopped)));
    assert_eq!(cluster.state.borrow().cancelled, ["7"]);
}

/// sbatch chose another cluster than that of this host, by `SBATCH_CLUSTERS`.
#[test]
fn a_job_on_another_cluster_is_awaited_and_cancelled_there() {
    let case = Case::new(20);
    let cluster = Cluster {
        elsewhere: true,
        ..case.cluster()
    };
    cluster.state.borrow_mut().answers = vec![Ok(()); 5];
    let stopped = case.drive(&cluster, false, true);
    assert!(matches!(stopped, Err(LabError::Stopped)));
    assert_eq!(cluster.state.borrow().cancelled, ["7;big"]);
    cluster.state.borrow_mut().answers = vec![Ok(()); 3];
    assert_eq!(case.drive(&cluster, true, false).unwrap(), []);
    assert_eq!(cluster.state.borrow().submitted.len(), 1);
    assert!(cluster.state.borrow().answers.is_empty());
}

#[test]
fn another_start_of_the_program_waits_for_the_job_of_the_first() {
    let case = Case::new(20);
    let cluster = case.cluster();
    // Without a response the program ends; the job continues.
    cluster.state.borrow_mut().answers = vec![Err(())];
    let lost = case.drive(&cluster, false, false);
    assert!(matches!(
        lost,
        Err(LabError::Batch(BatchError::Unreachable { .. }))
    ));
    let refused = case.drive(&cluster, false, false);
    assert!(matches!(
        refused,
        Err(LabError::Batch(BatchError::Exists(_)))
    ));
    cluster.state.borrow_mut().answers = vec![Ok(()); 3];
    assert_eq!(case.drive(&cluster, true, false).unwrap(), []);
    assert_eq!(cluster.state.borrow().submitted.len(), 1);
}

#[test]
fn abandoned_cells_are_retried_by_a_resumed_batch() {
    let case = Case::new(20);
    let mut cluster = Cluster {
        killers: [7].into(),
        ..case.cluster()
    };
    assert_eq!(case.drive(&cluster, false, false).unwrap().len(), 1);
    cluster.killers.clear();
    assert_eq!(case.drive(&cluster, true, false).unwrap(), []);
}

/// Ctrl-C, when a few tasks ran and the others were pending.
#[test]
fn cells_of_tasks_that_never_started_are_no_failed_attempts() {
    let case = Case::new(200);
    let cluster = Cluster {
        killed: Some(0),
        started: Some(2),
        ..case.cluster()
    };
    cluster.state.borrow_mut().answers = vec![Ok(()); 5];
    let stopped = case.drive(&cluster, false, true);
    assert!(matches!(stopped, Err(LabError::Stopped)));
    cluster.state.borrow_mut().answers.clear();
    assert_eq!(case.drive(&cluster, true, false).unwrap(), []);
    let second = Round::read(&cluster.folder.join("slurm"), 1).unwrap();
    let alone = second.tasks.iter().filter(|task| task.len() == 1).count();
    assert_eq!(alone, 1, "{:?}", second.tasks);
}

#[test]
fn a_sweep_of_one_try_is_completed_after_ctrl_c() {
    let case = Case {
        options: "slurm:work=1s,tries=1",
        ..Case::new(40)
    };
    let cluster = Cluster {
        killed: Some(0),
        started: Some(1),
        ..case.cluster()
    };
    cluster.state.borrow_mut().answers = vec![Ok(()); 5];
    assert!(case.drive(&cluster, false, true).is_err());
    cluster.state.borrow_mut().answers.clear();
    assert_eq!(case.drive(&cluster, true, false).unwrap(), []);
}

#[test]
fn a_cell_whose_tasks_end_before_they_have_a_file_is_named_with_their_messages() {
    let case = Case::new(40);
    let cluster = Cluster {
        broken: true,
        ..case.cluster()
    };
    let given_up = case.drive(&cluster, false, false).unwrap();
    assert_eq!(
        (given_up.len(), cluster.state.borrow().submitted.len()),
        (40, 3)
    );
    assert!(given_up.iter().all(|cell| cell.attempts == 3));
    assert_eq!(given_up[0].messages, "no shared folder");
}

#[test]
fn a_job_whose_submission_got_no_answer_is_not_submitted_twice() {
    let case = Case::new(20);
    let cluster = Cluster {
        silent: true,
        ..case.cluster()
    };
    assert_eq!(case.drive(&cluster, false, false).unwrap(), []);
    assert_eq!(cluster.state.borrow().submitted.len(), 1);
}

#[test]
fn a_folder_without_a_batch_cannot_be_resumed() {
    let case = Case::new(2);
    let nothing = case.drive(&case.cluster(), true, false);
    assert!(matches!(
        nothing,
        Err(LabError::Batch(BatchError::Nothing(_)))
    ));
}
