//! Cells as array jobs of a cluster: packed into tasks, submitted, awaited, and resubmitted if
//! results are missing.
//!
//! A task is `pathtwin lab run --task` on a worker, and writes a file of rows like that of a
//! [segment](crate::segment). Only these files count, not the scheduler's state of a task. The
//! state is in the folder of the results, so that another start of the program can continue
//! ([`Batch::resume`]).

mod cost;
mod error;
mod files;
mod options;
mod pack;
mod round;
mod script;
mod slurm;

use std::{
    collections::BTreeMap,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use model::{cell::Cell, spec::NamedFile, units::Seed};
use sys::files::{Existing, Readers};

use crate::{
    LabError, guest,
    segment::{TaskId, file::Sweep},
};
pub use cost::estimate;
pub use error::{BatchError, OptionError};
pub use files::Files;
pub use options::Options;
pub use round::{Attempts, Round};
pub use slurm::Active;

use round::Packing;
use script::Script;
use slurm::{Array, Scheduler, Slurm};

/// Attempts to submit a job.
const SUBMISSIONS: u32 = 3;

/// Cells to run on a cluster.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// Identity of everything that the results depend on.
    pub sweep: &'a Sweep,
    /// All cells.
    pub cells: &'a [Cell],
    /// The spec; it is copied.
    pub spec: &'a Path,
    /// The files that it names; they are copied, unless their paths are absolute.
    pub named: &'a [NamedFile],
    /// Further arguments of `lab run`: `--set`, `--seed`.
    pub arguments: &'a [String],
    /// The kernel image; it is copied.
    pub kernel: &'a Path,
    /// The folder of the results.
    pub files: &'a Files,
    /// Options.
    pub options: &'a Options,
    /// True to continue after an earlier start of the program; otherwise there must not be one.
    pub resume: bool,
}

/// Progress of a batch.
#[derive(Debug)]
pub enum Event<'a> {
    /// A job was submitted.
    Submitted(&'a Round),
    /// The job of an earlier start of this program continues.
    Found(&'a Round),
    /// A job is being run.
    Waiting {
        /// Cells that have ended.
        ended: usize,
        /// Its tasks.
        active: &'a Active,
    },
    /// The scheduler does not respond; the query is repeated.
    Trouble(&'a BatchError),
    /// A job was cancelled, because the user stopped the program.
    Cancelled(&'a Round),
}

/// A cell that was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenUp {
    /// Its index among all cells.
    pub cell: usize,
    /// Its seed.
    pub seed: Seed,
    /// Failed attempts; of a cell that was never run, submissions without a row.
    pub attempts: u32,
    /// Last messages of its last task.
    pub messages: String,
}

/// Poll intervals of a scheduler.
#[derive(Clone, Copy, Debug)]
struct Pace {
    first: Duration,
    longest: Duration,
    /// Time without a response after which the program ends.
    give_up: Duration,
}

const PACE: Pace = Pace {
    first: Duration::from_secs(1),
    longest: Duration::from_secs(10),
    give_up: Duration::from_secs(1800),
};

impl Batch<'_> {
    /// Runs the cells with Slurm, and returns the cells without rows at the end.
    ///
    /// # Errors
    /// The folder belongs to another sweep, or contains a batch although `resume` is false; a file
    /// cannot be read or written; Slurm is missing, refuses the job, or does not respond for half
    /// an hour. [`LabError::Stopped`]: the user stopped the program, and the job was cancelled.
    pub fn run(
        &self,
        stop: &AtomicBool,
        on: &mut dyn FnMut(Event<'_>),
    ) -> Result<Vec<GivenUp>, LabError> {
        if !self.resume {
            self.refuse_existing()?;
            self.files.copy(self.spec, self.named, self.kernel)?;
        }
        self.drive(&Slurm, PACE, stop, on)
    }

    fn drive(
        &self,
        scheduler: &dyn Scheduler,
        pace: Pace,
        stop: &AtomicBool,
        on: &mut dyn FnMut(Event<'_>),
    ) -> Result<Vec<GivenUp>, LabError> {
        let cost = |cell: usize| self.cells.get(cell).map_or(0.0, cost::estimate);
        let packing = Packing {
            cost: &cost,
            least: self.options.work.as_secs_f64(),
            most: scheduler.most_tasks()?,
            tries: self.options.tries,
        };
        let mut next = match self.resume {
            true => self.resumed(scheduler, &packing, on)?,
            false => Some(self.first(&packing)?),
        };
        while let Some(mut round) = next {
            if round.job.is_none() {
                self.submit(&mut round, scheduler, pace, stop)?;
                on(Event::Submitted(&round));
            }
            self.wait(&round, scheduler, pace, stop, on)?;
            round.note(&self.files.left(&round)?);
            // With the attempts, for the cells left at the end.
            round.write(&self.files.folder())?;
            next = round.next(&self.files.completed(0..round.number + 1)?, &packing);
        }
        self.given_up()
    }

    fn refuse_existing(&self) -> Result<(), BatchError> {
        match self.files.exist() {
            true => Err(BatchError::Exists(self.files.results().to_owned())),
            false => Ok(()),
        }
    }

    /// The first submission.
    fn first(&self, packing: &Packing<'_>) -> Result<Round, LabError> {
        self.refuse_existing()?;
        let round = Round::first(
            self.sweep.clone(),
            &self.name(),
            self.options.processors.get(),
            packing,
        );
        round.write(&self.files.folder())?;
        Ok(round)
    }

    /// The submission to continue with: the latest if its job still exists, else the next.
    /// Abandoned cells are tried again.
    fn resumed(
        &self,
        scheduler: &dyn Scheduler,
        packing: &Packing<'_>,
        on: &mut dyn FnMut(Event<'_>),
    ) -> Result<Option<Round>, LabError> {
        let folder = self.files.folder();
        let latest = Round::latest(&folder)?
            .ok_or_else(|| BatchError::Nothing(self.files.results().to_owned()))?;
        if let Some(what) = self.sweep.differs(&latest.sweep) {
            let folder = self.files.results().to_owned();
            return Err(BatchError::OtherRun { what, folder }.into());
        }
        let active = scheduler.active(&latest.name, latest.job.as_deref())?;
        if !active.is_empty() {
            // As sbatch named it, with the cluster.
            let job = latest.job.clone().or(active.job.clone());
            let round = Round { job, ..latest };
            on(Event::Found(&round));
            return Ok(Some(round));
        }
        if latest.job.is_none() {
            return Ok(Some(latest));
        }
        let mut round = latest;
        round.note(&self.files.left(&round)?);
        let again = Round {
            attempts: round.attempts.into_iter().map(forgiven).collect(),
            barren: 0,
            ..round
        };
        let next = again.next(&self.files.completed(0..again.number + 1)?, packing);
        if let Some(next) = &next {
            next.write(&folder)?;
        }
        Ok(next)
    }

    /// A unique name: another folder or another sweep gives another name.
    fn name(&self) -> String {
        let mut hash = blake3::Hasher::new();
        hash.update(self.files.results().as_os_str().as_encoded_bytes());
        hash.update(self.sweep.spec.as_bytes());
        format!("pathtwin-{}", &hash.finalize().to_hex()[..12])
    }

    fn submit(
        &self,
        round: &mut Round,
        scheduler: &dyn Scheduler,
        pace: Pace,
        stop: &AtomicBool,
    ) -> Result<(), LabError> {
        let folder = self.files.folder();
        round.write(&folder)?;
        let script = folder.join(format!("round-{}.sh", round.number));
        let text = Script {
            program: self.files.program(),
            guest: self.files.guest(),
            kernel: self.files.kernel(),
            spec: self.files.spec(self.spec),
            arguments: self.arguments,
            folder: self.files.results(),
            round: round.number,
            processors: round.processors,
        };
        sys::files::write(&script, Readers::ByUmask, Existing::Replace, &text.text())
            .map_err(LabError::file("write", &script))?;
        let array = Array {
            name: &round.name,
            tasks: round.tasks.len(),
            parallel: self.options.parallel.map(std::num::NonZeroUsize::get),
            processors: round.processors,
            options: &self.options.sbatch,
            log: &self.files.log(round.number, "%a"),
            script: &script,
        };
        round.job = Some(submit(&array, scheduler, pace, stop)?);
        round.write(&folder)
    }

    /// Waits for the end of a job.
    fn wait(
        &self,
        round: &Round,
        scheduler: &dyn Scheduler,
        pace: Pace,
        stop: &AtomicBool,
        on: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), LabError> {
        let job = round.job.as_deref().unwrap_or(&round.name);
        let before = self.files.completed(0..round.number)?.len();
        let mut interval = pace.first;
        let mut silent: Option<Instant> = None;
        loop {
            match scheduler.active(&round.name, round.job.as_deref()) {
                Ok(active) if active.is_empty() => return Ok(()),
                Ok(active) => {
                    silent = None;
                    let ended = before + self.files.ended(round);
                    on(Event::Waiting {
                        ended,
                        active: &active,
                    });
                }
                Err(error) => {
                    let since = *silent.get_or_insert_with(|| {
                        on(Event::Trouble(&error));
                        Instant::now()
                    });
                    if since.elapsed() >= pace.give_up {
                        return Err(BatchError::Unreachable {
                            minutes: since.elapsed().as_secs() / 60,
                            job: job.to_owned(),
                            last: error.to_string(),
                        }
                        .into());
                    }
                }
            }
            if pause(interval, stop) {
                scheduler.cancel(job)?;
                on(Event::Cancelled(round));
                return Err(LabError::Stopped);
            }
            interval = (interval * 3 / 2).min(pace.longest);
        }
    }

    /// The cells without rows.
    fn given_up(&self) -> Result<Vec<GivenUp>, LabError> {
        let Some(last) = Round::latest(&self.files.folder())? else {
            return Ok(Vec::new());
        };
        let completed = self.files.completed(0..last.number + 1)?;
        // If no cell was run, the messages of the tasks say why.
        let tasks = last.tasks.iter().enumerate();
        let tasks: BTreeMap<usize, TaskId> = tasks
            .filter_map(|(number, cells)| Some((*cells.first()?, last.task(number))))
            .collect();
        let open = self.cells.iter().enumerate();
        Ok(open
            .filter(|(index, _)| !completed.contains(index))
            .map(|(index, cell)| {
                let attempts = last.attempts.get(&index);
                let task = attempts.map(|a| a.last).or(tasks.get(&index).copied());
                let count = attempts.map_or(0, |a| a.count);
                let log = |task: TaskId| self.files.log(task.round, &task.task.to_string());
                GivenUp {
                    cell: index,
                    seed: cell.seed,
                    attempts: if count == 0 { last.barren } else { count },
                    messages: task.map_or_else(String::new, |task| guest::tail(&log(task))),
                }
            })
            .collect())
    }
}

/// The attempts of an earlier start of the program: the cell is tried alone, as often as a new one.
fn forgiven((cell, attempts): (usize, Attempts)) -> (usize, Attempts) {
    (
        cell,
        Attempts {
            count: 0,
            ..attempts
        },
    )
}

/// Submits a job. After a failure the job is searched for, since the response may have been lost.
fn submit(
    array: &Array<'_>,
    scheduler: &dyn Scheduler,
    pace: Pace,
    stop: &AtomicBool,
) -> Result<String, LabError> {
    let mut tries = 1;
    loop {
        let error = match scheduler.submit(array) {
            Ok(job) => return Ok(job),
            Err(error) => error,
        };
        if let Ok(Active { job: Some(job), .. }) = scheduler.active(array.name, None) {
            return Ok(job);
        }
        if tries == SUBMISSIONS || pause(pace.first * 2, stop) {
            return Err(error.into());
        }
        tries += 1;
    }
}

/// Waits; true if the user stops the program.
fn pause(time: Duration, stop: &AtomicBool) -> bool {
    const STEP: Duration = Duration::from_millis(50);
    let started = Instant::now();
    while started.elapsed() < time && !stop.load(Ordering::Relaxed) {
        thread::sleep(STEP.min(time));
    }
    stop.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests;
