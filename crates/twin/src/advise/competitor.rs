//! Harm to others: ratio of the goodput of a cubic flow that competes with a flow with a remedy to
//! that with a flow without it (Ware et al., Beyond Jain's Fairness Index, HotNets 2019: a newcomer
//! may do as much harm as the present flows do).

use model::{
    advice::{AdviceFigure, Change},
    job::Bench,
    net::Direction,
    path::Path,
};

use super::{
    field::Field,
    trial::{beside, cc, job, victim},
};
use crate::error::TwinError;

/// Pairs of member and seed.
pub(super) const PAIRS: usize = 3;

/// Returns true if a sender's congestion control differs from the one without the arm.
pub(super) fn has_other_cc(field: &Field<'_>, arm: usize) -> bool {
    let directions = [Direction::Down, Direction::Up];
    directions.iter().any(|d| is_other(field, arm, *d))
}

fn is_other(field: &Field<'_>, arm: usize, direction: Direction) -> bool {
    cc(&field.arms[arm].paths[0], direction) != cc(&field.members[0], direction)
}

/// The changes of a competing flow for each of these arms, for each direction where its congestion
/// control is another one.
pub(super) fn changes(
    field: &mut Field<'_>,
    arms: &[usize],
    program: &str,
    bench: &mut dyn Bench,
) -> Result<Vec<(usize, Change)>, TwinError> {
    let mut wanted: Vec<(Option<usize>, Direction, usize)> = Vec::new();
    for direction in [Direction::Down, Direction::Up] {
        let changed: Vec<usize> = arms
            .iter()
            .copied()
            .filter(|arm| is_other(field, *arm, direction))
            .collect();
        let with = changed.iter().map(|arm| Some(*arm));
        let without = (!changed.is_empty()).then_some(None);
        for arm in without.into_iter().chain(with) {
            wanted.extend((0..PAIRS).map(|pair| (arm, direction, pair)));
        }
    }
    let mut jobs = Vec::new();
    for (arm, direction, pair) in &wanted {
        let (member, seed) = field.pair(*pair);
        let path: &Path = match arm {
            None => &field.members[member],
            Some(arm) => &field.arms[*arm].paths[member],
        };
        let path = beside(path, *direction);
        jobs.push(job(&path, victim(&path, *direction), seed, program)?);
    }
    let directions: Vec<Direction> = wanted.iter().map(|(_, direction, _)| *direction).collect();
    let goodputs = field.goodputs(&jobs, &directions, bench)?;
    let of = |arm: Option<usize>, direction: Direction, pair: usize| {
        let place = wanted.iter().position(|w| *w == (arm, direction, pair))?;
        goodputs[place].map(|bps| bps.max(1.0))
    };
    let mut all = Vec::new();
    for direction in [Direction::Down, Direction::Up] {
        for arm in arms {
            let ratios: Vec<f64> = (0..PAIRS)
                .filter_map(|pair| {
                    Some(of(Some(*arm), direction, pair)? / of(None, direction, pair)?)
                })
                .collect();
            let Some(ratio) = stats::median(&ratios) else {
                continue;
            };
            let change = Change {
                direction,
                figure: AdviceFigure::Goodput,
                ratio,
                low: ratios.iter().copied().fold(ratio, f64::min),
                high: ratios.iter().copied().fold(ratio, f64::max),
            };
            all.push((*arm, change));
        }
    }
    Ok(all)
}
