//! Drawn scenarios: paths from priors over the whole spec grammar, whose truth is derived.
//!
//! A scenario follows from the number of its draw and its index alone ([`prior`]). Its true causes
//! are not assigned: each fault of its spec ([`fault`]) is removed in a lab cell, and it is a cause
//! if that recovers performance ([`truth`]). `docs/drawn.md` has the priors and the definitions.
//!
//! **Training, calibration and evaluation are disjoint by construction** ([`Part`]): the part
//! follows from the number of the draw, and every pair of draw and index has a different stream of
//! random numbers, because the function that seeds it (`stream`) is a bijection.

pub mod advised;
pub mod fault;
pub mod outcome;
pub mod prior;
pub mod score;
pub mod table;
pub mod truth;

use model::{
    cell::Cell,
    path::{PathError, Trial},
    spec::{self, Spec},
    units::Seed,
};

/// First draw of the calibration; draws below are for making rules.
const CALIBRATION: u32 = 1000;
/// First draw from which confidence comes, with those up to the evaluation.
pub const CONFIDENCE: u32 = 1002;
/// First draw of the evaluation.
pub const EVALUATION: u32 = 1009;

/// What a draw is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Rules are made on it: what they achieve there says little about other paths.
    Training,
    /// Its kept lines are those of the rules before anybody looked at it, or of those after the
    /// next change of rules. What was wrong there has changed rules since, and confidence is the
    /// share that was true.
    Calibration,
    /// Its kept lines are those of the rules before anybody looked at it, and neither rules nor
    /// confidence come from it.
    Evaluation,
}

impl Part {
    /// Part of a draw.
    pub fn of(draw: u32) -> Self {
        match draw {
            EVALUATION.. => Self::Evaluation,
            CALIBRATION.. => Self::Calibration,
            _ => Self::Training,
        }
    }

    /// Name for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Training => "training",
            Self::Calibration => "calibration",
            Self::Evaluation => "evaluation",
        }
    }
}

/// A drawn scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// Number of its draw.
    pub draw: u32,
    /// Its index in the draw, from 0.
    pub index: u32,
    /// Its path. The seed is that of the Run.
    pub cell: Cell,
}

impl Drawn {
    /// The scenario of a draw and an index.
    ///
    /// # Errors
    /// The drawn path is invalid; that would be a bug.
    pub fn new(draw: u32, index: u32) -> Result<Self, PathError> {
        let name = format!("drawn-{draw}-{index:05}");
        let stream = stream(draw, index);
        // 31 bits: a seed is a plain number in specs and JSON. Its last two bits are free for the
        // cells of the truth.
        let seed = Seed((stream >> 33) << 2);
        let cell = prior::path(&name, stream).cell(&Trial {
            seed,
            ..Trial::default()
        })?;
        Ok(Self { draw, index, cell })
    }

    /// Its path, as a spec.
    pub fn spec(&self) -> String {
        spec::write(&self.cell)
    }

    /// Returns true if a spec is that of this scenario, in any notation.
    pub fn is_of(&self, spec: &str) -> bool {
        let cells = Spec::parse(&self.cell.name, spec).and_then(|spec| spec.cells());
        cells.is_ok_and(|cells| cells == [self.cell.clone()])
    }
}

/// Seed of the random numbers of a scenario: the finalizer of splitmix64 over both numbers, which
/// is a bijection of 64 bits (each of its steps has an inverse), so no two scenarios share one.
fn stream(draw: u32, index: u32) -> u64 {
    let mut z = (u64::from(draw) << 32) | u64::from(index);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_follows_from_draw_and_index_alone() {
        let path = |index| Drawn::new(3, index).unwrap().cell.path;
        assert_eq!(path(7), path(7));
        assert_ne!(path(7), path(8));
    }

    #[test]
    fn every_drawn_path_is_valid_and_its_spec_is_unique() {
        let mut before = String::new();
        for index in 0..3000 {
            let drawn = Drawn::new(1, index).unwrap_or_else(|e| panic!("{index}: {e}"));
            let spec = drawn.spec();
            assert!(drawn.is_of(&spec), "{spec}");
            assert!(!drawn.is_of(&before), "{before}");
            before = spec;
        }
    }

    #[test]
    fn no_two_scenarios_share_their_random_numbers() {
        let mut seen = std::collections::BTreeSet::new();
        for draw in [1, 2, CALIBRATION, EVALUATION] {
            assert!((0..5000).all(|index| seen.insert(stream(draw, index))));
        }
    }

    #[test]
    fn the_draw_covers_its_ranges() {
        let cells: Vec<Cell> = (0..3000)
            .map(|index| Drawn::new(1, index).unwrap().cell)
            .collect();
        let rates = || {
            let both = cells
                .iter()
                .flat_map(|c| [c.path.down.rate, c.path.up.rate]);
            both.flatten().map(model::units::Rate::mbps)
        };
        assert!(rates().fold(f64::INFINITY, f64::min) < 0.3);
        assert!(rates().fold(0.0, f64::max) > 2000.0);
        let rtt = || cells.iter().map(|c| c.path.rtt().as_secs_f64() * 1e3);
        assert!(rtt().fold(f64::INFINITY, f64::min) < 0.4);
        assert!(rtt().fold(0.0, f64::max) > 500.0);
        let share = |has: &dyn Fn(&Cell) -> bool| {
            cells.iter().filter(|c| has(c)).count() as f64 / cells.len() as f64
        };
        assert!((0.2..0.5).contains(&share(&|c| c.tunnel.is_some())));
        assert!(share(&|c| !c.cross.is_empty()) > 0.05);
        assert!(share(&|c| c.ends.far.cc != "cubic") > 0.1);
        for queue in [
            "fifo", "fq", "fq_codel", "codel", "pie", "cake", "dualpi2", "red", "policer",
        ] {
            let has = |c: &Cell| c.path.down.queue.to_string() == queue;
            assert!(share(&has) > 0.005, "{queue}");
        }
    }
}
