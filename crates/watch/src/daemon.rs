//! The loop of the daemon: reads clocks, measures, saves and sends, sequentially.
//!
//! It notifies the service manager that it is alive from within this loop and from within each
//! measurement, so that a loop that hangs is detected.

mod drift;
mod error;
mod lines;
mod start;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use model::{
    run::Run,
    text,
    text::{Text, Value},
};
use stats::Random;
use sys::{
    files::{self, Existing, Readers},
    service::Manager,
};

use crate::{
    config::PathConfig,
    http::{self, Live, Snapshot},
    line::Line,
    metrics,
    moment::{Moment, SECOND_NS},
    notify,
    real::{self, RealError, Runner},
    runs::{Place, Runs},
    state::Folder,
    watcher::{Begin, Candidate, Job, Measured, Next, Postponed, Watcher, Work},
};

pub use drift::{Compare, Drifts};
pub use error::DaemonError;
pub use start::Start;

use drift::Comparison;
use lines::{postponed, uncounted};
use start::{runs, served, service};

/// Watches until the stop flag is set.
///
/// # Errors
/// The state cannot be read or written, or belongs to another watch; or the full plan is invalid.
pub fn run(start: Start<'_>) -> Result<(), DaemonError> {
    for path in &start.config.paths {
        real::full_plan(path)?;
    }
    let folder = Folder::open(&start.config.state)?;
    let folder = match &start.config.runtime {
        Some(runtime) => folder.with_runtime(runtime)?,
        None => folder,
    };
    let mut random = Random::new(start.seed);
    let boot = sys::machine::boot_id().unwrap_or_default();
    let now = (boot.as_str(), Moment::now());
    let runs = runs(&start, &folder);
    let watcher = Watcher::open(&folder, start.config.clone(), now, &mut random)?;
    for file in folder.damaged() {
        (start.log)(&text!(
            "the state in {file} could not be read and is not used: what was waiting and the bytes of its month are \
             not known; remove the file when you have looked at it",
            file = &file
        ));
    }
    // What is served has a state from the first response on.
    let live = Live::new(snapshot(&watcher, start.program, now.1));
    if let Some(address) = start.config.listen {
        let access = web::Access {
            names: start.config.names.clone(),
            ..web::Access::default()
        };
        let bound = http::serve(address, access, service(&start, &live));
        let bound = bound.map_err(|source| DaemonError::Listen { address, source })?;
        (start.log)(&served(bound));
    }
    let mut daemon = Daemon {
        watcher,
        runs,
        runs_due: 0,
        folder,
        random,
        program: start.program,
        stop: start.stop,
        log: start.log,
        drift: Comparison::new(start.drift),
        manager: Manager::of_environment(),
        hours: None,
        live,
        textfile_due: 0,
        unsaved: false,
    };
    daemon.watch()
}

/// The state of a watch, as served.
fn snapshot(watcher: &Watcher, program: &str, now: Moment) -> Snapshot {
    Snapshot {
        metrics: metrics::text(watcher, program, now),
        paths: watcher.status(),
        budget: (watcher.spent(now), watcher.config().month_bytes),
    }
}

struct Daemon<'a> {
    watcher: Watcher,
    folder: Folder,
    random: Random,
    runs: Box<dyn Runs>,
    /// Next attempt to keep runs that were not taken, ns of CLOCK_BOOTTIME.
    runs_due: u64,
    program: &'a str,
    stop: &'a AtomicBool,
    log: &'a mut dyn FnMut(&Text),
    drift: Comparison<'a>,
    manager: Option<Manager>,
    /// The hour in which the values were written last.
    hours: Option<u64>,
    /// The served state.
    live: Live,
    /// Next write of the metrics file, ns of CLOCK_BOOTTIME.
    textfile_due: u64,
    /// True if the last write of the state failed.
    unsaved: bool,
}

impl Daemon<'_> {
    fn watch(&mut self) -> Result<(), DaemonError> {
        if let Some(manager) = &self.manager {
            manager.ready();
        }
        self.keep(true)?;
        while !self.stop.load(Ordering::Relaxed) {
            self.alive();
            let now = Moment::now();
            self.watcher.report_overdue(now);
            let with = (&mut self.watcher, &mut self.random, &self.folder);
            self.drift.at(now, with, self.log);
            if self.runs_due <= now.boot_ns {
                self.runs_due = now.boot_ns + self.runs.every_ns();
                self.runs.retry(self.log);
                self.alive();
            }
            self.send(now)?;
            self.publish(now);
            match self.watcher.next(now) {
                Next::Due(candidate) => self.due(candidate)?,
                Next::Wait(until) => self.wait(now, until),
            }
        }
        if let Some(manager) = &self.manager {
            manager.stopping();
        }
        // The state first: the history may not answer before the service manager's timeout.
        let kept = self.watcher.end(&self.folder);
        self.runs.end(self.log);
        match kept {
            // As during the watch: what was written before remains.
            Err(error) if error.is_full() => (self.log)(&error.text()),
            kept => kept?,
        }
        Ok(())
    }

    /// Renews the metrics.
    fn publish(&mut self, now: Moment) {
        let config = self.watcher.config();
        let file = config.textfile.clone();
        let file = file.filter(|_| self.textfile_due <= now.boot_ns);
        if config.listen.is_none() && file.is_none() {
            return;
        }
        let snapshot = snapshot(&self.watcher, self.program, now);
        if let Some(file) = file {
            self.textfile_due = now.boot_ns + 60 * SECOND_NS;
            // In memory, it is gone after a boot. If it cannot be made, the write says so.
            let _ = file.parent().map(std::fs::create_dir_all);
            let written = files::write(
                &file,
                Readers::ByUmask,
                Existing::Replace,
                snapshot.metrics.as_bytes(),
            );
            if let Err(error) = written {
                (self.log)(&text!(
                    "write {file}: {error}",
                    file = &file,
                    error = &error
                ));
            }
        }
        self.live.set(snapshot);
    }

    fn alive(&self) {
        if let Some(manager) = &self.manager {
            manager.alive();
        }
    }

    /// Sleeps until something is due, at most half of the time within which the service manager
    /// expects a sign of life.
    fn wait(&self, now: Moment, until: u64) {
        let mut end = until;
        if self.watcher.config().textfile.is_some() {
            end = end.min(self.textfile_due);
        }
        if let Some(watchdog) = self.manager.as_ref().and_then(Manager::watchdog) {
            end = end.min(now.boot_ns + watchdog.as_nanos() as u64 / 2);
        }
        let left = end.saturating_sub(sys::clock::boottime_ns());
        if left > 0 {
            sys::signal::sleep(Some(Duration::from_nanos(left)));
        }
    }

    fn due(&mut self, candidate: Candidate) -> Result<(), DaemonError> {
        let path = self.watcher.config().paths[candidate.path].clone();
        let manager = self.manager.as_ref();
        let mut alive = || {
            if let Some(manager) = manager {
                manager.alive();
            }
        };
        let line = match candidate.work {
            Work::Probe => Line::default(),
            _ => real::line(&path, &mut alive),
        };
        let begun = self
            .watcher
            .begin(candidate, line, Moment::now(), &mut self.random);
        let job = match begun {
            Begin::Run(job) => job,
            Begin::Postponed(why) => {
                (self.log)(&postponed(&path.name, candidate.work, &why));
                return self.keep(false).map(|_| ());
            }
        };
        // Before the first byte: the charge must survive anything that follows.
        let kept = self.keep(false)?;
        match job.work {
            Work::Probe => self.probe(job),
            _ if !kept => self.abandon(job, &Postponed::NotSaved),
            _ => self.load(job)?,
        }
        Ok(())
    }

    fn probe(&mut self, job: Job) {
        let path = &self.watcher.config().paths[job.path];
        let probed = real::probe(path, self.program);
        let now = Moment::now();
        match probed {
            Ok(groups) => self.watcher.probed(job, groups, now, &mut self.random),
            Err(error) => {
                let error = error.text();
                (self.log)(&text!(
                    "{path}: the probes failed: {error}",
                    path = &path.name,
                    error = error.clone()
                ));
                self.watcher.failed(job, error, now, &mut self.random);
            }
        }
    }

    fn load(&mut self, job: Job) -> Result<(), DaemonError> {
        let path = self.watcher.config().paths[job.path].clone();
        let runner = Runner {
            program: self.program,
            stop: self.stop,
        };
        let manager = self.manager.as_ref();
        let mut alive = || {
            if let Some(manager) = manager {
                manager.alive();
            }
        };
        let what = (job.work, job.payload, self.watcher.rate_bps(job.path));
        let result = runner.run(&path, what, &mut self.random, &mut alive);
        let (now, work) = (Moment::now(), job.work);
        match result {
            Ok((mut measured, run)) => {
                let place = self.store(&path, &mut measured, &run);
                (self.log)(&text!(
                    "{path}: {work} measured: {run}",
                    path = &path.name,
                    work = work.text(),
                    run = place
                ));
                if let Some(text) = uncounted(&path.name, &run) {
                    (self.log)(&text);
                }
                self.watcher.measured(job, measured, now, &mut self.random);
            }
            // All that was reserved stays charged.
            Err(RealError::Stopped) => {}
            Err(RealError::Slot) => {
                (self.log)(&postponed(&path.name, work, &Postponed::Slot));
                self.abandon(job, &Postponed::Slot);
            }
            Err(error) => {
                let error = error.text();
                (self.log)(&text!(
                    "{path}: {work} failed: {error}",
                    path = &path.name,
                    work = work.text(),
                    error = error.clone()
                ));
                self.watcher.failed(job, error, now, &mut self.random);
            }
        }
        self.keep(true).map(|_| ())
    }

    /// Keeps a run; returns where it is, for the log.
    fn store(&mut self, path: &PathConfig, measured: &mut Measured, run: &Run) -> Value {
        self.alive();
        let place;
        (place, measured.changes) = self.runs.keep(path, run, self.log);
        self.alive();
        match place {
            Place::History(id) => {
                measured.run = Some(id.clone());
                id.into()
            }
            Place::Waits => text!("not in the history yet").into(),
            Place::State => text!("not in the history").into(),
        }
    }

    fn abandon(&mut self, job: Job, why: &Postponed) {
        self.watcher
            .abandon(job, why, Moment::now(), &mut self.random);
    }

    /// Writes the state like [`Self::save`]; false if the disk is full, which may be temporary. The
    /// previously written state remains.
    fn keep(&mut self, values: bool) -> Result<bool, DaemonError> {
        let saved = self.save(values);
        match &saved {
            Err(DaemonError::State(error)) if error.is_full() => {
                if !self.unsaved {
                    (self.log)(&text!(
                        "{error}; probes continue, loads wait for space",
                        error = error.text()
                    ));
                }
                self.unsaved = true;
                Ok(false)
            }
            Err(_) => saved.map(|()| false),
            Ok(()) => {
                if std::mem::take(&mut self.unsaved) {
                    (self.log)(&text!("the state is written again"));
                }
                Ok(true)
            }
        }
    }

    /// Writes the state; with `values`, or once an hour, also the values of weeks.
    fn save(&mut self, values: bool) -> Result<(), DaemonError> {
        let hour = Moment::now().boot_ns / (3600 * SECOND_NS);
        let values = values || self.hours != Some(hour);
        self.watcher.save(&self.folder, values)?;
        if values {
            self.hours = Some(hour);
        }
        // After it: memory is written although the disk may be full.
        Ok(self.watcher.copy(&self.folder, Moment::now())?)
    }

    /// Sends due messages.
    fn send(&mut self, now: Moment) -> Result<(), DaemonError> {
        let Some(message) = self.watcher.outgoing(now).cloned() else {
            return Ok(());
        };
        self.alive();
        message.lines().iter().for_each(&mut *self.log);
        match notify::deliver(&self.watcher.config().alarm, &message) {
            Ok(()) => self.watcher.delivered(message.id),
            Err(error) => {
                (self.log)(&text!(
                    "message {id} not delivered: {error}",
                    id = message.id.to_string(),
                    error = error.text()
                ));
                self.watcher.undelivered(message.id, now);
            }
        }
        self.keep(false).map(|_| ())
    }
}
