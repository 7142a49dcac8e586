//! Prometheus' text format, version 0.0.4: families of metrics with their values.
//!
//! <https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format>

use std::{collections::BTreeMap, fmt::Write as _};

use model::{run::Unit, safe};

/// Labels sorted by name.
pub type Labels = BTreeMap<&'static str, String>;

/// Prometheus' base unit of a unit, and the number of units in one base unit
/// (<https://prometheus.io/docs/practices/naming/#base-units>).
pub fn base(unit: Unit) -> (&'static str, f64) {
    match unit {
        // Bytes are the base unit (promtool check metrics).
        Unit::BitsPerSecond => ("bytes_per_second", 8.0),
        Unit::MegabitsPerSecond => ("bytes_per_second", 8e-6),
        Unit::BytesPerSecond => ("bytes_per_second", 1.0),
        Unit::Nanoseconds => ("seconds", 1e9),
        Unit::Microseconds => ("seconds", 1e6),
        Unit::Milliseconds => ("seconds", 1e3),
        Unit::Seconds => ("seconds", 1.0),
        Unit::Bytes => ("bytes", 1.0),
        Unit::SecondsPerGigabyte => ("seconds_per_byte", 1e9),
        Unit::Share => ("ratio", 1.0),
        Unit::Segments => ("segments", 1.0),
        Unit::Packets => ("packets", 1.0),
        Unit::Count => ("count", 1.0),
        Unit::Flag | Unit::Code => ("info", 1.0),
    }
}

/// Type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Gauge,
    Counter,
    Histogram,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Gauge => "gauge",
            Self::Counter => "counter",
            Self::Histogram => "histogram",
        }
    }
}

/// A metric with all its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    name: String,
    help: String,
    kind: Kind,
    /// Samples: suffix of the name, labels and value.
    values: Vec<(&'static str, Labels, f64)>,
}

impl Family {
    fn new(kind: Kind, name: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            name: format!("pathtwin_{}", name.into()),
            help: help.into(),
            kind,
            values: Vec::new(),
        }
    }

    /// A value that goes up and down. `name` follows `pathtwin_`, and ends in a base unit.
    pub fn gauge(name: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(Kind::Gauge, name, help)
    }

    /// A value that only grows while the process lives; its name ends in `_total`.
    pub fn counter(name: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(Kind::Counter, name, help)
    }

    /// Observations in buckets.
    pub fn histogram(name: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(Kind::Histogram, name, help)
    }

    /// Adds a value of a gauge or a counter.
    pub fn add(&mut self, labels: Labels, value: f64) {
        self.values.push(("", labels, value));
    }

    /// The family with one more value.
    #[must_use]
    pub fn with(mut self, labels: Labels, value: f64) -> Self {
        self.add(labels, value);
        self
    }

    /// Adds observations: the number in each bucket up to its bound, in rising order, those above
    /// the last bound at the end of `counts`, and their sum.
    pub fn observe(&mut self, labels: &Labels, bounds: &[f64], counts: &[u64], sum: f64) {
        let mut total = 0;
        for (at, count) in counts.iter().enumerate() {
            total += count;
            let bound = bounds
                .get(at)
                .map_or_else(|| "+Inf".to_owned(), f64::to_string);
            let mut own = labels.clone();
            own.insert("le", bound);
            self.values.push(("_bucket", own, total as f64));
        }
        self.values.push(("_sum", labels.clone(), sum));
        self.values.push(("_count", labels.clone(), total as f64));
    }

    /// The values with their labels.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = (&Labels, &mut f64)> {
        self.values
            .iter_mut()
            .map(|(_, labels, value)| (&*labels, value))
    }

    /// The text of the family; empty without values.
    pub fn text(&self) -> String {
        let mut out = String::new();
        if self.values.is_empty() {
            return out;
        }
        let help = self.help.replace('\\', "\\\\").replace('\n', "\\n");
        let _ = writeln!(out, "# HELP {} {help}", self.name);
        let _ = writeln!(out, "# TYPE {} {}", self.name, self.kind.name());
        for (suffix, labels, value) in &self.values {
            let labels: Vec<String> = labels
                .iter()
                .map(|(name, value)| format!("{name}=\"{}\"", safe::label(value)))
                .collect();
            let _ = writeln!(out, "{}{suffix}{{{}}} {value}", self.name, labels.join(","));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_cumulative_and_end_with_all() {
        let mut family = Family::histogram("x_seconds", "times");
        family.observe(
            &Labels::from([("path", "a".to_owned())]),
            &[0.1, 0.2],
            &[3, 0, 2],
            1.5,
        );
        let text = family.text();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                "# TYPE pathtwin_x_seconds histogram",
                "pathtwin_x_seconds_bucket{le=\"0.1\",path=\"a\"} 3",
                "pathtwin_x_seconds_bucket{le=\"0.2\",path=\"a\"} 3",
                "pathtwin_x_seconds_bucket{le=\"+Inf\",path=\"a\"} 5",
                "pathtwin_x_seconds_sum{path=\"a\"} 1.5",
                "pathtwin_x_seconds_count{path=\"a\"} 5",
            ]
        );
    }
}
