//! From a saved state to a running watch, and back.

use std::time::Duration;

use stats::Random;

use super::{LONGEST_NS, Watcher};
use crate::{
    config::Config,
    moment::{DAY_NS, Moment, SECOND_NS},
    path_state::PathState,
    schedule::{self, Pace},
    state::{Folder, OnDisk, Saved, StateError, Tracks},
};

/// A due time further away than this many means is from another boot.
const FARTHEST: f64 = 2.6;

impl Watcher {
    /// A watch without saved state.
    pub fn new(config: Config, boot: &str, now: Moment, random: &mut Random) -> Self {
        Self::restore(config, Saved::default(), Tracks::new(), (boot, now), random)
    }

    /// A watch that continues where a saved one ended. `boot`: identity of this boot.
    fn restore(
        config: Config,
        mut saved: Saved,
        mut tracks: Tracks,
        (boot, now): (&str, Moment),
        random: &mut Random,
    ) -> Self {
        let paces = schedule::paces(&config);
        let known = |name: &String| config.paths.iter().any(|path| path.name == *name);
        saved.paths.retain(|name, _| known(name));
        tracks.retain(|name, _| known(name));
        let same = saved.boot == boot;
        boot.clone_into(&mut saved.boot);
        match same {
            true => saved.calendar.see(now),
            false => {
                saved.calendar.restart(now);
                saved.on_disk = None;
            }
        }
        let now = saved.calendar.even(now);
        for (path, pace) in config.paths.iter().zip(&paces) {
            let state = saved.paths.entry(path.name.clone()).or_default();
            dues(state, pace, same, now, random);
        }
        Self {
            allotted: config.paths.iter().map(|_| None).collect(),
            config,
            paces,
            saved,
            tracks,
            late: Vec::new(),
        }
    }

    /// A watch that continues from the state in a folder. `boot`: identity of this boot, to which
    /// due times refer.
    ///
    /// # Errors
    /// The state cannot be read, or is of a newer program.
    pub fn open(
        folder: &Folder,
        config: Config,
        (boot, now): (&str, Moment),
        random: &mut Random,
    ) -> Result<Self, StateError> {
        let (saved, tracks) = folder.read()?;
        Ok(Self::restore(config, saved, tracks, (boot, now), random))
    }

    /// Writes the state; the values of weeks only with `values`.
    ///
    /// # Errors
    /// The folder cannot be written; its files are unchanged.
    pub fn save(&mut self, folder: &Folder, values: bool) -> Result<(), StateError> {
        self.saved.writes += 1;
        if values {
            folder.write_tracks(&self.tracks)?;
        }
        folder.write(&self.saved)
    }

    /// Copies the state from memory to disk, if there is such a folder and it is time: once a day,
    /// and before bytes are spent that the copy has not charged. It has those of the coming day
    /// charged, as far as the budgets allow.
    ///
    /// # Errors
    /// The folder cannot be written; its files are unchanged.
    pub fn copy(&mut self, folder: &Folder, now: Moment) -> Result<(), StateError> {
        let is_recent = |disk: &OnDisk| {
            now.boot_ns < disk.boot_ns.saturating_add(DAY_NS)
                && disk.ledger.covers(&self.saved.ledger)
        };
        if folder.runtime().is_none() || self.saved.on_disk.as_ref().is_some_and(is_recent) {
            return Ok(());
        }
        let mut copy = Saved {
            on_disk: None,
            ..self.saved.clone()
        };
        let mut months = vec![now.month(), now.after(DAY_NS + LONGEST_NS).month()];
        months.dedup();
        for (path, pace) in self.config.paths.iter().zip(&self.paces) {
            let limits = (path.month_bytes, self.config.month_bytes);
            let bytes = schedule::cost_of_day(path, pace);
            copy.ledger.advance(&months, &path.name, bytes, limits);
        }
        folder.write_to_disk(&copy, &self.tracks)?;
        self.saved.on_disk = Some(OnDisk {
            boot_ns: now.boot_ns,
            ledger: copy.ledger,
        });
        Ok(())
    }

    /// Copies the state as it is, when the watch ends: nothing more will be spent.
    ///
    /// # Errors
    /// The folder cannot be written; its files are unchanged.
    pub fn end(&mut self, folder: &Folder) -> Result<(), StateError> {
        self.saved.on_disk = None;
        self.save(folder, true)?;
        match folder.runtime() {
            Some(_) => folder.write_to_disk(&self.saved, &self.tracks),
            None => Ok(()),
        }
    }

    /// Returns the paces of all paths.
    pub fn paces(&self) -> &[Pace] {
        &self.paces
    }
}

/// Sets the due times: as saved, if they are valid in this boot and not out of range.
fn dues(state: &mut PathState, pace: &Pace, same: bool, now: Moment, random: &mut Random) {
    let kept = |due: Option<u64>, every: Duration| {
        let farthest = now.boot_ns + (every.as_nanos() as f64 * FARTHEST) as u64;
        due.filter(|due| same && *due <= farthest)
    };
    // After a reboot, the remaining wait since the last measurement, by the calendar.
    let left = |every: Duration, last_us: Option<u64>, random: &mut Random| {
        let wait = schedule::wait(every, random);
        let gone = last_us.map_or(u64::MAX, |last| now.wall_us.saturating_sub(last));
        let gone_ns = gone.saturating_mul(1000);
        // Not all at once after a start.
        now.boot_ns + wait.saturating_sub(gone_ns).max(spread(every, random))
    };
    let (load_us, full_us) = (state.load_us, state.full_us);
    let load = pace
        .load
        .map(|every| kept(state.load_due, every).unwrap_or_else(|| left(every, load_us, random)));
    let full = pace
        .full
        .map(|every| kept(state.full_due, every).unwrap_or_else(|| left(every, full_us, random)));
    // A run that a change called for, on a path without a schedule for it.
    let wanted = state.incident.is_some().then_some(now.boot_ns);
    state.load_due = load;
    state.full_due = wanted.or(full);
    state.probe_due = pace.probe.map(|every| {
        kept(state.probe_due, every)
            .unwrap_or_else(|| now.boot_ns + schedule::short_wait(every, random) / 8)
    });
    if !same {
        state.retest.due = state.retest.due.map(|_| now.boot_ns + 300 * SECOND_NS);
        if let Some(incident) = &mut state.incident {
            incident.report_by = now.boot_ns + 3600 * SECOND_NS;
        }
    }
}

/// A random part of a twelfth of the mean, ns.
fn spread(every: Duration, random: &mut Random) -> u64 {
    (every.as_nanos() as f64 / 12.0 * random.unit()) as u64
}
