//! The answer in the README equals the terminal output for a recorded run.

#![allow(clippy::expect_used)]

use model::run::Run;
use report::answer::{Screen, text};

const RUN: &str = include_str!("../../model/tests/data/run-1.json");

fn answer() -> String {
    let run = Run::parse(RUN.as_bytes()).expect("a run");
    let findings = explain::judge(&run);
    let more = "All figures and the evidence: pathtwin report ID --out report.html, \
         pathtwin explain ID --all";
    let next = explain::next(&run, &findings);
    text(&run, &findings, next.as_ref(), Screen::MIN, more)
}

#[test]
fn the_answer_of_the_readme_is_what_a_terminal_shows() {
    shown("answer", &answer());
}

/// The verdict was under a hundred lines of tables once.
#[test]
fn the_answer_fits_a_terminal_and_begins_with_the_verdict() {
    let answer = answer();
    assert!(answer.lines().count() <= 22, "{answer}");
    assert!(
        answer.lines().all(|line| line.chars().count() <= 80),
        "{answer}"
    );
    let run = Run::parse(RUN.as_bytes()).expect("a run");
    let findings = explain::judge(&run);
    let title = findings.findings[0].title.to_string();
    let first = answer.lines().next().expect("a line").to_lowercase();
    assert!(first.starts_with(&title.to_lowercase()[..20]), "{answer}");
    assert!(
        answer.contains("Mbit/s") && answer.contains("RTT"),
        "{answer}"
    );
    assert!(answer.contains("Next"), "{answer}");
}

/// The block below a mark in the README equals the output of the program; with `UPDATE_DOCS` it is
/// written there.
fn shown(mark: &str, printed: &str) {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = std::fs::read_to_string(file).expect("the README");
    let mark = format!("<!-- {mark}");
    let start = readme.find(&mark).expect("the mark");
    let open = start + readme[start..].find("```text\n").expect("a block") + "```text\n".len();
    let close = open + readme[open..].find("```").expect("its end");
    let printed: String = printed
        .trim_end()
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let text = format!("{}{printed}{}", &readme[..open], &readme[close..]);
        return std::fs::write(file, text).expect("write the README");
    }
    assert_eq!(&readme[open..close], printed, "UPDATE_DOCS=1 renews it");
}
