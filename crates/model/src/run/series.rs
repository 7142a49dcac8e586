//! Time series by column.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Column, Shape, packed::Packed};
use crate::counter;

/// A set of time series with common times. Columns that the kernel did not fill are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Times, µs after the step's load started.
    pub at_us: Vec<i64>,
    /// Columns by name; those unknown to this version are kept.
    pub columns: BTreeMap<String, ColumnValues>,
}

/// Values of a column, one for each time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ColumnValues {
    /// Constant over time.
    Constant(u64),
    /// One value for each time, or absent.
    Values(Packed),
}

impl Series {
    /// Adds a column with one value for each time; nothing is added if all are absent.
    pub fn push(&mut self, column: Column, values: Vec<Option<u64>>) {
        let first = values.first().copied().flatten();
        let values = match first {
            Some(value) if values.iter().all(|v| *v == first) => ColumnValues::Constant(value),
            _ if values.iter().all(Option::is_none) => return,
            _ => ColumnValues::Values(values.into_iter().collect()),
        };
        self.columns.insert(column.name().to_owned(), values);
    }

    /// Returns true if a column exists.
    pub fn has(&self, column: Column) -> bool {
        self.columns.contains_key(column.name())
    }

    /// The values of a column, one for each time; `None` if it does not exist.
    pub fn column(&self, column: Column) -> Option<Vec<Option<u64>>> {
        match self.columns.get(column.name())? {
            ColumnValues::Constant(value) => Some(vec![Some(*value); self.at_us.len()]),
            ColumnValues::Values(values) => Some(values.iter().collect()),
        }
    }

    /// Times and values of a column, without absent values.
    pub fn points(&self, column: Column) -> Vec<(i64, u64)> {
        let values = self.column(column).unwrap_or_default();
        self.at_us
            .iter()
            .zip(values)
            .filter_map(|(&at, value)| Some((at, value?)))
            .collect()
    }

    /// The last value of a column.
    pub fn last(&self, column: Column) -> Option<u64> {
        match self.columns.get(column.name())? {
            ColumnValues::Constant(value) => Some(*value),
            ColumnValues::Values(values) => values.iter().flatten().last(),
        }
    }

    /// The last value of a column at or before a time.
    pub fn at(&self, column: Column, at_us: i64) -> Option<u64> {
        self.points(column)
            .into_iter()
            .take_while(|(t, _)| *t <= at_us)
            .last()
            .map(|(_, value)| value)
    }

    /// The series reduced to every n-th time, so that at most `most` remain; the last one is always
    /// kept.
    pub fn thinned(&self, most: usize) -> Self {
        let step = self.at_us.len().div_ceil(most.max(1)).max(1);
        let Some(last) = self.at_us.len().checked_sub(1).filter(|_| step > 1) else {
            return self.clone();
        };
        let kept = |at: usize| at.is_multiple_of(step) || at == last;
        let columns = self.columns.iter().map(|(name, column)| {
            let column = match column {
                ColumnValues::Constant(value) => ColumnValues::Constant(*value),
                ColumnValues::Values(values) => {
                    ColumnValues::Values(chosen(values.iter(), kept).collect())
                }
            };
            (name.clone(), column)
        });
        Self {
            at_us: chosen(self.at_us.iter().copied(), kept).collect(),
            columns: columns.collect(),
        }
    }

    /// Growth of a counter at each reading, since the first one; empty for gauges.
    pub fn grown(&self, column: Column) -> Vec<(i64, f64)> {
        match column.shape() {
            Shape::Counter => counter::grown(&self.points(column)),
            Shape::Gauge => Vec::new(),
        }
    }

    /// Growth of a counter between two times, on the straight line between readings. `None` for
    /// gauges.
    pub fn increase(&self, column: Column, window_us: [i64; 2]) -> Option<f64> {
        let grown = self.grown(column);
        Some(counter::at(&grown, window_us[1])? - counter::at(&grown, window_us[0])?)
    }
}

fn chosen<T>(
    values: impl Iterator<Item = T>,
    kept: impl Fn(usize) -> bool,
) -> impl Iterator<Item = T> {
    let values = values.enumerate().filter(move |(at, _)| kept(*at));
    values.map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_round_trips() {
        let mut series = Series {
            at_us: vec![0, 10, 20],
            ..Series::default()
        };
        series.push(Column::Pmtu, vec![Some(7); 3]);
        series.push(Column::RttNs, vec![Some(1), None, Some(3)]);
        series.push(Column::Lost, vec![None; 3]);
        assert_eq!(series.columns.len(), 2);
        assert_eq!(series.column(Column::Pmtu), Some(vec![Some(7); 3]));
        assert_eq!(series.points(Column::RttNs), [(0, 1), (20, 3)]);
        assert_eq!(series.at(Column::RttNs, 15), Some(1));
        let text = serde_json::to_string(&series).unwrap();
        assert_eq!(serde_json::from_str::<Series>(&text).unwrap(), series);
    }

    #[test]
    fn thinned_series_keep_their_ends_and_increase() {
        let times: Vec<i64> = (0..1003).map(|n| n * 10).collect();
        let mut series = Series {
            at_us: times.clone(),
            ..Series::default()
        };
        series.push(
            Column::BytesSent,
            times.iter().map(|t| Some(*t as u64 * 7)).collect(),
        );
        series.push(Column::Pmtu, vec![Some(5); times.len()]);
        for most in [1, 2, 125, 1000] {
            let thin = series.thinned(most);
            assert!(thin.at_us.len() <= most + 1, "{}", thin.at_us.len());
            assert_eq!(thin.at_us.first(), Some(&0));
            assert_eq!(thin.at_us.last(), Some(&10_020));
            assert_eq!(thin.last(Column::BytesSent), Some(70_140));
            assert_eq!(
                thin.column(Column::Pmtu).map(|c| c.len()),
                Some(thin.at_us.len())
            );
            // Linear interpolation does not depend on the sampling interval.
            assert_eq!(
                thin.increase(Column::BytesSent, [105, 9_995]),
                Some(69_230.0)
            );
        }
        assert_eq!(series.thinned(1003), series);
        assert_eq!(Series::default().thinned(10), Series::default());
    }

    #[test]
    fn a_counter_is_read_between_samples() {
        let mut series = Series {
            at_us: vec![0, 10, 20],
            ..Series::default()
        };
        series.push(Column::BytesSent, vec![Some(0), Some(100), Some(300)]);
        assert_eq!(series.increase(Column::BytesSent, [5, 15]), Some(150.0));
        assert_eq!(series.increase(Column::BytesSent, [-5, 50]), Some(300.0));
        assert_eq!(series.increase(Column::BytesRetrans, [0, 1]), None);
        // A gauge has no increase.
        series.push(Column::SndCwnd, vec![Some(1), Some(2), Some(3)]);
        assert_eq!(series.increase(Column::SndCwnd, [0, 20]), None);
    }

    #[test]
    fn a_counter_of_32_bits_that_wraps_has_grown() {
        let mut series = Series {
            at_us: vec![0, 10],
            ..Series::default()
        };
        series.push(Column::BytesSent, vec![Some(u64::from(u32::MAX)), Some(99)]);
        assert_eq!(series.increase(Column::BytesSent, [0, 10]), Some(100.0));
    }
}
