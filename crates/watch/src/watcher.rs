//! State machine of the watch: the next action, and the conclusions from measurements. Time,
//! randomness and the state of the line are arguments; nothing here reads a clock or a socket.

mod alarms;
mod results;
mod saved;
mod status;
mod useful;

use std::time::Duration;

use model::{
    text,
    text::{Text, Value},
};
use stats::Random;

use crate::{
    budget::{self, NoBudget, Reservation},
    config::{Config, Metered},
    line::Line,
    message::Message,
    moment::{HOUR_NS, Moment, SECOND_NS},
    path_state::PathState,
    schedule::{self, Pace},
    state::{Saved, Tracks},
};

pub use results::Measured;
pub use status::{FigureStatus, PathStatus};
pub use useful::KeptChange;

/// Maximum duration of a run, ns: it is also charged to the month in which it may end.
const LONGEST_NS: u64 = 2 * HOUR_NS;
/// Mean postponement on a busy line.
const BUSY: Duration = Duration::from_secs(300);
/// Postponement when a budget is spent.
const SPENT: Duration = Duration::from_secs(3600);
/// Maximum sleep of the loop.
const NAP_NS: u64 = 60 * SECOND_NS;

/// Kind of measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    /// The full plan.
    Full,
    /// A repeat of a suspicious load.
    Retest,
    /// A short load.
    Load,
    /// A group of probes.
    Probe,
}

impl Work {
    /// Its name for people.
    pub fn text(self) -> Text {
        match self {
            Self::Full => text!("full plan"),
            Self::Retest => text!("repeated load"),
            Self::Load => text!("short load"),
            Self::Probe => text!("probes"),
        }
    }
}

/// A due action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Number of the path in the config.
    pub path: usize,
    /// Kind of measurement.
    pub work: Work,
}

/// Next action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This is due; see [`Watcher::begin`].
    Due(Candidate),
    /// Nothing until then, ns of CLOCK_BOOTTIME.
    Wait(u64),
}

/// A measurement to run, with its maximum cost.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct Job {
    /// Number of the path in the config.
    pub path: usize,
    /// Kind of measurement.
    pub work: Work,
    /// Payload bytes that it may move at most; probes are charged by the hour.
    pub payload: u64,
    reservation: Option<Reservation>,
}

/// Decision whether a candidate is measured now.
#[derive(Debug, PartialEq)]
pub enum Begin {
    /// It is.
    Run(Job),
    /// It is not.
    Postponed(Postponed),
}

/// Reason for postponing a measurement.
#[derive(Clone, Debug, PartialEq)]
pub enum Postponed {
    /// The line costs by the byte.
    Metered,
    /// Others use it, at this rate, bit/s.
    Busy(f64),
    /// The bytes are spent.
    NoBudget(NoBudget),
    /// Its possible cost cannot be charged.
    NotSaved,
    /// Another watch loads the far end.
    Slot,
}

impl Postponed {
    /// The reason with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::Metered => text!("the line is metered; metered = \"no\" measures anyway"),
            Self::Busy(others) => text!(
                "the line is busy: others use {rate} of it",
                rate = Value::Bps(*others)
            ),
            Self::NoBudget(lack) => lack.text(),
            Self::NotSaved => text!("the state cannot be written"),
            Self::Slot => text!("another watch loads the far end"),
        }
    }
}

impl From<NoBudget> for Postponed {
    fn from(lack: NoBudget) -> Self {
        Self::NoBudget(lack)
    }
}

/// The watch.
pub struct Watcher {
    config: Config,
    paces: Vec<Pace>,
    saved: Saved,
    tracks: Tracks,
    /// Bytes for the probes of this hour, of each path, with its end, ns of CLOCK_BOOTTIME.
    allotted: Vec<Option<Allotment>>,
    /// Messages whose delivery failed: number, tries, when to try again.
    late: Vec<(u64, u32, u64)>,
}

/// Bytes for the probes of an hour.
struct Allotment {
    reservation: Reservation,
    ends: u64,
    used: u64,
}

impl Watcher {
    /// The config.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the candidate due now, or the time of the next one.
    pub fn next(&self, now: Moment) -> Next {
        let paths = self.config.paths.iter().enumerate();
        let states = paths.filter_map(|(path, c)| Some((path, self.saved.paths.get(&c.name)?)));
        let due = states.flat_map(|(path, state)| {
            let all = [
                (state.full_due, Work::Full),
                (state.retest.due, Work::Retest),
                (state.load_due, Work::Load),
                (state.probe_due, Work::Probe),
            ];
            let due = all.into_iter().filter_map(|(at, work)| Some((at?, work)));
            due.map(move |(at, work)| (at, Candidate { path, work }))
        });
        let first = due.min_by_key(|(at, c)| (*at, c.work, c.path));
        match first {
            Some((at, candidate)) if at <= now.boot_ns => Next::Due(candidate),
            Some((at, _)) => Next::Wait(at.min(now.boot_ns + NAP_NS)),
            None => Next::Wait(now.boot_ns + NAP_NS),
        }
    }

    /// Decides whether a candidate is measured now; if so, its bytes are charged, and the state is
    /// to be saved before it starts.
    pub fn begin(
        &mut self,
        candidate: Candidate,
        line: Line,
        now: Moment,
        random: &mut Random,
    ) -> Begin {
        let Candidate { path, work } = candidate;
        let begun = match work {
            Work::Probe => self.allot(path, now),
            _ => self.reserve(candidate, line, now),
        };
        match begun {
            Ok(job) => Begin::Run(job),
            Err(why) => {
                self.postpone(candidate, &why, now, random);
                Begin::Postponed(why)
            }
        }
    }

    fn reserve(
        &mut self,
        Candidate { path, work }: Candidate,
        line: Line,
        now: Moment,
    ) -> Result<Job, Postponed> {
        let config = &self.config.paths[path];
        let metered = match config.metered {
            Metered::Auto => line.metered,
            Metered::Yes => true,
            Metered::No => false,
        };
        if metered {
            return Err(Postponed::Metered);
        }
        if !line.is_quiet(self.rate_bps(path)) {
            return Err(Postponed::Busy(line.others_bps.unwrap_or(0.0)));
        }
        let bytes = match work {
            Work::Full => config.full_bytes,
            _ => config.load_bytes,
        };
        let reservation = self.charge(path, bytes, now)?;
        Ok(Job {
            path,
            work,
            payload: budget::payload(bytes),
            reservation: Some(reservation),
        })
    }

    fn charge(&mut self, path: usize, bytes: u64, now: Moment) -> Result<Reservation, NoBudget> {
        let config = &self.config.paths[path];
        let mut months = vec![now.month(), now.after(LONGEST_NS).month()];
        months.dedup();
        let limits = (config.month_bytes, self.config.month_bytes);
        self.saved
            .ledger
            .reserve(&months, &config.name, bytes, limits)
    }

    /// Probes are charged an hour ahead, so that the state is not written for each of them.
    fn allot(&mut self, path: usize, now: Moment) -> Result<Job, Postponed> {
        let cost = schedule::probe_cost(&self.config.paths[path]);
        let spent = |a: &Allotment| a.ends <= now.boot_ns || a.used + cost > a.reservation.bytes;
        if let Some(old) = self.allotted[path].take_if(|a| spent(a)) {
            self.saved.ledger.settle(old.reservation, old.used);
        }
        if self.allotted[path].is_none() {
            let every = self.paces[path].probe.unwrap_or(BUSY);
            // Waits are half to one and a half of the mean.
            let groups = (2.0 * 3600.0 / every.as_secs_f64()).ceil().max(1.0) as u64;
            let reservation = self.charge(path, groups * cost, now)?;
            let ends = now.boot_ns + HOUR_NS;
            self.allotted[path] = Some(Allotment {
                reservation,
                ends,
                used: 0,
            });
        }
        if let Some(allotment) = &mut self.allotted[path] {
            allotment.used += cost;
        }
        Ok(Job {
            path,
            work: Work::Probe,
            payload: 0,
            reservation: None,
        })
    }

    fn postpone(
        &mut self,
        Candidate { path, work }: Candidate,
        why: &Postponed,
        now: Moment,
        random: &mut Random,
    ) {
        let mean = match why {
            Postponed::Metered => self.mean(path, work).max(SPENT),
            Postponed::Busy(_) | Postponed::NotSaved | Postponed::Slot => BUSY,
            Postponed::NoBudget(_) => SPENT,
        };
        let at = now.boot_ns + schedule::wait(mean, random);
        let state = self.state(path);
        match (work, why) {
            (Work::Probe, _) => state.probe_due = Some(at),
            (Work::Load, _) => state.load_due = Some(at),
            (Work::Full, _) => state.full_due = Some(at),
            (Work::Retest, Postponed::Busy(_) | Postponed::NotSaved | Postponed::Slot) => {
                state.retest.due = Some(at)
            }
            // The next load will raise the suspicion again.
            (Work::Retest, _) => state.retest.due = None,
        }
        if work == Work::Full
            && !matches!(
                why,
                Postponed::Busy(_) | Postponed::NotSaved | Postponed::Slot
            )
        {
            let now = self.even(now);
            self.report(path, None, now);
        }
    }

    /// Mean time between two of a kind.
    fn mean(&self, path: usize, work: Work) -> Duration {
        let pace = &self.paces[path];
        let every = match work {
            Work::Probe => pace.probe,
            Work::Load | Work::Retest => pace.load,
            Work::Full => pace.full,
        };
        every.unwrap_or(SPENT)
    }

    /// A moment by the calendar of the watch, which has no jumps of the host's clock.
    fn even(&mut self, now: Moment) -> Moment {
        self.saved.calendar.see(now);
        self.saved.calendar.even(now)
    }

    /// Returns a time that is kept for a path, µs since 1970, by the host's clock.
    pub(crate) fn of_host_us(&self, even_us: u64) -> u64 {
        self.saved.calendar.of_host_us(even_us)
    }

    fn state(&mut self, path: usize) -> &mut PathState {
        let name = &self.config.paths[path].name;
        self.saved.paths.entry(name.clone()).or_default()
    }

    /// Schedules the next of a kind after a measurement or a failure.
    fn again(&mut self, path: usize, work: Work, now: Moment, random: &mut Random) {
        let pace = self.paces[path];
        let after = |every: Option<Duration>, random: &mut Random| {
            every.map(|every| now.boot_ns + schedule::wait(every, random))
        };
        let (load, full) = (after(pace.load, random), after(pace.full, random));
        let state = self.state(path);
        match work {
            Work::Probe => {
                let probe = pace.probe.map(|every| schedule::short_wait(every, random));
                state.probe_due = probe.map(|wait| now.boot_ns + wait);
            }
            Work::Load => state.load_due = load,
            Work::Full => state.full_due = full,
            Work::Retest => {
                state.retest.left = state.retest.left.saturating_sub(1);
                let wait = schedule::retest_wait(random);
                state.retest.due = (state.retest.left > 0).then_some(now.boot_ns + wait);
            }
        }
    }

    /// Returns the capacity of a path's line, bit/s: its configured rate, otherwise the highest
    /// rate of a load so far.
    pub(crate) fn rate_bps(&self, path: usize) -> Option<f64> {
        let config = &self.config.paths[path];
        let state = self.saved.paths.get(&config.name);
        let given = config.rate.map(|rate| rate.bps() as f64);
        let shown = state.and_then(|state| state.rate_bps);
        given.or(shown)
    }

    /// Returns the stored state of a path.
    pub(crate) fn state_of(&self, path: &str) -> Option<&PathState> {
        self.saved.paths.get(path)
    }

    /// Bytes spent in this month, of all paths.
    pub fn spent(&self, now: Moment) -> u64 {
        self.saved.ledger.spent(now.month()).all
    }

    /// Messages that wait to be sent.
    pub fn waiting(&self) -> &[Message] {
        &self.saved.outbox
    }
}
