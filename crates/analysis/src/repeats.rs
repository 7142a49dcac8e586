//! Rows of the lab with the same setting and different seeds, combined.

use std::collections::BTreeMap;

use model::{
    figures::Figures,
    row::{Row, RowFigure},
    text::Text,
};
use stats::Interval;

use crate::summary::ENOUGH;

/// The middle of some repeats, and how far it can be trusted.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// Number of repeats.
    pub n: usize,
    /// The 95 % interval of the median; absent with fewer than five repeats.
    pub interval: Option<Interval>,
    /// The range of two to four repeats: too few for an interval.
    pub range: Option<Interval>,
}

/// The rows of one setting.
#[derive(Clone, Debug)]
pub struct Summary<'a> {
    /// All rows; the first one represents their common values.
    pub rows: Vec<&'a Row>,
}

/// The goodput of one setting and its published value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// Published goodput, Mbit/s.
    pub goodput_mbps: f64,
    /// Relative deviation of the median from it; absent if no repeat counts.
    pub deviation: Option<f64>,
}

/// Reasons why rows do not count, the most frequent first, each with its number of rows.
pub fn reasons(rows: &[Row]) -> Vec<(&Text, usize)> {
    let mut reasons: Vec<(&Text, usize)> = Vec::new();
    for reason in rows.iter().flat_map(|r| &r.invalid_because) {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    reasons
}

/// Groups rows by setting, in the order of their first appearance.
pub fn summaries(rows: &[Row]) -> Vec<Summary<'_>> {
    let mut groups: Vec<Summary<'_>> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows {
        let key = format!(
            "{} {:?} {:?} {:?} {:?}",
            row.name, row.factors, row.layer, row.direction, row.cross
        );
        match places.get(&key) {
            Some(&place) => groups[place].rows.push(row),
            None => {
                places.insert(key, groups.len());
                groups.push(Summary { rows: vec![row] });
            }
        }
    }
    groups
}

impl Summary<'_> {
    /// A row with the common values of all.
    pub fn first(&self) -> &Row {
        self.rows[0]
    }

    /// The published goodput of this setting, if there is one, and how far the repeats are from it.
    pub fn published(&self, figures: &Figures) -> Option<Published> {
        let goodput_mbps = figures.value(self.first(), RowFigure::Goodput)?;
        let spread = self.spread(|row| RowFigure::Goodput.of(row));
        let deviation = spread.map(|spread| spread.median / goodput_mbps - 1.0);
        Some(Published {
            goodput_mbps,
            deviation,
        })
    }

    /// The spread of a value over the valid repeats that have it.
    pub fn spread(&self, value: impl Fn(&Row) -> Option<f64>) -> Option<Spread> {
        let values: Vec<f64> = self
            .rows
            .iter()
            .filter(|r| r.valid)
            .filter_map(|r| value(r))
            .collect();
        let median = stats::median(&values)?;
        // The same rows give the same interval each time they are printed.
        let interval = stats::median_interval(&values).filter(|_| values.len() >= ENOUGH);
        let range = (2..ENOUGH).contains(&values.len()).then(|| Interval {
            low: values.iter().copied().fold(f64::INFINITY, f64::min),
            high: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        });
        Some(Spread {
            median,
            n: values.len(),
            interval,
            range,
        })
    }
}
