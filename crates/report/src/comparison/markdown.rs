//! Comparisons as Markdown, for pull requests.

use std::fmt::Write as _;

use model::{
    comparison::{Compared, Comparison, Verdict},
    safe::markdown as escape,
};

use super::{ORDER, chance, change, count, reading, side, title};

/// The text: changes first, the rest in a collapsed section.
pub fn markdown(comparison: &Comparison) -> String {
    let mut out = format!(
        "### {}\n\n{}\n",
        escape(&title(comparison)),
        count(comparison)
    );
    if let Some(why) = &comparison.no_throughput {
        let _ = writeln!(out, "\n**Not compared**: {}", escape(&why.to_string()));
    }
    let lines = |verdicts: &[Verdict]| -> Vec<&Compared> {
        let verdicts = ORDER.iter().filter(|v| verdicts.contains(v));
        verdicts.flat_map(|v| comparison.with(*v)).collect()
    };
    table(&mut out, &lines(&[Verdict::Worse, Verdict::Better]));
    let rest = lines(&[Verdict::Same, Verdict::CannotTell]);
    if !rest.is_empty() {
        let _ = write!(
            out,
            "\n<details><summary>{} without a change</summary>\n",
            rest.len()
        );
        table(&mut out, &rest);
        out.push_str("\n</details>\n");
    }
    if !comparison.lines.is_empty() {
        let _ = writeln!(out, "\n{}", reading(comparison));
    }
    for note in &comparison.notes {
        let _ = writeln!(out, "\n> {}", escape(&note.to_string()));
    }
    out
}

fn table(out: &mut String, lines: &[&Compared]) {
    if lines.is_empty() {
        return;
    }
    out.push_str("\n| | figure | before | after | change | p |\n|---|---|--:|--:|--:|--:|\n");
    for line in lines {
        let verdict = match line.verdict {
            Verdict::Worse => "**worse**".to_owned(),
            other => other.to_string(),
        };
        let _ = writeln!(
            out,
            "| {verdict} | {} `{}` | {} | {} | {} | {} |",
            escape(&line.key.to_string()),
            line.kind,
            side(line.kind, line.before),
            side(line.kind, line.after),
            change(line),
            chance(line),
        );
    }
}
