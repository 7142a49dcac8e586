//! The report as a table for people.

use std::fmt::Write;

use super::{Line, Report, Verdict, line::number};

const HEADING: [&str; 5] = ["check", "expected", "got", "verdict", "source"];

/// The table, and a last line that counts.
pub fn table(report: &Report) -> String {
    let rows: Vec<[String; 5]> = report.lines.iter().map(row).collect();
    let heading = HEADING.map(str::to_owned);
    let mut widths = [0; 5];
    for row in std::iter::once(&heading).chain(&rows) {
        for (width, text) in widths.iter_mut().zip(row) {
            *width = text.chars().count().max(*width);
        }
    }
    let mut out = String::new();
    for row in std::iter::once(&heading).chain(&rows) {
        let mut line = String::new();
        for (text, width) in row.iter().zip(widths) {
            let pad = width - text.chars().count();
            let _ = write!(line, "{text}{:pad$}  ", "");
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    for line in &report.lines {
        if let Some(reason) = &line.reason {
            let _ = writeln!(out, "{}: {reason}", line.check);
        }
    }
    let _ = writeln!(
        out,
        "{} passed, {} failed, {} differ as documented, {} skipped; kernel {}",
        report.count(Verdict::Pass),
        report.count(Verdict::Fail),
        report.count(Verdict::Known),
        report.count(Verdict::Skip),
        report.kernel.as_deref().unwrap_or("unknown")
    );
    out
}

fn row(line: &Line) -> [String; 5] {
    let with_unit = |text: String| match text.as_str() {
        "" => text,
        _ => format!("{text} {}", line.unit).trim_end().to_owned(),
    };
    [
        line.check.clone(),
        with_unit(line.expected.to_string()),
        line.got.map(number).unwrap_or_default(),
        line.verdict.to_string(),
        line.source.clone(),
    ]
}
