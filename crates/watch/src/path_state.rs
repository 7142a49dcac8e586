//! State of a path between two saves, without its values.

use std::collections::BTreeMap;

use model::{
    net::{IpVersion, Layer},
    text::Text,
};
use serde::{Deserialize, Serialize};

use crate::{
    figures::{Figure, Probed},
    lasting::Shift,
    message::{Cause, FactChange, FigureChange},
    plan::TooSmall,
};

/// Maximum number of stored changes of facts.
const FACTS: usize = 200;

/// Facts of a host whose change is reported even if no figure changes with it.
const NEWS: [&str; 2] = ["kernel", "congestion.default"];

/// Returns true if a fact, such as `near.kernel`, is one of [`NEWS`].
fn is_news(fact: &str) -> bool {
    let (_, name) = fact.split_once('.').unwrap_or_default();
    NEWS.contains(&name)
}

/// Stored state of a path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PathState {
    /// Next group of probes, ns of CLOCK_BOOTTIME.
    pub(crate) probe_due: Option<u64>,
    /// Next load, likewise.
    pub(crate) load_due: Option<u64>,
    /// Next run of the full plan, likewise.
    pub(crate) full_due: Option<u64>,
    /// Time of the last load and of the last full plan, µs since 1970.
    pub(crate) load_us: Option<u64>,
    /// See `load_us`.
    pub(crate) full_us: Option<u64>,
    /// Repeats of a suspicious load.
    pub(crate) retest: Retest,
    /// Facts of both hosts at the last run.
    pub(crate) facts: BTreeMap<String, String>,
    /// Changes of facts, oldest first.
    pub(crate) fact_changes: Vec<FactChange>,
    /// The first of the changes of [`NEWS`] that are not reported yet, µs since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) news_us: Option<u64>,
    /// Figures that changed and are about to be reported.
    pub(crate) incident: Option<Incident>,
    /// Start of the last reported change, µs since 1970.
    pub(crate) reported_us: Option<u64>,
    /// When that was reported, µs since 1970: hours after the start, or days.
    #[serde(default)]
    pub(crate) told_us: Option<u64>,
    /// Reachability of the far end.
    pub(crate) reach: Reach,
    /// The highest rate of a load so far, bit/s: a lower bound of the line's capacity.
    pub(crate) rate_bps: Option<f64>,
    /// The last run in the history.
    pub(crate) run: Option<String>,
    /// The last value of each figure.
    pub(crate) latest: Vec<(Figure, f64)>,
    /// Causes found by the last run of the full plan.
    pub(crate) causes: Vec<Cause>,
    /// Short loads that measure nothing within their bytes, as last reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) too_small: Option<TooSmall>,
    /// Probes of this hour.
    #[serde(skip)]
    pub(crate) hour: Hour,
    /// Probes since this process began.
    #[serde(skip)]
    pub(crate) totals: Vec<Totals>,
}

/// Repeats of a suspicious load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Retest {
    /// Number of repeats left.
    pub(crate) left: u32,
    /// Next repeat, ns of CLOCK_BOOTTIME.
    pub(crate) due: Option<u64>,
    /// Day since 1970 on which the rounds were.
    pub(crate) day: u64,
    /// Rounds on that day.
    pub(crate) rounds: u32,
    /// Last repeat, µs since 1970.
    pub(crate) done_us: Option<u64>,
}

/// Figures that changed at one time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Incident {
    /// Start, µs since 1970.
    pub(crate) at_us: u64,
    /// Detection of the first change.
    pub(crate) found_us: u64,
    /// Deadline after which it is reported even without a run of the full plan, ns of
    /// CLOCK_BOOTTIME.
    pub(crate) report_by: u64,
    pub(crate) figures: Vec<FigureChange>,
}

/// Reachability of the far end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reach {
    /// Failures since it last succeeded.
    pub(crate) failures: u32,
    /// Time of the first failure, µs since 1970.
    pub(crate) since_us: Option<u64>,
    /// True if that was reported.
    pub(crate) reported: bool,
    /// The last error.
    pub(crate) error: Option<Text>,
    /// True if it has answered this process.
    #[serde(skip)]
    pub(crate) answered: bool,
}

impl Reach {
    /// Whether the far end answers; unknown until it was asked.
    pub(crate) fn is_up(&self) -> Option<bool> {
        match self.failures {
            0 => self.answered.then_some(true),
            _ => Some(false),
        }
    }
}

/// Probes of an hour.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Hour {
    /// Start, ns of CLOCK_BOOTTIME and µs since 1970.
    pub(crate) began: Option<(u64, u64)>,
    pub(crate) groups: Vec<Probed>,
}

/// Probes of a layer since this process began, for counters and a histogram.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Totals {
    pub(crate) layer: Layer,
    pub(crate) family: IpVersion,
    pub(crate) lost: u64,
    /// Sum of the round trips, s.
    pub(crate) sum_s: f64,
    /// Round trips up to each bound of [`BUCKETS`], and the longer ones at the end.
    pub(crate) buckets: [u64; BUCKETS.len() + 1],
}

/// Upper bounds of the buckets of round trips, s: 50 µs, doubled nineteen times, as in
/// smokeping_prober.
pub(crate) const BUCKETS: [f64; 20] = {
    let mut bounds = [0.000_05; 20];
    let mut at = 1;
    while at < 20 {
        bounds[at] = 2.0 * bounds[at - 1];
        at += 1;
    }
    bounds
};

impl PathState {
    /// Adds a group of probes to this hour and to the totals.
    pub(crate) fn add(&mut self, group: Probed) {
        let own = |t: &Totals| (t.layer, t.family) == (group.layer, group.family);
        let at = self.totals.iter().position(own).unwrap_or_else(|| {
            self.totals.push(Totals {
                layer: group.layer,
                family: group.family,
                lost: 0,
                sum_s: 0.0,
                buckets: [0; BUCKETS.len() + 1],
            });
            self.totals.len() - 1
        });
        let totals = &mut self.totals[at];
        totals.lost += group.lost;
        for &rtt in &group.rtt_s {
            totals.sum_s += rtt;
            totals.buckets[BUCKETS.partition_point(|bound| *bound < rtt)] += 1;
        }
        let same = |g: &&mut Probed| (g.layer, g.family) == (group.layer, group.family);
        match self.hour.groups.iter_mut().find(same) {
            Some(own) => {
                own.rtt_s.extend(group.rtt_s);
                own.lost += group.lost;
            }
            None => self.hour.groups.push(group),
        }
    }

    /// Stores the facts of a run, and the changes.
    pub(crate) fn learn(&mut self, facts: BTreeMap<String, String>, at_us: u64) {
        if !self.facts.is_empty() {
            let names: std::collections::BTreeSet<&String> =
                self.facts.keys().chain(facts.keys()).collect();
            for name in names {
                let (before, after) = (self.facts.get(name), facts.get(name));
                if before != after {
                    if is_news(name) && before.is_some() && after.is_some() {
                        self.news_us.get_or_insert(at_us);
                    }
                    self.fact_changes.push(FactChange {
                        at_us,
                        fact: name.clone(),
                        before: before.cloned(),
                        after: after.cloned(),
                    });
                }
            }
            let surplus = self.fact_changes.len().saturating_sub(FACTS);
            self.fact_changes.drain(..surplus);
        }
        self.facts = facts;
    }

    /// The changes of [`NEWS`] since a time, each with the value before and the present one. One
    /// that was taken back is none.
    pub(crate) fn news(&self, from_us: u64) -> Vec<FactChange> {
        let mut all: Vec<FactChange> = Vec::new();
        let since = self.fact_changes.iter().filter(|c| c.at_us >= from_us);
        for change in since.filter(|change| is_news(&change.fact)) {
            match all.iter_mut().find(|own| own.fact == change.fact) {
                Some(own) => own.after.clone_from(&change.after),
                None => all.push(change.clone()),
            }
        }
        all.retain(|change| change.before != change.after);
        all
    }

    /// Notes the latest value of a figure.
    pub(crate) fn note(&mut self, figure: Figure, value: f64) {
        match self.latest.iter_mut().find(|(own, _)| *own == figure) {
            Some((_, latest)) => *latest = value,
            None => self.latest.push((figure, value)),
        }
    }
}

impl FigureChange {
    pub(crate) fn of(figure: Figure, shift: &Shift) -> Self {
        Self {
            figure,
            before: shift.before,
            after: shift.after,
            change: shift.share(),
        }
    }
}
