//! Recorded runs in `tests/runs`.

#![allow(clippy::unwrap_used, unreachable_pub, dead_code)]

use std::path::{Path, PathBuf};

use model::{
    findings::{Findings, Severity},
    net::Direction,
    run::Run,
};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runs")
}

/// The findings of a recorded Run, by its name.
pub fn findings(name: &str) -> Findings {
    let packed = std::fs::read(folder().join(format!("{name}.json.zst"))).unwrap();
    let run = Run::parse(&zstd::decode_all(packed.as_slice()).unwrap()).unwrap();
    explain::judge(&run)
}

/// The names of all recorded Runs.
pub fn names() -> Vec<String> {
    let files = std::fs::read_dir(folder()).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    files
        .filter_map(|file| Some(file.strip_suffix(".json.zst")?.to_owned()))
        .collect()
}

/// Cause and direction of a finding that asserts a problem.
pub type Found<'a> = (&'a str, Option<Direction>);

pub const DOWN: Option<Direction> = Some(Direction::Down);
pub const UP: Option<Direction> = Some(Direction::Up);

/// Code and direction of each finding that asserts a problem.
pub fn problems(findings: &Findings) -> Vec<Found<'_>> {
    let all = findings.findings.iter();
    let problems = all.filter(|f| f.severity > Severity::Info);
    problems
        .map(|f| (f.code.as_str(), f.place.direction))
        .collect()
}

/// The code of the first finding.
pub fn first(findings: &Findings) -> Option<&str> {
    findings.findings.first().map(|f| f.code.as_str())
}
