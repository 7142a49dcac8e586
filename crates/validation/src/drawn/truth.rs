//! The truth of a path, by counterfactual cells: the same path without one of its faults.
//!
//! A fault is a cause if its removal recovers a relevant amount. Goodput is relevant from [`SHARE`]
//! of the path's capacity without the fault, latency if the load adds at least [`ADDED_US`] (three
//! packets on slow lines) that fall to less than half. Both must hold in the mean of the seeds, and
//! half of it in each. A fault that recovers less, down to half of that share, is allowed and not
//! required.
//!
//! Faults can mask each other: removing a single one recovers nothing while another one limits as
//! much. So if the removal of all recovers more than that of any single one, each fault is also
//! measured alone: a fault with a relevant cost alone is a cause if there is no other, and allowed
//! otherwise.

mod judged;
mod probes;

use std::collections::{BTreeMap, BTreeSet};

use model::{cause::CauseCode, cell::Cell, net::Direction};
use serde::{Deserialize, Serialize};

use super::fault::{self, Fault};

pub(super) use judged::{allows, is_relevant};
pub use probes::{Figures, Probe};

/// Relevant share of goodput.
pub const SHARE: f64 = 0.1;
/// Relevant delay added by a load, µs: the boundary of grades A and B of common tests.
pub const ADDED_US: f64 = 30_000.0;
/// Share of goodput up to which a path may also be called healthy: a path counts as full from 85 %.
pub const FULL: f64 = 0.15;

/// True faults of a path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// The causes, that with the largest weight first; none on a healthy path.
    pub causes: Vec<Cause>,
    /// Codes that are allowed, and count neither as right nor as wrong.
    pub also: BTreeSet<CauseCode>,
    /// Codes that are allowed in some directions: of faults with a small effect there, also if
    /// another fault with the same code is a cause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<Allowed>,
    /// Share of goodput that the removal of all faults recovers, the larger of both directions.
    pub recovers: f64,
    /// Every fault of the spec with the effect of its removal.
    pub effects: Vec<Effect>,
}

/// A code that is allowed in some directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Allowed {
    /// The code.
    pub code: CauseCode,
    /// The directions; empty if its fault has none.
    pub directions: Vec<Direction>,
}

/// A fault with a relevant effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// The fault.
    pub fault: Fault,
    /// Codes of findings that name it; none if no rule does.
    pub codes: Vec<CauseCode>,
    /// Directions in which a finding may place it.
    pub directions: Vec<Direction>,
    /// Its share of the recovery by all causes; they sum up to 1.
    pub weight: f64,
    /// True if removing only this fault recovers nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub masked: bool,
}

/// Effect of removing a fault on a load in one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// The fault.
    pub fault: Fault,
    /// Direction of the load.
    pub direction: Direction,
    /// Goodput with it, bit/s, mean of the seeds.
    pub goodput_bps: f64,
    /// Share of the goodput without it, for each seed.
    pub share: Vec<f64>,
    /// Delay that the load adds with and without it, µs, for each seed.
    pub added_us: Vec<[f64; 2]>,
    /// Share of goodput that it costs alone on the path without the other faults, for each seed;
    /// empty if not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alone: Vec<f64>,
}

/// A path whose truth is being derived.
#[derive(Clone, Debug)]
pub struct Trial<'a> {
    cell: &'a Cell,
    faults: Vec<Fault>,
    known: BTreeMap<Probe, Figures>,
}

impl<'a> Trial<'a> {
    /// Starts without measurements.
    pub fn new(cell: &'a Cell) -> Self {
        Self {
            cell,
            faults: fault::of(cell),
            known: BTreeMap::new(),
        }
    }

    /// The cells to run next, with their names for [`Self::add`]; empty at the end.
    pub fn next(&self) -> Vec<(Probe, Cell)> {
        let mut all = BTreeSet::new();
        for direction in [Direction::Down, Direction::Up] {
            let faults = self.acting(direction);
            if faults.is_empty() {
                continue;
            }
            all.extend(Probe::each_seed(direction, &[]));
            for fault in &faults {
                all.extend(Probe::each_seed(direction, &[*fault]));
            }
            let goodput = of_goodput(&faults);
            if goodput.len() > 1 {
                all.extend(Probe::each_seed(direction, &goodput));
            }
            if self.is_masked(direction) {
                for fault in &goodput {
                    all.extend(Probe::each_seed(direction, &without(&goodput, *fault)));
                }
            }
        }
        let open = all.into_iter().filter(|p| !self.known.contains_key(p));
        open.map(|probe| (probe.clone(), probe.cell(self.cell)))
            .collect()
    }

    /// Adds the figures of a cell.
    pub fn add(&mut self, probe: Probe, figures: Figures) {
        self.known.insert(probe, figures);
    }

    /// The truth from the measurements.
    pub fn truth(&self) -> Truth {
        let (mut recovers, mut effects) = (0.0_f64, Vec::new());
        for direction in [Direction::Down, Direction::Up] {
            let faults = self.acting(direction);
            let goodput = of_goodput(&faults);
            recovers = recovers.max(mean(&self.shares(direction, &[], &goodput)));
            let masked = self.is_masked(direction);
            let effect = |fault| self.effect(direction, fault, masked, &goodput);
            effects.extend(faults.into_iter().map(effect));
        }
        Truth::of(self.cell, recovers, effects)
    }

    fn acting(&self, direction: Direction) -> Vec<Fault> {
        let acts = |f: &&Fault| f.acts_on(direction);
        self.faults.iter().filter(acts).copied().collect()
    }

    /// Returns true if the removal of all faults recovers more than that of any.
    fn is_masked(&self, direction: Direction) -> bool {
        let goodput = of_goodput(&self.acting(direction));
        let all = mean(&self.shares(direction, &[], &goodput));
        let one = |fault: &Fault| mean(&self.shares(direction, &[], &[*fault]));
        let most = goodput.iter().map(one).fold(0.0, f64::max);
        goodput.len() > 1 && all >= SHARE && all > most + SHARE / 2.0
    }

    fn effect(
        &self,
        direction: Direction,
        fault: Fault,
        masked: bool,
        goodput: &[Fault],
    ) -> Effect {
        let with = self.of(direction, &[]);
        let gone = self.of(direction, &[fault]);
        let pairs = || with.iter().zip(&gone);
        let bps: Vec<f64> = with.iter().map(|f| f.goodput_bps).collect();
        let alone = masked && !fault.is_of_latency();
        Effect {
            fault,
            direction,
            goodput_bps: mean(&bps),
            share: pairs().map(|(a, b)| a.lost_against(b)).collect(),
            added_us: pairs().map(|(a, b)| [a.added_us, b.added_us]).collect(),
            alone: match alone {
                true => self.shares(direction, &without(goodput, fault), goodput),
                false => Vec::new(),
            },
        }
    }

    /// Share of the goodput without `less` that is lost without `more` only, for each seed.
    fn shares(&self, direction: Direction, more: &[Fault], less: &[Fault]) -> Vec<f64> {
        let (with, gone) = (self.of(direction, more), self.of(direction, less));
        with.iter()
            .zip(&gone)
            .map(|(a, b)| a.lost_against(b))
            .collect()
    }

    /// The figures without some faults, for each seed that was measured.
    fn of(&self, direction: Direction, without: &[Fault]) -> Vec<Figures> {
        let probes = Probe::each_seed(direction, without);
        probes
            .iter()
            .filter_map(|p| self.known.get(p).copied())
            .collect()
    }
}

fn of_goodput(faults: &[Fault]) -> Vec<Fault> {
    let goodput = faults.iter().filter(|f| !f.is_of_latency());
    goodput.copied().collect()
}

fn without(faults: &[Fault], fault: Fault) -> Vec<Fault> {
    faults.iter().filter(|f| **f != fault).copied().collect()
}

/// The mean; 0 without values.
fn mean(values: &[f64]) -> f64 {
    stats::mean(values).unwrap_or(0.0)
}

#[cfg(test)]
mod tests;
