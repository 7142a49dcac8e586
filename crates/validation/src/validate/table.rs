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
    reasons(&mut out, &report.lines);
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

/// Why lines have no value, each reason once: an image that does not boot fails all checks.
fn reasons(out: &mut String, lines: &[Line]) {
    // Process ids and addresses differ from line to line.
    let without_digits =
        |text: &str| -> String { text.chars().filter(|c| !c.is_ascii_digit()).collect() };
    let mut said = Vec::new();
    let mut more = 0;
    for line in lines {
        let Some(reason) = &line.reason else { continue };
        let key = (line.verdict, without_digits(reason));
        if said.contains(&key) {
            more += 1;
        } else {
            let _ = writeln!(out, "{}: {reason}", line.check);
            said.push(key);
        }
    }
    match more {
        0 => {}
        1 => out.push_str("1 further line has one of these reasons\n"),
        n => {
            let _ = writeln!(out, "{n} further lines have one of these reasons");
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_that_does_not_boot_has_its_reason_in_the_table_once() {
        let died = |pid: u32| Line::failed(String::new(), format!("the guest ended; pid = {pid}"));
        let mut lines: Vec<Line> = (1..=24).map(died).collect();
        lines.push(Line::skipped("there is no iperf3"));
        let mut out = String::new();
        reasons(&mut out, &lines);
        let printed: Vec<&str> = out.lines().collect();
        assert_eq!(
            printed,
            [
                ": the guest ended; pid = 1",
                ": there is no iperf3",
                "23 further lines have one of these reasons"
            ]
        );
    }
}
