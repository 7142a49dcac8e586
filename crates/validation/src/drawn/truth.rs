//! The truth of a path, by counterfactual cells: the same path without one of its faults.
//!
//! A fault of which the removal recovers what matters is a cause. Goodput matters from
//! [`SHARE`] of what the path carries without the fault, latency from [`ADDED_US`] that the load
//! adds and that falls to less than half of it. Both must hold in the mean of the seeds, and half
//! of it in each. What recovers less, down to half of that share, is allowed and not demanded.
//!
//! Faults can mask each other: removing one alone recovers nothing while another limits as much. So
//! where the removal of all recovers more than that of any, each fault is also measured alone: one
//! that costs what matters by itself is a cause if nothing else is, and allowed otherwise.

mod probes;

use std::collections::{BTreeMap, BTreeSet};

use model::{cell::Cell, net::Direction};
use serde::{Deserialize, Serialize};

use super::fault::{self, Fault};

pub use probes::{Figures, Probe};

/// Share of goodput that matters.
pub const SHARE: f64 = 0.1;
/// Delay that a load adds and that matters, µs: the boundary of grades A and B of common tests.
pub const ADDED_US: f64 = 30_000.0;
/// Share of goodput up to which a path may also be called healthy: a path counts as full from 85 %.
pub const FULL: f64 = 0.15;

/// What is wrong with a path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// The causes, that with the largest weight first; none on a healthy path.
    pub causes: Vec<Cause>,
    /// Codes that are allowed, and count neither as right nor as wrong.
    pub also: BTreeSet<String>,
    /// Share of goodput that the removal of all faults recovers, the larger of both directions.
    pub recovers: f64,
    /// Every fault of the spec with what its removal recovers.
    pub effects: Vec<Effect>,
}

/// A fault that matters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// The fault.
    pub fault: Fault,
    /// Codes of findings that name it; none if no rule does.
    pub codes: Vec<String>,
    /// Directions in which a finding may place it.
    pub directions: Vec<Direction>,
    /// Its share of what all causes recover; they sum up to 1.
    pub weight: f64,
    /// Whether its removal alone recovers nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub masked: bool,
}

/// What the removal of a fault recovers on a load in one direction.
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

/// How much something matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Matters {
    No,
    Hardly,
    Yes,
}

/// A path whose truth is being derived.
#[derive(Clone, Debug)]
pub struct Trial<'a> {
    cell: &'a Cell,
    faults: Vec<Fault>,
    known: BTreeMap<Probe, Figures>,
}

impl<'a> Trial<'a> {
    /// Starts with nothing measured.
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

    /// The truth by what was measured.
    pub fn truth(&self) -> Truth {
        let mut truth = Truth::default();
        for direction in [Direction::Down, Direction::Up] {
            self.judge(direction, &mut truth);
        }
        for fault in &self.faults {
            truth
                .also
                .extend(fault.always().iter().map(|c| (*c).to_owned()));
        }
        if self.faults.contains(&Fault::TunnelMtu) {
            // Each full packet is two on the path, which the lab's routers do at no cost.
            truth.add(Fault::TunnelMtu, None, 0.5, false);
        }
        truth.finish()
    }

    fn acting(&self, direction: Direction) -> Vec<Fault> {
        let acts = |f: &&Fault| f.acts_on(direction);
        self.faults.iter().filter(acts).copied().collect()
    }

    /// Whether the removal of all faults recovers more than that of any.
    fn is_masked(&self, direction: Direction) -> bool {
        let goodput = of_goodput(&self.acting(direction));
        let all = mean(&self.shares(direction, &[], &goodput));
        let one = |fault: &Fault| mean(&self.shares(direction, &[], &[*fault]));
        let most = goodput.iter().map(one).fold(0.0, f64::max);
        goodput.len() > 1 && all >= SHARE && all > most + SHARE / 2.0
    }

    fn judge(&self, direction: Direction, truth: &mut Truth) {
        let faults = self.acting(direction);
        let goodput = of_goodput(&faults);
        let all = mean(&self.shares(direction, &[], &goodput));
        truth.recovers = truth.recovers.max(all);
        let masked = self.is_masked(direction);
        let mut found = false;
        let mut hidden = Vec::new();
        for fault in faults {
            let effect = self.effect(direction, fault, masked, &goodput);
            let (matters, weight) = match fault.is_of_latency() {
                true => by_latency(&effect.added_us),
                false => (by_goodput(&effect.share), mean(&effect.share)),
            };
            match matters {
                Matters::Yes => {
                    found |= !fault.is_of_latency();
                    truth.add(fault, Some(direction), weight, false);
                }
                _ if by_goodput(&effect.alone) == Matters::Yes => {
                    hidden.push((fault, mean(&effect.alone)));
                }
                Matters::Hardly => truth.allow(fault),
                Matters::No => {}
            }
            truth.effects.push(effect);
        }
        for (fault, weight) in hidden {
            match found {
                true => truth.allow(fault),
                false => truth.add(fault, Some(direction), weight, true),
            }
        }
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

impl Truth {
    /// Whether nothing that matters is wrong.
    pub fn is_healthy(&self) -> bool {
        self.causes.is_empty()
    }

    fn add(&mut self, fault: Fault, load: Option<Direction>, weight: f64, masked: bool) {
        let codes = fault.codes();
        self.also.extend(codes.also.iter().map(|c| (*c).to_owned()));
        // Where a fault is, and on which load it acts; for neighbours only the former.
        let load = load.filter(|_| !matches!(fault, Fault::Neighbours(_)));
        let places = fault.direction().into_iter().chain(load);
        if let Some(cause) = self.causes.iter_mut().find(|c| c.fault == fault) {
            cause.weight = cause.weight.max(weight);
            cause.masked &= masked;
            cause.directions.extend(places);
            cause.directions.sort();
            cause.directions.dedup();
            return;
        }
        let mut directions: Vec<Direction> = places.collect();
        directions.dedup();
        self.causes.push(Cause {
            fault,
            codes: codes.right.iter().map(|c| (*c).to_owned()).collect(),
            directions,
            weight,
            masked,
        });
    }

    fn allow(&mut self, fault: Fault) {
        let codes = fault.codes();
        let all = codes.right.iter().chain(codes.also);
        self.also.extend(all.map(|c| (*c).to_owned()));
    }

    /// Orders the causes and makes their weights sum up to 1.
    fn finish(mut self) -> Self {
        let sum: f64 = self.causes.iter().map(|c| c.weight).sum();
        for cause in &mut self.causes {
            cause.weight /= sum;
        }
        self.causes.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        for code in self.causes.iter().flat_map(|c| &c.codes) {
            self.also.remove(code);
        }
        self
    }
}

fn of_goodput(faults: &[Fault]) -> Vec<Fault> {
    let goodput = faults.iter().filter(|f| !f.is_of_latency());
    goodput.copied().collect()
}

fn without(faults: &[Fault], fault: Fault) -> Vec<Fault> {
    faults.iter().filter(|f| **f != fault).copied().collect()
}

fn by_goodput(shares: &[f64]) -> Matters {
    let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
    match mean(shares) {
        share if share >= SHARE && least >= SHARE / 2.0 => Matters::Yes,
        share if share >= SHARE / 2.0 => Matters::Hardly,
        _ => Matters::No,
    }
}

/// Whether delay with and without matters, and the share of it that recovers.
fn by_latency(added_us: &[[f64; 2]]) -> (Matters, f64) {
    let with = mean(&added_us.iter().map(|a| a[0]).collect::<Vec<_>>());
    let gone = mean(&added_us.iter().map(|a| a[1]).collect::<Vec<_>>());
    let least = added_us
        .iter()
        .map(|a| a[0] - a[1])
        .fold(f64::INFINITY, f64::min);
    let matters = match with - gone {
        gain if with >= ADDED_US && gain >= with / 2.0 && least >= ADDED_US / 4.0 => Matters::Yes,
        gain if gain >= ADDED_US / 3.0 => Matters::Hardly,
        _ => Matters::No,
    };
    (matters, (with - gone) / with.max(1.0))
}

/// The mean; 0 of nothing.
fn mean(values: &[f64]) -> f64 {
    stats::mean(values).unwrap_or(0.0)
}

#[cfg(test)]
mod tests;
