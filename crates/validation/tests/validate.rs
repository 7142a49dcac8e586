//! The whole set of checks, with the current kernel and guest program, and their results in
//! `docs/validation.md`. `UPDATE_DOCS=1` regenerates the table there.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use lab::{Config, Lab};
use validation::validate::{self, Bench, Report, Verdict};

const FENCE: &str = "```text\n";

#[test]
fn all_checks_pass() {
    let report = report();
    let table = validate::table(&report);
    println!("{table}");
    document(&report, &table);
    let failed: Vec<&str> = report
        .lines
        .iter()
        .filter(|l| l.verdict == Verdict::Fail)
        .map(|l| l.check.as_str())
        .collect();
    assert!(failed.is_empty(), "failed: {failed:?}");
}

/// The guest program: the one named, or the optimised one of `make build`.
fn guest() -> PathBuf {
    let made = "../../target/x86_64-unknown-linux-musl/release/pathtwin-guest";
    std::env::var_os("PATHTWIN_GUEST").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join(made),
        PathBuf::from,
    )
}

fn report() -> Report {
    let lab = Lab::open(&Config {
        guest: Some(guest()),
        ..Config::default()
    });
    let lab = lab.expect("a kernel image and a guest program; make test builds them");
    let stop = AtomicBool::new(false);
    let bench = Bench {
        lab: &lab,
        stop: &stop,
        engine: model::cell::PathEngine::default(),
    };
    validate::run(bench, &validate::checks(), &mut |_| ()).unwrap()
}

/// Names and verdicts of the documented table are those of the report. The values may differ with
/// the kernel's version.
fn document(report: &Report, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/validation.md");
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(FENCE).unwrap();
    let (documented, after) = rest.split_once("```\n").unwrap();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{before}{FENCE}{table}```\n{after}")).unwrap();
        return;
    }
    for line in report.lines.iter().filter(|l| l.verdict != Verdict::Skip) {
        let own = documented
            .lines()
            .find(|d| d.trim_start().starts_with(&format!("{}  ", line.check)));
        let own = own.unwrap_or_else(|| panic!("not in docs/validation.md: {}", line.check));
        let verdict = format!("  {}  ", line.verdict);
        assert!(own.contains(&verdict), "docs/validation.md: {own}");
    }
}

/// The counts below the documented table are those of its rows.
#[test]
fn the_documented_counts_are_those_of_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/validation.md");
    let text = fs::read_to_string(&path).unwrap();
    let (_, rest) = text.split_once(FENCE).unwrap();
    let (table, _) = rest.split_once("```\n").unwrap();
    let rows = |verdict: &str| {
        let verdict = format!("  {verdict}  ");
        table.lines().filter(|line| line.contains(&verdict)).count()
    };
    let counts = format!(
        "{} passed, {} failed, {} differ as documented",
        rows("pass"),
        rows("FAIL"),
        rows("differs")
    );
    assert!(table.contains(&counts), "the rows give: {counts}");
}
