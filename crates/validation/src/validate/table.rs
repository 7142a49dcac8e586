//! The report as a table.

use std::fmt::Write;

use report::plain;

use serde::Serialize;

use super::line::{Line, Verdict, number};

/// Version of [`Report`].
pub const REPORT_SCHEMA: u32 = 1;

/// The results of checks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// [`REPORT_SCHEMA`].
    pub schema: u32,
    /// Release of the kernel; absent if no cell ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The lines of the table.
    pub lines: Vec<Line>,
}

impl Report {
    /// Lines with a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.lines.iter().filter(|l| l.verdict == verdict).count()
    }
}

const HEADING: [&str; 5] = ["check", "expected", "got", "verdict", "source"];

/// The table, and a last line with counts.
pub fn table(report: &Report) -> String {
    let rows = report.lines.iter().map(row).collect();
    let mut out = plain::table(&HEADING, &[], rows);
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

fn row(line: &Line) -> Vec<String> {
    let with_unit = |text: String| match text.as_str() {
        "" => text,
        _ => format!("{text} {}", line.unit).trim_end().to_owned(),
    };
    vec![
        line.check.clone(),
        with_unit(line.expected.to_string()),
        line.got.map(number).unwrap_or_default(),
        line.verdict.to_string(),
        line.source.clone(),
    ]
}
