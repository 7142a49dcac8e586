//! Checks of clean fast paths: only their rate limits them, not the lab.

use model::{record::MemoryCounter, row::RowFigure};

use super::{Check, Expect, Line, Work, outcome::Outcome};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "clean path",
        source: "arithmetic: 0.9564 of the rate",
        work: Work::Cells(include_str!("specs/clean.toml"), judge),
    },
    Check {
        name: "hosts without pressure",
        source: "no limit of a host may shape a cell",
        work: Work::All(pressure),
    },
];

fn judge(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let mut lines = Vec::new();
    for s in outcomes {
        let label = format!("{} {}", s.factor("case"), s.factor("ends.server.cc"));
        let share = s.goodput().map(|g| g / s.rate_mbps());
        lines.push(Line::new(
            label.clone(),
            Expect::at_least(0.93),
            share,
            "of the rate",
        ));
        let row = s.row();
        for figure in [RowFigure::RwndLimited, RowFigure::SndbufLimited] {
            let what = format!("{label} {}", figure.name());
            let value = row.and_then(|row| figure.of(row));
            lines.push(Line::new(what, Expect::at_most(0.01), value, "of the time"));
        }
    }
    lines
}

/// Counters that show that a host ran out of memory for TCP.
fn pressure(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let one = |counter: MemoryCounter| {
        let sum: u64 = outcomes
            .iter()
            .map(|s| s.result.output.memory(counter))
            .sum();
        Line::new(
            format!("{}, all cells", counter.name()),
            Expect::exactly(0.0),
            Some(sum as f64),
            "",
        )
    };
    MemoryCounter::ALL.into_iter().map(one).collect()
}
