//! Table of the errors of many runs.

use std::fmt::Write as _;

use super::truth::{Compared, Quantity};

/// A line of the table.
struct Line {
    quantity: Quantity,
    name: &'static str,
    /// Function that takes the error, printed in the unit of the line.
    error: fn(&Compared) -> Option<f64>,
    unit: &'static str,
    factor: f64,
}

const LINES: &[Line] = &[
    Line {
        quantity: Quantity::Capacity,
        name: "capacity",
        error: Compared::relative,
        unit: "%",
        factor: 100.0,
    },
    Line {
        quantity: Quantity::BaseRtt,
        name: "base RTT, without jitter",
        error: Compared::error,
        unit: "ms",
        factor: 1e-3,
    },
    Line {
        quantity: Quantity::BaseRttJitter,
        name: "base RTT, with jitter",
        error: Compared::relative,
        unit: "%",
        factor: 100.0,
    },
    Line {
        quantity: Quantity::LoadedRtt,
        name: "loaded RTT, without jitter",
        error: Compared::relative,
        unit: "%",
        factor: 100.0,
    },
    Line {
        quantity: Quantity::Loss,
        name: "loss",
        error: Compared::error,
        unit: "percentage points",
        factor: 100.0,
    },
    Line {
        quantity: Quantity::Reordering,
        name: "reordering",
        error: Compared::error,
        unit: "percentage points",
        factor: 100.0,
    },
    Line {
        quantity: Quantity::Pmtu,
        name: "path MTU",
        error: Compared::error,
        unit: "bytes",
        factor: 1.0,
    },
];

/// Median and 95th percentile of the absolute errors of a quantity, in the unit of its line.
pub fn errors(all: &[Compared], quantity: Quantity) -> Option<[f64; 2]> {
    let line = LINES.iter().find(|l| l.quantity == quantity)?;
    let errors: Vec<f64> = of(all, quantity)
        .filter_map(|c| Some((line.error)(c)?.abs() * line.factor))
        .collect();
    Some([stats::median(&errors)?, stats::percentile(&errors, 95.0)?])
}

/// Returns the number of stated intervals of a quantity that contain the truth, and their total.
pub fn coverage(all: &[Compared], quantity: Quantity) -> (usize, usize) {
    let covered: Vec<bool> = of(all, quantity).filter_map(Compared::covered).collect();
    (covered.iter().filter(|c| **c).count(), covered.len())
}

fn of(all: &[Compared], quantity: Quantity) -> impl Iterator<Item = &Compared> {
    all.iter().filter(move |c| c.quantity == quantity)
}

/// The table in Markdown.
pub fn markdown(all: &[Compared], paths: usize) -> String {
    let mut out = format!(
        "{paths} paths.\n\n| quantity | n | not found | median of the absolute error | 95th percentile | unit | largest | interval holds |\n|---|---|---|---|---|---|---|---|\n"
    );
    for line in LINES {
        let found: Vec<&Compared> = of(all, line.quantity).collect();
        let missing = found.iter().filter(|c| c.measured.is_none()).count();
        let Some([median, p95]) = errors(all, line.quantity) else {
            continue;
        };
        let largest = found
            .iter()
            .filter_map(|c| Some(((line.error)(c)?.abs() * line.factor, c)))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let (held, stated) = coverage(all, line.quantity);
        let interval = if stated > 0 {
            format!("{held} of {stated}")
        } else {
            String::new()
        };
        let largest = largest.map_or(String::new(), |(e, c)| format!("{e:.3} ({})", c.path));
        let _ = writeln!(
            out,
            "| {} | {} | {missing} | {median:.3} | {p95:.3} | {} | {largest} | {interval} |",
            line.name,
            found.len(),
            line.unit
        );
    }
    out
}
