//! Runs as Markdown, for pull requests and wikis: findings and figures.

use std::fmt::Write as _;

use model::{
    findings::{Finding, Findings},
    run::{FigureKind, Run},
    safe::{markdown as escape, markdown_code as code},
};

use crate::{
    figures::{FigureTable, row_name, tables},
    run::{ratio_text, span, value},
    time,
};

/// Kinds of figures that are shown directly; the others are in a collapsed section.
const FIRST: [FigureKind; 4] = [
    FigureKind::Goodput,
    FigureKind::Capacity,
    FigureKind::RttP50,
    FigureKind::RttP99,
];

/// The text.
pub fn markdown(run: &Run, findings: &Findings) -> String {
    let mut out = format!("### Run `{}` of {}\n\n", code(&run.id), escape(&run.path()));
    let _ = writeln!(
        out,
        "{}, plan {}, {} samples in {}, {} of them valid{}.",
        time::utc(run.started_us),
        escape(&run.plan.name),
        run.samples.len(),
        span(run.took_s),
        run.samples.iter().filter(|s| s.valid).count(),
        if run.lab {
            "; a lab path, in virtual time"
        } else {
            ""
        },
    );
    if let Some(why) = &run.cut_short {
        let _ = writeln!(out, "\n**Cut short**: {}", escape(&why.to_string()));
    }
    for caveat in &run.caveats {
        let _ = writeln!(out, "\n**Not measured**: {}", escape(&caveat.to_string()));
    }
    if let Some(why) = crate::shortfall::sentence(run) {
        let _ = writeln!(out, "\n**Not enough for a verdict**: {}", escape(&why));
    }
    let _ = writeln!(
        out,
        "\n**{}**\n",
        escape(findings.summary.to_string().trim())
    );
    for (number, finding) in findings.findings.iter().enumerate() {
        let _ = writeln!(out, "{}. {}", number + 1, cause(finding));
    }
    let (first, rest): (Vec<_>, Vec<_>) = tables(run)
        .into_iter()
        .partition(|table| FIRST.contains(&table.kind));
    for table in first {
        figures(&mut out, &table);
    }
    if !rest.is_empty() {
        out.push_str("\n<details><summary>All other figures</summary>\n");
        for table in rest {
            figures(&mut out, &table);
        }
        out.push_str("\n</details>\n");
    }
    remarks(run, &mut out);
    out
}

fn cause(finding: &Finding) -> String {
    let direction = finding.place.direction.map(|d| format!("{d}, "));
    let mut text = format!(
        "{} ({}{}, {:.0} % sure): {}.",
        escape(&finding.title.to_string()),
        direction.unwrap_or_default(),
        finding.severity,
        100.0 * finding.confidence,
        escape(&finding.text.to_string()),
    );
    if let Some(remedy) = finding.remedies.first() {
        let on = remedy.on.side().map(|end| format!(", on the {end}"));
        let what = escape(&remedy.sentence().to_string());
        // Writing to a String cannot fail.
        let _ = write!(text, " Next{}: {what}.", on.unwrap_or_default());
    }
    text
}

fn figures(out: &mut String, table: &FigureTable<'_>) {
    let mut heading = vec![table.kind.text().to_owned()];
    heading.extend(table.layers.iter().map(ToString::to_string));
    let both = table.layers.len() == 2;
    if both {
        heading.push("tunnel/underlay".to_owned());
    }
    let _ = writeln!(out, "\n| {} |", heading.join(" | "));
    let _ = writeln!(out, "|---|{}", "--:|".repeat(heading.len() - 1));
    for row in &table.rows {
        let mut cells = vec![row_name(row.key)];
        let values = row.figures.iter();
        cells.extend(values.map(|f| f.map_or_else(String::new, value)));
        if both {
            cells.push(row.ratio.map_or_else(String::new, ratio_text));
        }
        let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
}

fn remarks(run: &Run, out: &mut String) {
    for sample in run.samples.iter().filter(|s| !s.valid) {
        let why: Vec<String> = sample.invalid.iter().map(ToString::to_string).collect();
        let what = format!("{}: {}: {}", sample.number, sample.key, why.join("; "));
        let _ = writeln!(out, "\n> does not count: {}", escape(&what));
    }
    for note in &run.notes {
        let _ = writeln!(out, "\n> {}", escape(&note.to_string()));
    }
}
