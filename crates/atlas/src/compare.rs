//! Comparison of cells by a rule: pairs of cells that differ in one factor only, or cells alone, by
//! groups.

use std::collections::HashMap;

use serde::Serialize;

use crate::{
    cell::{Cell, Factor, Figure},
    number::{level, rounded},
};

/// What is compared, computed from the figures of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Goodput of all measured flows, Mbit/s.
    Goodput,
    /// That over the rate of the line.
    Utilisation,
    /// Median RTT under load minus that of the idle path, ms.
    AddedDelay,
    /// Share of the sent bytes that were retransmitted.
    Retransmitted,
    /// Goodput of the competing flow over that of all flows.
    CompetitorShare,
}

impl Quantity {
    /// Its value; absent if it was not measured or is meaningless there.
    pub fn of(self, cell: &Cell) -> Option<f64> {
        let figure = |figure| cell.figure(figure);
        match self {
            Self::Goodput => figure(Figure::Goodput),
            Self::Utilisation => Some(figure(Figure::Goodput)? / cell.number(Factor::Rate)?),
            Self::AddedDelay => Some((figure(Figure::Loaded)? - figure(Figure::Idle)?).max(0.0)),
            Self::Retransmitted => figure(Figure::Retransmitted),
            Self::CompetitorShare => {
                let (own, other) = (figure(Figure::Goodput)?, figure(Figure::Other)?);
                (own + other > 0.0).then(|| other / (own + other))
            }
        }
    }

    /// Name for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Goodput => "goodput",
            Self::Utilisation => "goodput over the rate of the line",
            Self::AddedDelay => "median RTT under load minus that of the idle path",
            Self::Retransmitted => "share of the sent bytes that were retransmitted",
            Self::CompetitorShare => "the competing cubic flow's part of all goodput",
        }
    }

    /// A value in this quantity's unit.
    pub fn print(self, value: f64) -> String {
        match self {
            Self::Goodput => format!("{} Mbit/s", crate::number::short(value)),
            Self::AddedDelay => format!("{} ms", crate::number::short(value)),
            Self::Utilisation | Self::CompetitorShare => format!("{:.0} %", value * 100.0),
            Self::Retransmitted => format!("{:.2} %", value * 100.0),
        }
    }
}

/// Cells of a rule: for a factor, the levels that are meant. A factor that is not named has any.
pub type Only = &'static [(Factor, &'static [&'static str])];

/// A rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The quantity.
    pub quantity: Quantity,
    /// Pairs with one level of a factor over another; absent: each cell alone.
    pub ratio: Option<(Factor, &'static str, &'static str)>,
    /// The cells.
    pub only: Only,
    /// Factors whose levels have a group each.
    pub by: &'static [Factor],
}

/// The values of a rule in one group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// Levels of the factors of the group.
    pub levels: Vec<String>,
    /// Number of values.
    pub n: usize,
    /// Their median.
    pub median: f64,
    /// The lowest.
    pub low: f64,
    /// The highest.
    pub high: f64,
    /// The cells of each value, by their line in the table after the header, from 1: with a ratio
    /// the one above and the one below the line.
    pub cells: Vec<Vec<usize>>,
}

/// Returns true if a cell is one of `only`.
pub fn is_in(cell: &Cell, only: Only) -> bool {
    let within = |(factor, levels): &(Factor, &[&str])| levels.contains(&cell.level(*factor));
    only.iter().all(within)
}

/// A value, and the lines of the table that it is of.
type Value = (f64, Vec<usize>);

impl Rule {
    /// The groups, in the order of the table. Invalid cells are left out, and so are pairs of which
    /// one is missing.
    pub fn groups(&self, cells: &[Cell]) -> Vec<Group> {
        let mut groups: Vec<(Vec<String>, Vec<Value>)> = Vec::new();
        for (value, places) in self.values(cells) {
            let first = &cells[places[0] - 1];
            let levels: Vec<String> = self.by.iter().map(|f| first.level(*f).to_owned()).collect();
            match groups.iter_mut().find(|(known, _)| *known == levels) {
                Some((_, values)) => values.push((value, places)),
                None => groups.push((levels, vec![(value, places)])),
            }
        }
        groups.into_iter().filter_map(summary).collect()
    }

    fn values(&self, cells: &[Cell]) -> Vec<Value> {
        let meant = cells.iter().enumerate();
        let meant = meant.filter(|(_, cell)| cell.valid && is_in(cell, self.only));
        let Some((factor, over, under)) = self.ratio else {
            let value = |(at, cell)| Some((self.quantity.of(cell)?, vec![at + 1]));
            return meant.filter_map(value).collect();
        };
        let partners: HashMap<Vec<&str>, usize> = meant
            .clone()
            .filter(|(_, cell)| cell.level(factor) == under)
            .map(|(at, cell)| (others(cell, factor), at))
            .collect();
        let pair = |(at, cell): (usize, &Cell)| {
            let partner = *partners.get(&others(cell, factor))?;
            let below = self.quantity.of(&cells[partner]).filter(|v| *v > 0.0)?;
            let ratio = self.quantity.of(cell)? / below;
            Some((ratio, vec![at + 1, partner + 1]))
        };
        let above = meant.filter(|(_, cell)| cell.level(factor) == over);
        above.filter_map(pair).collect()
    }

    /// The rule as a sentence.
    pub fn words(&self) -> String {
        let what = self.quantity.words();
        let mut text = match self.ratio {
            Some((factor, over, under)) => format!(
                "{what}, {} {} over {} {}, in pairs of cells that are equal in all else",
                factor.words(),
                level(over),
                factor.words(),
                level(under),
            ),
            None => what.to_owned(),
        };
        let compared = self.ratio.map(|(factor, ..)| factor);
        let conditions: Vec<String> = self
            .only
            .iter()
            .filter(|(factor, _)| Some(*factor) != compared)
            .map(|(factor, levels)| {
                let levels: Vec<String> = levels.iter().map(|l| level(l)).collect();
                format!("{} {}", factor.words(), levels.join(" or "))
            })
            .collect();
        if !conditions.is_empty() {
            text = format!("{text}; {}", conditions.join("; "));
        }
        text
    }

    /// A value of the rule.
    pub fn print(&self, value: f64) -> String {
        match self.ratio {
            Some(_) => crate::number::short(value),
            None => self.quantity.print(value),
        }
    }
}

/// The levels of all factors but one.
fn others(cell: &Cell, but: Factor) -> Vec<&str> {
    let rest = Factor::ALL.into_iter().filter(|factor| *factor != but);
    rest.map(|factor| cell.level(factor)).collect()
}

fn summary((levels, values): (Vec<String>, Vec<Value>)) -> Option<Group> {
    let numbers: Vec<f64> = values.iter().map(|(value, _)| *value).collect();
    Some(Group {
        levels,
        n: numbers.len(),
        median: rounded(stats::median(&numbers)?),
        low: rounded(numbers.iter().copied().reduce(f64::min)?),
        high: rounded(numbers.iter().copied().reduce(f64::max)?),
        cells: values.into_iter().map(|(_, cells)| cells).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cell with a goodput and default settings but for RTT and congestion control.
    fn cell(rtt: &str, cc: &str, goodput: f64, valid: bool) -> Cell {
        let levels = ["100mbit", rtt, "cake", "1%", "none", "1", cc].map(str::to_owned);
        let mut figures = [None; Figure::ALL.len()];
        figures[Figure::Goodput as usize] = Some(goodput);
        let names = ["atlas-100mbit", "00ff"].map(str::to_owned);
        Cell::new(names, 0, valid, levels, figures)
    }

    const RULE: Rule = Rule {
        quantity: Quantity::Goodput,
        ratio: Some((Factor::Cc, "bbr", "cubic")),
        only: &[(Factor::Rtt, &["5ms", "20ms"])],
        by: &[Factor::Rtt],
    };

    #[test]
    fn only_valid_pairs_that_are_equal_in_all_else_are_compared() {
        let cells = [
            cell("5ms", "cubic", 50.0, true),
            cell("5ms", "bbr", 100.0, true),
            cell("20ms", "bbr", 90.0, true),
            cell("20ms", "cubic", 10.0, false),
            cell("50ms", "cubic", 10.0, true),
            cell("50ms", "bbr", 90.0, true),
        ];
        let groups = RULE.groups(&cells);
        assert_eq!(groups.len(), 1);
        assert_eq!((groups[0].n, groups[0].median), (1, 2.0));
        assert_eq!(groups[0].levels, ["5ms"]);
        assert_eq!(groups[0].cells, [vec![2, 1]]);
    }

    #[test]
    fn a_rule_says_what_it_compares() {
        let words = "goodput, congestion control bbr over congestion control cubic, in pairs of \
                     cells that are equal in all else; RTT 5 ms or 20 ms";
        assert_eq!(RULE.words(), words);
    }
}
