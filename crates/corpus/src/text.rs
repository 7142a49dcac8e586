//! Tables of a score, as in `docs/corpus.md`.

use std::{collections::BTreeSet, fmt::Write};

use crate::score::Score;

/// The tables, in Markdown.
pub fn markdown(score: &Score) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write!(
        out,
        "| | |\n|---|---|\n| scenarios | {} |\n| first finding is a true cause | {} |\n| the \
         same, measured in the lab only | {} |\n| the same, held-out scenarios only | {} |\n| \
         false alarms on healthy paths | {} |\n| pairs with both causes named | {} |\n| another \
         congestion control advised first, wrongly | {} |\n\n",
        score.scenarios,
        share(score.top_right, score.scenarios),
        share(score.top_right_lab, score.lab),
        share(score.top_right_held_out, score.held_out),
        share(score.false_alarms, score.healthy),
        share(score.pairs_named, score.pairs),
        score.wrong_congestion_control.len(),
    );
    causes(&mut out, score);
    confusion(&mut out, score);
    calibration(&mut out, score);
    if !score.wrong.is_empty() {
        out.push_str("### Wrong\n\n| scenario | true | found first |\n|---|---|---|\n");
        for [name, truth, found] in &score.wrong {
            let _ = writeln!(out, "| {name} | {truth} | {found} |");
        }
        out.push('\n');
    }
    out
}

/// A share with its 95 % interval.
fn share(part: usize, of: usize) -> String {
    let Some(range) = stats::wilson(part as u64, of as u64) else {
        return "none".to_owned();
    };
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    format!(
        "{part} of {of} = {} [{}, {}]",
        percent(part as f64 / of as f64),
        percent(range.low),
        percent(range.high)
    )
}

fn calibration(out: &mut String, score: &Score) {
    out.push_str(
        "### Calibration\n\n| confidence | findings | mean confidence | correct \
        |\n|---|---:|---:|---:|\n",
    );
    for bin in &score.calibration {
        let _ = writeln!(
            out,
            "| {:.0} to {:.0} % | {} | {:.1} % | {} |",
            bin.from * 100.0,
            bin.to * 100.0,
            bin.findings,
            bin.message * 100.0,
            share(bin.right as usize, bin.findings as usize)
        );
    }
    out.push('\n');
}

fn causes(out: &mut String, score: &Score) {
    out.push_str(
        "### Causes\n\n| cause | present | found | false positives | precision | recall \
        |\n|---|---:|---:|---:|---:|---:|\n",
    );
    let percent =
        |share: Option<f64>| share.map_or(String::new(), |s| format!("{:.0} %", s * 100.0));
    for (code, counts) in &score.causes {
        let _ = writeln!(
            out,
            "| {code} | {} | {} | {} | {} | {} |",
            counts.there,
            counts.found,
            counts.wrongly,
            percent(counts.precision()),
            percent(counts.recall())
        );
    }
    out.push('\n');
}

fn confusion(out: &mut String, score: &Score) {
    out.push_str("### Confusion\n\nRows: the first true cause. Columns: the first finding.\n\n| |");
    let found: BTreeSet<&str> = score
        .confusion
        .values()
        .flat_map(|row| row.keys().map(String::as_str))
        .collect();
    for code in &found {
        let _ = write!(out, " {code} |");
    }
    out.push_str("\n|---|");
    out.push_str(&"---:|".repeat(found.len()));
    out.push('\n');
    for (truth, row) in &score.confusion {
        let _ = write!(out, "| {truth} |");
        for code in &found {
            match row.get(*code) {
                Some(count) => {
                    let _ = write!(out, " {count} |");
                }
                None => out.push_str(" |"),
            }
        }
        out.push('\n');
    }
    out.push('\n');
}
