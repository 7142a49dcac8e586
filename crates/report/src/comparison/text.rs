//! Comparisons as text for terminals.

use std::fmt::Write as _;

use model::{
    comparison::{Compared, Comparison, Verdict},
    safe,
};

use super::{ORDER, chance, change, count, reading, side, title};
use crate::plain;

/// The text; unchanged and undecided lines only if `all`.
pub fn text(comparison: &Comparison, all: bool) -> String {
    let mut out = format!(
        "{}: {}\n",
        safe::line(&title(comparison)),
        count(comparison)
    );
    if let Some(why) = &comparison.no_throughput {
        let _ = writeln!(out, "NOT COMPARED: {}", safe::line(&why.to_string()));
    }
    let shown = |verdict| all || matches!(verdict, Verdict::Worse | Verdict::Better);
    let lines: Vec<&Compared> = ORDER
        .iter()
        .filter(|verdict| shown(**verdict))
        .flat_map(|verdict| comparison.with(*verdict))
        .collect();
    if !lines.is_empty() {
        let rows = lines.into_iter().map(row).collect();
        let heading = ["", "figure", "before", "after", "change", "p"];
        let _ = write!(out, "\n{}", plain::table(&heading, &[2, 3, 4, 5], rows));
    }
    if !comparison.lines.is_empty() {
        let _ = writeln!(out, "\n{}", reading(comparison));
    }
    for (side, keys) in [
        ("before", &comparison.only_before),
        ("after", &comparison.only_after),
    ] {
        let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
        if !keys.is_empty() {
            let _ = writeln!(out, "only {side}: {}", safe::line(&keys.join(", ")));
        }
    }
    for note in &comparison.notes {
        let _ = writeln!(out, "note: {}", safe::line(&note.to_string()));
    }
    out
}

fn row(line: &Compared) -> Vec<String> {
    vec![
        line.verdict.to_string(),
        format!("{} {}", line.key, line.kind),
        side(line.kind, line.before),
        side(line.kind, line.after),
        change(line),
        chance(line),
    ]
}
