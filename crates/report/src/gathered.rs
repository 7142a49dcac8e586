//! Gaps of combined results: damaged lines, failed cells, missing ones and how to get them.

use std::{collections::BTreeMap, path::PathBuf};

use model::{text::Text, units::Seed};

/// Cells that are named in one line; the rest is counted.
const NAMED: usize = 10;

/// Gaps in the results of a spec.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gaps<'a> {
    /// Truncated or damaged lines, with their number from 1.
    pub unreadable: &'a [(PathBuf, usize)],
    /// Cells that failed, with their seed and the error.
    pub failed: Vec<(usize, Seed, &'a Text)>,
    /// Cells without any result.
    pub missing: &'a [usize],
    /// Segments that are not complete, as the user names them.
    pub open: Vec<String>,
    /// True if every cell is completed.
    pub is_complete: bool,
}

/// Damaged lines and failed cells, a line each reason.
pub fn failed(gaps: &Gaps<'_>) -> Vec<String> {
    let unreadable = gaps.unreadable.iter().map(|(file, line)| {
        format!(
            "line {line} of {} is truncated or damaged, and is ignored",
            file.display()
        )
    });
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (cell, seed, error) in &gaps.failed {
        let cell = format!("cell {cell} seed {seed}");
        reasons.entry(error.to_string()).or_default().push(cell);
    }
    let failed = reasons
        .into_iter()
        .map(|(error, cells)| format!("{} failed: {error}", some(&cells)));
    unreadable.chain(failed).collect()
}

/// Missing cells, and how to get them.
pub fn missing(gaps: &Gaps<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    if !gaps.missing.is_empty() {
        let cells: Vec<_> = gaps.missing.iter().map(usize::to_string).collect();
        lines.push(format!("{} cells missing: {}", cells.len(), some(&cells)));
    }
    if gaps.open.is_empty() && !gaps.is_complete {
        lines.push(
            "hint: `pathtwin lab run SPEC --on slurm --out DIR --resume` completes them".to_owned(),
        );
    }
    if !gaps.open.is_empty() {
        lines.push(format!(
            "hint: `pathtwin lab run SPEC --segment K/N --out DIR --resume` completes {}",
            some(&gaps.open)
        ));
    }
    lines
}

/// The first ones, and the number of others.
fn some(all: &[String]) -> String {
    let named = &all[..NAMED.min(all.len())];
    match all.len() - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_failed_for_the_same_reason_are_one_line_and_at_most_ten_are_named() {
        let error = Text::fixed("no route");
        let gaps = Gaps {
            failed: (0..12).map(|cell| (cell, Seed(1), &error)).collect(),
            missing: &[12],
            ..Gaps::default()
        };
        let lines = failed(&gaps);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].contains("cell 9 seed 1 and 2 more failed: no route"));
        let lines = missing(&gaps);
        assert_eq!(lines[0], "1 cells missing: 12");
        assert!(lines[1].contains("--on slurm"), "no segment is known");
    }
}
