//! Runs as JUnit XML for CI servers: validity of the samples, and findings. Also the serialization
//! of test cases for other documents.

use std::fmt::Write as _;

use model::{
    cause::CauseCode,
    findings::{Finding, Findings, Place, Severity},
    run::{Key, Run, Sample},
    safe::xml as escape,
};

/// Outcome of a test case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    /// With the kind of failure.
    Failed(&'static str),
    /// It could not be run.
    Error(&'static str),
    Skipped,
}

/// A test case with its details.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) class: String,
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) outcome: Outcome,
}

/// A suite of test cases.
#[derive(Clone, Debug)]
pub(crate) struct Suite {
    pub(crate) name: String,
    pub(crate) cases: Vec<Case>,
}

/// A run: a case per measurement, which is an error without valid samples, and a case per cause,
/// which fails if it is found with a relevant severity.
pub fn junit(run: &Run, findings: &Findings) -> String {
    let suites = [
        Suite {
            name: format!("samples of run {}", run.id),
            cases: samples(run),
        },
        Suite {
            name: format!("what limits the path of run {}", run.id),
            cases: causes(findings),
        },
    ];
    document("pathtwin report", &suites)
}

fn samples(run: &Run) -> Vec<Case> {
    let mut keys: Vec<&Key> = run.samples.iter().map(|s| &s.key).collect();
    keys.sort();
    keys.dedup();
    let mut cases: Vec<Case> = keys.into_iter().map(|key| counted(run, key)).collect();
    cases.push(Case {
        class: "run".to_owned(),
        name: "ended by itself".to_owned(),
        text: run
            .cut_short
            .as_ref()
            .map_or_else(String::new, ToString::to_string),
        outcome: match run.cut_short {
            Some(_) => Outcome::Error("cut short"),
            None => Outcome::Passed,
        },
    });
    cases
}

fn counted(run: &Run, key: &Key) -> Case {
    let of: Vec<&Sample> = run.samples.iter().filter(|s| s.key == *key).collect();
    let count = of.iter().filter(|s| s.valid).count();
    let mut text = format!("{count} of {} samples valid", of.len());
    for sample in of.iter().filter(|s| !s.valid) {
        let why: Vec<String> = sample.invalid.iter().map(ToString::to_string).collect();
        let _ = write!(text, "; {}: {}", sample.number, why.join(", "));
    }
    Case {
        class: key.to_string(),
        name: "samples count".to_owned(),
        text,
        outcome: match count {
            0 => Outcome::Error("no valid sample"),
            _ => Outcome::Passed,
        },
    }
}

fn causes(findings: &Findings) -> Vec<Case> {
    let case = |code: &CauseCode, place: Place, text: String, outcome| Case {
        class: code.to_string(),
        name: name(place),
        text,
        outcome,
    };
    let found = findings.findings.iter().map(|f| {
        let outcome = match f.severity {
            Severity::High => Outcome::Failed("high"),
            Severity::Medium => Outcome::Failed("medium"),
            Severity::Low | Severity::Info => Outcome::Passed,
        };
        let text = format!(
            "{} ({}, {:.0} % sure): {}. Next: {}.",
            f.title,
            f.severity,
            100.0 * f.confidence,
            f.text,
            what_to_do(f)
        );
        case(&f.code, f.place, text, outcome)
    });
    let not = findings
        .ruled_out
        .iter()
        .map(|r| case(&r.code, r.place, r.why.to_string(), Outcome::Passed));
    let unknown = findings.cannot_tell.iter().map(|c| {
        let text = format!("undecided: {}; to decide: {}", c.because, c.settle);
        case(&c.code, c.place, text, Outcome::Skipped)
    });
    found.chain(not).chain(unknown).collect()
}

/// A place, such as `down, near host`.
fn name(place: Place) -> String {
    let direction = place.direction.map(|d| d.to_string());
    let end = place.end.map(|e| e.to_string());
    let parts: Vec<String> = direction.into_iter().chain(end).collect();
    if parts.is_empty() {
        "path".to_owned()
    } else {
        parts.join(", ")
    }
}

/// The XML document.
pub(crate) fn document(name: &str, suites: &[Suite]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let all: Vec<&Case> = suites.iter().flat_map(|suite| &suite.cases).collect();
    let _ = writeln!(
        out,
        "<testsuites name=\"{}\" {}>",
        escape(name),
        numbers(&all)
    );
    for suite in suites {
        let cases: Vec<&Case> = suite.cases.iter().collect();
        let name = escape(&suite.name);
        let _ = writeln!(out, "  <testsuite name=\"{name}\" {}>", numbers(&cases));
        for case in cases {
            write_case(&mut out, case);
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn numbers(cases: &[&Case]) -> String {
    let count = |is: fn(&Outcome) -> bool| cases.iter().filter(|c| is(&c.outcome)).count();
    format!(
        "tests=\"{}\" failures=\"{}\" skipped=\"{}\" errors=\"{}\"",
        cases.len(),
        count(|o| matches!(o, Outcome::Failed(_))),
        count(|o| matches!(o, Outcome::Skipped)),
        count(|o| matches!(o, Outcome::Error(_))),
    )
}

fn write_case(out: &mut String, case: &Case) {
    let [class, name, text] = [&case.class, &case.name, &case.text].map(|t| escape(t));
    let inside = match case.outcome {
        Outcome::Failed(kind) => format!("<failure type=\"{kind}\" message=\"{text}\"/>"),
        Outcome::Error(kind) => format!("<error type=\"{kind}\" message=\"{text}\"/>"),
        Outcome::Skipped => format!("<skipped message=\"{text}\"/>"),
        Outcome::Passed => format!("<system-out>{text}</system-out>"),
    };
    let _ = writeln!(
        out,
        "    <testcase classname=\"{class}\" name=\"{name}\">\n      {inside}\n    </testcase>"
    );
}

/// Sentences of all remedies.
fn what_to_do(finding: &Finding) -> String {
    let all = finding.remedies.iter().map(|r| r.sentence().to_string());
    all.collect::<Vec<_>>().join("; ")
}
