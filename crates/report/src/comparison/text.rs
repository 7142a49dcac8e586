//! Comparisons as text for terminals.

use model::{
    comparison::{Compared, Comparison, Verdict},
    safe,
};

use super::{ORDER, chance, change, count, reading, side, title};
use crate::{fit, wrap::within};

/// The text; unchanged and undecided lines only if `all`. Within a `width` that is too small for
/// the table, each figure has two lines.
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
        let rows: Vec<Vec<String>> = lines.iter().map(|line| row(line)).collect();
        let table = fit::table(&columns(), &rows, None);
        let fits = |width| table.lines().all(|line| line.chars().count() <= width);
        out.push('\n');
        match width.filter(|width| !fits(*width)) {
            Some(width) => lines.iter().for_each(|line| out += &listed(line, width)),
            None => out.push_str(&table),
        }
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

/// Columns of the table.
fn columns() -> [fit::Column; 6] {
    [
        ("", false),
        ("figure", false),
        ("before", true),
        ("after", true),
        ("change", true),
        ("p", true),
    ]
    .map(|(heading, right)| fit::Column {
        heading: heading.to_owned(),
        right,
        importance: fit::ALWAYS,
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

/// A line of the table as a paragraph: the verdict and the figure, then its values.
fn listed(line: &Compared, width: usize) -> String {
    let mut values = format!(
        "{} -> {}, {}",
        side(line.kind, line.before),
        side(line.kind, line.after),
        change(line)
    );
    let chance = chance(line);
    if !chance.is_empty() {
        values.push_str(&format!(", p {chance}"));
    }
    let figure = format!("{}: {} {}", line.verdict, line.key, line.kind);
    within(&safe::line(&figure), "", width) + &within(&safe::line(&values), "  ", width)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bug: on 80 columns, the values before and after were left out of the table.
    #[test]
    fn on_80_columns_every_figure_has_its_values_before_and_after() {
        let document = include_bytes!("../../../model/tests/data/comparison-1.json");
        let comparison: Comparison = serde_json::from_slice(document).unwrap();
        let text = text(&comparison, true, Some(80));
        assert!(!comparison.lines.is_empty());
        for line in &comparison.lines {
            let [before, after] = [line.before, line.after].map(|v| side(line.kind, v));
            assert!(text.contains(&format!("{before} -> {after}")), "{text}");
        }
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{text}");
    }
}
