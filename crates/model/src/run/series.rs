//! Values over time, by column.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Values over time. Columns that the kernel did not fill are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Times, µs after the step's load started.
    pub at_us: Vec<i64>,
    /// Columns by name.
    pub columns: BTreeMap<String, Column>,
}

/// The values of a column, one for each time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Column {
    /// The same all the time.
    Constant(u64),
    /// One for each time; absent where there was none.
    Values(Vec<Option<u64>>),
}

impl Series {
    /// Adds a column from one value for each time; nothing is added if all are absent.
    pub fn push(&mut self, name: &str, values: Vec<Option<u64>>) {
        let first = values.first().copied().flatten();
        let column = match first {
            Some(value) if values.iter().all(|v| *v == first) => Column::Constant(value),
            _ if values.iter().all(Option::is_none) => return,
            _ => Column::Values(values),
        };
        self.columns.insert(name.to_owned(), column);
    }

    /// The values of a column, one for each time; `None` if it is not there.
    pub fn column(&self, name: &str) -> Option<Vec<Option<u64>>> {
        match self.columns.get(name)? {
            Column::Constant(value) => Some(vec![Some(*value); self.at_us.len()]),
            Column::Values(values) => Some(values.clone()),
        }
    }

    /// Times and values of a column, where it has one.
    pub fn points(&self, name: &str) -> Vec<(i64, u64)> {
        let values = self.column(name).unwrap_or_default();
        self.at_us
            .iter()
            .zip(values)
            .filter_map(|(&at, value)| Some((at, value?)))
            .collect()
    }

    /// The last value of a column.
    pub fn last(&self, name: &str) -> Option<u64> {
        match self.columns.get(name)? {
            Column::Constant(value) => Some(*value),
            Column::Values(values) => values.iter().rev().find_map(|v| *v),
        }
    }

    /// The last value of a column at or before a time.
    pub fn at(&self, name: &str, at_us: i64) -> Option<u64> {
        self.points(name)
            .into_iter()
            .take_while(|(t, _)| *t <= at_us)
            .last()
            .map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_comes_back_as_it_went_in() {
        let mut series = Series {
            at_us: vec![0, 10, 20],
            ..Series::default()
        };
        series.push("same", vec![Some(7); 3]);
        series.push("gap", vec![Some(1), None, Some(3)]);
        series.push("none", vec![None; 3]);
        assert_eq!(series.columns.len(), 2);
        assert_eq!(series.column("same"), Some(vec![Some(7); 3]));
        assert_eq!(series.points("gap"), [(0, 1), (20, 3)]);
        assert_eq!(series.at("gap", 15), Some(1));
        let text = serde_json::to_string(&series).unwrap();
        assert_eq!(serde_json::from_str::<Series>(&text).unwrap(), series);
    }
}
