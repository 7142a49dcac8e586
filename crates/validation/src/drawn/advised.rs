//! Whether BBR carries more on a path where it is advised, by counterfactual cells: the same load
//! with the sender's own congestion control and with BBR.
//!
//! The causes of a path do not tell: BBR may recover what a queue of a few packets costs, and gain
//! nothing on random loss of a slow line.

use std::collections::BTreeMap;

use model::{
    cell::Cell,
    net::{Direction, Side},
};
use serde::{Deserialize, Serialize};

use super::truth::{Figures, Probe, is_relevant};

/// The advised congestion control.
const BBR: &str = "bbr";
/// What it is compared with where the sender has it already.
const USUAL: &str = "cubic";

const DIRECTIONS: [Direction; 2] = [Direction::Down, Direction::Up];

/// Goodput with BBR against that without.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bbr {
    /// Direction of the load.
    pub direction: Direction,
    /// Congestion control that it is compared with: the sender's own, or cubic if that is BBR.
    pub against: String,
    /// Share of the goodput with BBR that lacks without, for each seed; below 0 if BBR carries
    /// less.
    pub share: Vec<f64>,
}

impl Bbr {
    /// Returns true if BBR recovers as much as the removal of a cause does.
    pub fn helps(&self) -> bool {
        is_relevant(&self.share)
    }
}

/// The cells of a path in both directions, each without and with BBR.
pub fn probes(cell: &Cell) -> Vec<(Probe, Cell)> {
    let of = |direction| [usual(cell, direction), BBR].map(|cc| Probe::each_with(direction, cc));
    let probes = DIRECTIONS.into_iter().flat_map(of).flatten();
    probes
        .map(|probe| (probe.clone(), probe.cell(cell)))
        .collect()
}

/// The comparison in both directions, of those whose cells are known.
pub fn compared(cell: &Cell, known: &BTreeMap<Probe, Figures>) -> Vec<Bbr> {
    let of = |direction| {
        let against = usual(cell, direction);
        let figures = |cc| {
            Probe::each_with(direction, cc)
                .into_iter()
                .map(|p| known.get(&p))
        };
        let pairs = figures(against).zip(figures(BBR));
        let share: Option<Vec<f64>> = pairs
            .map(|(own, bbr)| Some(own?.lost_against(bbr?)))
            .collect();
        Some(Bbr {
            direction,
            against: against.to_owned(),
            share: share?,
        })
    };
    DIRECTIONS.into_iter().filter_map(of).collect()
}

fn usual(cell: &Cell, direction: Direction) -> &str {
    match cell.ends.end(Side::sends(direction)).cc.as_str() {
        BBR => USUAL,
        own => own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::Drawn;

    #[test]
    fn only_the_congestion_control_of_the_load_differs() {
        let cell = Drawn::new(1, 0).unwrap().cell;
        let all = probes(&cell);
        assert_eq!(all.len(), 8, "2 directions, 2 seeds, with and without");
        let bbr = all
            .iter()
            .filter(|(_, c)| c.traffic.cc.as_deref() == Some(BBR));
        assert_eq!(bbr.count(), 4);
        for (_, with) in &all {
            let same = all.iter().filter(|(_, other)| {
                let mut other = other.clone();
                other.traffic.cc.clone_from(&with.traffic.cc);
                other == *with
            });
            assert_eq!(same.count(), 2);
        }
    }

    #[test]
    fn bbr_helps_where_it_recovers_a_tenth_with_every_seed() {
        let cell = Drawn::new(1, 0).unwrap().cell;
        let known = |seeds: [f64; 2]| {
            let mut bbr = seeds.into_iter().cycle();
            let figures = |(probe, cell): (Probe, Cell)| {
                let is_bbr = cell.traffic.cc.as_deref() == Some(BBR);
                let share = if is_bbr { bbr.next().unwrap() } else { 0.0 };
                let goodput_bps = 1e7 / (1.0 - share);
                (
                    probe,
                    Figures {
                        goodput_bps,
                        added_us: 0.0,
                    },
                )
            };
            probes(&cell)
                .into_iter()
                .map(figures)
                .collect::<BTreeMap<_, _>>()
        };
        let helps = |seeds| {
            let all = compared(&cell, &known(seeds));
            assert_eq!(all.len(), 2);
            all.iter().all(Bbr::helps)
        };
        assert!(helps([0.2, 0.3]));
        assert!(!helps([0.04, 0.3]), "by chance");
        assert!(!helps([0.0, 0.0]));
        assert_eq!(compared(&cell, &BTreeMap::new()), []);
    }
}
