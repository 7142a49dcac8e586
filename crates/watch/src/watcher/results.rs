//! Results of measurements, as values of the time series that are judged.

use std::collections::BTreeMap;

use analysis::probes;
use model::{
    net::{IpVersion, Layer},
    text::Text,
    watch::WatchFigure,
};
use stats::Random;

use super::{Candidate, Job, Postponed, Watcher, Work};
use crate::{
    budget,
    figures::{Figure, Probed},
    lasting::{self, Track, Value, Verdict},
    message::Cause,
    moment::{HOUR_NS, Moment},
    plan::TooSmall,
};

/// Minimum number of probes per hour for a median.
const FEWEST: usize = 20;

/// Results of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// The run in the history; absent if it could not be stored.
    pub run: Option<String>,
    /// Payload bytes that it moved; absent = not known.
    pub payload: Option<u64>,
    /// The watched figures.
    pub figures: Vec<(Figure, f64)>,
    /// Rate of the line as shown by loads that their bytes ended early, bit/s.
    pub cut_bps: Option<f64>,
    /// Set if the bytes of a short load were too few for a goodput in each direction.
    pub too_small: Option<TooSmall>,
    /// Facts of both hosts by name.
    pub facts: BTreeMap<String, String>,
    /// Causes, by `explain`.
    pub causes: Vec<Cause>,
    /// Changes of `tune` on this host: when they were applied, µs since 1970, and their ids.
    pub changes: Vec<(u64, String)>,
}

impl Watcher {
    /// Takes a group of probes.
    pub fn probed(&mut self, job: Job, groups: Vec<Probed>, now: Moment, random: &mut Random) {
        let (path, now) = (job.path, self.even(now));
        self.again(path, Work::Probe, now, random);
        self.answered(path, now);
        self.close_hour(path, now, random);
        let state = self.state(path);
        if state.hour.began.is_none() {
            state.hour.began = Some((now.boot_ns, now.wall_us));
        }
        for group in groups {
            self.state(path).add(group);
        }
    }

    /// Processes the results of a run.
    pub fn measured(&mut self, job: Job, measured: Measured, now: Moment, random: &mut Random) {
        let (path, work, now) = (job.path, job.work, self.even(now));
        self.settle(job, measured.payload);
        self.again(path, work, now, random);
        self.answered(path, now);
        let state = self.state(path);
        let had_news = state.news_us.is_some();
        state.learn(measured.facts, now.wall_us);
        if state.news_us.is_some() && !had_news && work != Work::Full {
            state.full_due = Some(now.boot_ns);
        }
        state.run = measured.run.clone();
        match work {
            Work::Full => {
                state.full_us = Some(now.wall_us);
                state.causes.clone_from(&measured.causes);
            }
            _ => state.load_us = Some(now.wall_us),
        }
        if work == Work::Retest {
            state.retest.done_us = Some(now.wall_us);
        }
        if work != Work::Full {
            self.sized(path, measured.too_small, now);
        }
        let state = self.state(path);
        let goodputs = measured.figures.iter();
        let goodputs = goodputs.filter(|(f, _)| f.kind == WatchFigure::Goodput);
        let shown = measured.cut_bps.into_iter().chain(state.rate_bps);
        let highest = goodputs.map(|(_, value)| *value).chain(shown);
        state.rate_bps = highest.reduce(f64::max);
        for (figure, value) in measured.figures {
            self.state(path).note(figure, value);
            // Loads of the full plan last longer: another figure of the same name.
            if work != Work::Full {
                self.add(path, figure, value, now, random);
            }
        }
        if work == Work::Full {
            let after = (measured.run, measured.causes, measured.changes);
            self.report(path, Some(after), now);
        }
    }

    /// A measurement failed. The bytes it moved are unknown, so that the whole reservation counts
    /// as spent.
    pub fn failed(&mut self, job: Job, error: Text, now: Moment, random: &mut Random) {
        let (path, work, now) = (job.path, job.work, self.even(now));
        self.settle(job, None);
        self.again(path, work, now, random);
        self.unanswered(path, error, now);
        if work == Work::Full {
            self.report(path, None, now);
        }
    }

    /// Abandons a load before anything was sent: its charge could not be saved, or the far end
    /// refused it.
    pub fn abandon(&mut self, job: Job, why: &Postponed, now: Moment, random: &mut Random) {
        let (path, work) = (job.path, job.work);
        if let Some(reservation) = job.reservation {
            self.saved.ledger.settle(reservation, 0);
        }
        let candidate = Candidate { path, work };
        self.postpone(candidate, why, now, random);
    }

    fn settle(&mut self, job: Job, payload: Option<u64>) {
        let Some(reservation) = job.reservation else {
            return;
        };
        let used = payload.map_or(reservation.bytes, budget::cost);
        self.saved.ledger.settle(reservation, used);
    }

    /// Ends a completed hour of probes: its median and its share of lost ones are values.
    fn close_hour(&mut self, path: usize, now: Moment, random: &mut Random) {
        let state = self.state(path);
        let over = |(boot_ns, _): &(u64, u64)| now.boot_ns.saturating_sub(*boot_ns) >= HOUR_NS;
        if !state.hour.began.as_ref().is_some_and(over) {
            return;
        }
        let hour = std::mem::take(&mut state.hour);
        for group in hour.groups {
            let answered = group.rtt_s.len() as u64;
            let sent = answered + group.lost;
            let of = |kind| of_probes(kind, group.layer, group.family);
            let lost = probes::lost(sent, answered).filter(|_| sent >= FEWEST as u64);
            if let Some(lost) = lost {
                self.add(path, of(WatchFigure::Lost), lost, now, random);
            }
            let median = stats::median(&group.rtt_s).filter(|_| group.rtt_s.len() >= FEWEST);
            if let Some(rtt_s) = median {
                self.add(path, of(WatchFigure::Rtt), rtt_s, now, random);
            }
        }
    }

    /// Adds a value, and judges the figure with it.
    fn add(&mut self, path: usize, figure: Figure, value: f64, now: Moment, random: &mut Random) {
        self.state(path).note(figure, value);
        let change = self.config.alarm.change;
        let track = self.track(path, figure);
        track.push(Value {
            at_us: now.wall_us,
            value,
        });
        let verdict = lasting::judge(track, figure.kind, change, now.offset_s);
        match verdict {
            Verdict::Same => {}
            Verdict::Suspected(_) if figure.kind.is_of_probes() => {}
            Verdict::Suspected(_) => self.suspect(path, now, random),
            Verdict::Changed(shift) if self.is_confirmed(path, figure, &shift) => {
                self.track(path, figure).begin(shift.at_us);
                self.changed(path, figure, &shift, now);
            }
            Verdict::Changed(_) => self.suspect(path, now, random),
        }
    }

    fn track(&mut self, path: usize, figure: Figure) -> &mut Track {
        let name = self.config.paths[path].name.clone();
        let of_path = self.tracks.entry(name).or_default();
        let at = of_path.iter().position(|(own, _)| *own == figure);
        let at = at.unwrap_or_else(|| {
            of_path.push((figure, Track::default()));
            of_path.len() - 1
        });
        &mut of_path[at].1
    }
}

fn of_probes(kind: WatchFigure, layer: Layer, family: IpVersion) -> Figure {
    Figure {
        kind,
        layer,
        family,
        direction: None,
    }
}
