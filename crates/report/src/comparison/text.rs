//! Comparisons as text for terminals.

use model::{
    comparison::{Compared, Comparison, Verdict},
    safe,
};

use super::{ORDER, chance, change, count, reading, side, title};
use crate::{fit, wrap::within};

/// The text; unchanged and undecided lines only if `all`. Within a `width`, columns that do not fit
/// are left out, the least important first.
pub fn text(comparison: &Comparison, all: bool, width: Option<usize>) -> String {
    let running = |text: &str| match width {
        Some(width) => within(&safe::line(text), "", width),
        None => format!("{}\n", safe::line(text)),
    };
    let mut out = running(&format!("{}: {}", title(comparison), count(comparison)));
    if let Some(why) = &comparison.no_throughput {
        out.push_str(&running(&format!("NOT COMPARED: {why}")));
    }
    let shown = |verdict| all || matches!(verdict, Verdict::Worse | Verdict::Better);
    let lines: Vec<&Compared> = ORDER
        .iter()
        .filter(|verdict| shown(**verdict))
        .flat_map(|verdict| comparison.with(*verdict))
        .collect();
    if !lines.is_empty() {
        let rows: Vec<Vec<String>> = lines.into_iter().map(row).collect();
        out.push('\n');
        out.push_str(&fit::table(&columns(), &rows, width));
    }
    if !comparison.lines.is_empty() {
        out.push('\n');
        out.push_str(&running(&reading(comparison)));
    }
    for (side, keys) in [
        ("before", &comparison.only_before),
        ("after", &comparison.only_after),
    ] {
        let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
        if !keys.is_empty() {
            out.push_str(&running(&format!("only {side}: {}", keys.join(", "))));
        }
    }
    for note in &comparison.notes {
        out.push_str(&running(&format!("note: {note}")));
    }
    out
}

/// Columns of the table: the change is that of the figure in question, and the verdict has its
/// reason in `p`.
fn columns() -> [fit::Column; 6] {
    [
        ("", false, fit::ALWAYS),
        ("figure", false, fit::ALWAYS),
        ("before", true, 60),
        ("after", true, 80),
        ("change", true, 90),
        ("p", true, 50),
    ]
    .map(|(heading, right, importance)| fit::Column {
        heading: heading.to_owned(),
        right,
        importance,
    })
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
