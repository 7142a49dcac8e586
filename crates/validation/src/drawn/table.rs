//! Tables of a score, in Markdown.

use std::fmt::Write as _;

use super::score::{SIZES, Score};
use crate::accuracy::count::Count;

/// All tables.
pub fn markdown(score: &Score) -> String {
    let mut out = String::new();
    totals(&mut out, score);
    confidence(&mut out, score);
    sizes(&mut out, score);
    counts(&mut out, "cause with the largest weight", &score.by_fault);
    mistakes(&mut out, score);
    out
}

// Writing to a String cannot fail.
fn totals(out: &mut String, score: &Score) {
    let rows: [(&str, &Count); 6] = [
        (
            "first finding right, or no finding where nothing is wrong",
            &score.right,
        ),
        (
            "the same, on paths with a cause that a rule can name",
            &score.right_named,
        ),
        (
            "first finding is the cause with the largest weight there",
            &score.largest,
        ),
        ("false alarms on healthy paths", &score.false_alarms),
        ("true cause in the wrong direction", &score.misplaced),
        (
            "another congestion control advised first, without a cause that calls for it",
            &score.wrong_congestion_control,
        ),
    ];
    let useless = (
        "BBR advised first, and it carries no more there",
        &score.useless_congestion_control,
    );
    let useless = (useless.1.of > 0).then_some(useless);
    out.push_str("| | |\n|---|---|\n");
    for (what, count) in rows.into_iter().chain(useless) {
        let _ = writeln!(out, "| {what} | {count} |");
    }
    out.push_str("\n| judged | scenarios |\n|---|---:|\n");
    for (judged, count) in &score.judged {
        let _ = writeln!(out, "| {} | {count} |", judged.name());
    }
}

fn confidence(out: &mut String, score: &Score) {
    out.push_str(
        "\n| stated confidence | mean | came true | difference, points |\n|---|---:|---|---:|\n",
    );
    for bin in &score.bins {
        let share = bin.right.hits as f64 / bin.right.of.max(1) as f64;
        let _ = writeln!(
            out,
            "| {:.0} to {:.0} % | {:.1} % | {} | {:+.1} |",
            100.0 * bin.from,
            100.0 * bin.to,
            100.0 * bin.stated,
            bin.right,
            100.0 * (bin.stated - share)
        );
    }
}

fn sizes(out: &mut String, score: &Score) {
    out.push_str("\n| goodput that recovers | right, where a rule can name a cause |\n|---|---|\n");
    let from = std::iter::once(0.0).chain(SIZES);
    for ((from, to), count) in from.zip(SIZES).zip(&score.by_size) {
        let _ = writeln!(
            out,
            "| {:.0} to {:.0} % | {count} |",
            100.0 * from,
            100.0 * to
        );
    }
}

fn counts(out: &mut String, heading: &str, counts: &std::collections::BTreeMap<String, Count>) {
    let _ = writeln!(out, "\n| {heading} | right |\n|---|---|");
    for (name, count) in counts {
        let _ = writeln!(out, "| {name} | {count} |");
    }
}

fn mistakes(out: &mut String, score: &Score) {
    if score.mistakes.is_empty() {
        return;
    }
    let mut all: Vec<_> = score.mistakes.iter().collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    out.push_str("\n| wrong: the truth | first finding | scenarios |\n|---|---|---:|\n");
    for ((truth, first), count) in all {
        let _ = writeln!(out, "| {truth} | {first} | {count} |");
    }
}
