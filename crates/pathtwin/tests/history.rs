//! `pathtwin history` and `pathtwin compare`, with constructed runs.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![cfg(feature = "history")]

use std::{
    path::Path,
    process::{Command, Output},
};

use serde_json::Value;

fn pathtwin(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pathtwin"))
        .args(arguments)
        .current_dir(folder)
        .env("PATHTWIN_STORE", folder.join("history.db"))
        .output()
        .unwrap()
}

/// Returns the output; the exit code must be this one.
fn ends(folder: &Path, code: i32, arguments: &[&str]) -> String {
    let output = pathtwin(folder, arguments);
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    );
    assert_eq!(
        output.status.code(),
        Some(code),
        "{arguments:?}\n{out}{err}"
    );
    if code == 0 || code == 1 { out } else { err }
}

/// A run with five samples of 1 % of noise around a goodput, an hour after the one before.
fn run(folder: &Path, number: u32, goodput_mbps: f64, kernel: &str) -> String {
    let key =
        r#"{"step": "tcp", "layer": "underlay", "family": "v4", "direction": "down", "flows": 1}"#;
    let noise = |at: u32| 1.0 + f64::from((number * 5 + at) * 37 % 11) / 1000.0 - 0.005;
    let samples: Vec<String> = (0..5)
        .map(|at| {
            format!(
                r#"{{"number": {at}, "key": {key}, "block": {at}, "at_us": {at}, "took_us": 1,
                "valid": true, "tcp": {{"window_us": [0, 1], "goodput_bps": {}, "bytes": 1,
                "flows": []}}}}"#,
                1e6 * goodput_mbps * noise(at)
            )
        })
        .collect();
    let text = format!(
        r#"{{"schema": 1, "id": "{number:016x}", "program": "0.1.0", "started_us": {},
        "took_s": 60.0, "plan": {{"step": []}},
        "near": {{"program": "0.1.0", "facts": {{"schema": 1, "kernel": "{kernel}"}}}},
        "far": {{"program": "0.1.0", "facts": {{"schema": 1}}}},
        "layers": [{{"layer": "underlay", "family": "v4", "near": "192.0.2.1",
                    "far": "192.0.2.2"}}],
        "samples": [{}],
        "figures": [{{"key": {key}, "kind": "goodput_bps", "n": 5, "median": {},
                     "mean": 1.0}}], "ratios": []}}"#,
        1_700_000_000_000_000 + u64::from(number) * 3_600_000_000,
        samples.join(","),
        1e6 * goodput_mbps * noise(2),
    );
    let name = format!("run-{number}.json");
    std::fs::write(folder.join(&name), text).unwrap();
    name
}

/// A history of thirty runs, the last five of which are slower and of another kernel.
fn history() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (1..=30)
        .map(|number| {
            let (goodput, kernel) = if number <= 25 {
                (94.0, "6.1")
            } else {
                (88.0, "6.12")
            };
            run(folder.path(), number, goodput, kernel)
        })
        .collect();
    let mut arguments = vec!["history", "import"];
    arguments.extend(names.iter().map(String::as_str));
    ends(folder.path(), 0, &arguments);
    folder
}

#[test]
fn runs_are_listed_shown_labelled_and_forgotten() {
    let folder = history();
    let folder = folder.path();
    let lines = ends(
        folder,
        0,
        &["history", "list", "--last", "2", "--output", "jsonl"],
    );
    // More than the database counts.
    let many = u64::MAX.to_string();
    ends(folder, 2, &["history", "list", "--last", &many]);
    ends(folder, 2, &["history", "list", "--last", "0"]);
    let last: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(lines.lines().count(), 2);
    assert_eq!(last["id"], format!("{:016x}", 30));
    assert_eq!(last["path"], "192.0.2.2");
    assert_eq!(last["labels"]["kernel"], "6.12");
    assert!(ends(folder, 0, &["history", "list"]).contains("2023-11-16 04:13"));
    let shown = ends(
        folder,
        0,
        &["history", "show", "000000000000001e", "--output", "json"],
    );
    assert_eq!(
        shown,
        std::fs::read_to_string(folder.join("run-30.json")).unwrap()
    );
    assert!(ends(folder, 0, &["history", "show", "000000000000001e"]).contains("5 samples"));
    let id = "0000000000000001";
    ends(
        folder,
        0,
        &["history", "label", id, "change=bbr", "keep=yes", "kernel="],
    );
    let one = ends(
        folder,
        0,
        &[
            "history",
            "list",
            "--label",
            "change=bbr",
            "--output",
            "json",
        ],
    );
    let one: Value = serde_json::from_str(&one).unwrap();
    assert_eq!(
        one[0]["labels"],
        serde_json::json!({"change": "bbr", "keep": "yes"})
    );
    ends(folder, 0, &["history", "delete", "000000000000001e"]);
    let error = ends(folder, 2, &["history", "show", "000000000000001e"]);
    assert!(error.contains("history list"), "{error}");
    let exported = ends(folder, 0, &["history", "export"]);
    assert_eq!(exported.lines().count(), 29);
    std::fs::write(folder.join("all.jsonl"), exported).unwrap();
    ends(
        folder,
        0,
        &["history", "prune", "--older-than", "1d", "--dry-run"],
    );
    ends(folder, 0, &["history", "prune", "--older-than", "1d"]);
    let left = ends(folder, 0, &["history", "list", "--output", "jsonl"]);
    assert_eq!(left.lines().count(), 1);
    ends(folder, 0, &["history", "import", "all.jsonl"]);
    let back = ends(
        folder,
        0,
        &["history", "list", "--output", "jsonl", "--all"],
    );
    assert_eq!(back.lines().count(), 29);
}

#[test]
fn a_trend_names_the_run_and_the_kernel() {
    let folder = history();
    let folder = folder.path();
    let points = ends(
        folder,
        0,
        &[
            "history",
            "series",
            "--figure",
            "goodput_bps",
            "--output",
            "jsonl",
        ],
    );
    assert_eq!(points.lines().count(), 30);
    let changes = ends(folder, 0, &["history", "trend", "--output", "jsonl"]);
    let change: Value = serde_json::from_str(&changes).unwrap();
    assert_eq!(change["run"], format!("{:016x}", 26));
    let facts: Vec<&str> = change["facts"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|fact| fact["fact"].as_str())
        .collect();
    assert_eq!(facts, ["label.kernel", "near.kernel"]);
    let text = ends(folder, 0, &["history", "trend"]);
    assert!(text.contains("near.kernel: 6.1 to 6.12"), "{text}");
}

#[test]
fn a_regression_is_exit_code_1_in_every_form() {
    let folder = history();
    let folder = folder.path();
    let text = ends(folder, 1, &["compare", "before:20", "last:5"]);
    assert!(
        text.contains("last:5 (5 runs) against before:20 (20 runs): 1 worse"),
        "{text}"
    );
    let json = ends(
        folder,
        1,
        &[
            "compare",
            "before:20",
            "000000000000001a",
            "--output",
            "json",
        ],
    );
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["lines"][0]["verdict"], "worse");
    assert_eq!(json["lines"][0]["unit"], "runs");
    assert_eq!(json["before"]["runs"].as_array().unwrap().len(), 20);
    let markdown = ends(
        folder,
        1,
        &[
            "compare",
            "run-3.json",
            "run-28.json",
            "--output",
            "markdown",
        ],
    );
    assert!(
        markdown.contains("| **worse** | underlay/v4 tcp down x1 `goodput_bps` |"),
        "{markdown}"
    );
    let junit = ends(
        folder,
        1,
        &["compare", "run-3.json", "run-28.json", "--output", "junit"],
    );
    assert!(junit.contains("tests=\"1\" failures=\"1\""), "{junit}");
    assert!(junit.contains("<failure type=\"regression\""), "{junit}");
    // In reverse it is better, and with a large threshold it is equal.
    ends(folder, 0, &["compare", "last:5", "before:20"]);
    let same = ends(
        folder,
        0,
        &["compare", "before:20", "last:5", "--threshold", "10%"],
    );
    assert!(same.contains("1 the same"), "{same}");
    let labels = [
        "compare",
        "label:kernel=6.1",
        "label:kernel=6.12",
        "--output",
        "jsonl",
    ];
    assert_eq!(ends(folder, 1, &labels).lines().count(), 1);
}

#[test]
fn incomparable_figures_are_named() {
    let folder = history();
    let folder = folder.path();
    for (arguments, words) in [
        (["compare", "before:3", "before:4"], "name that one"),
        (["compare", "last:x", "1"], "give a number"),
        (["compare", "none.json", "run-1.json"], "read none.json"),
        (["compare", "beef", "run-1.json"], "beef"),
    ] {
        let error = ends(folder, 2, &arguments);
        assert!(error.contains(words), "{error}");
    }
    ends(
        folder,
        0,
        &["history", "label", "0000000000000001", "path=office"],
    );
    let error = ends(folder, 2, &["compare", "before:3", "last:3"]);
    assert!(
        error.contains("give --path: the history has runs of 192.0.2.2, office"),
        "{error}"
    );
    let error = ends(
        folder,
        4,
        &["compare", "before:3", "last:1", "--path", "office"],
    );
    assert!(
        error.contains("no figure that both sets measured"),
        "{error}"
    );
    ends(folder, 2, &["compare", "1", "2", "--only", "speed"]);
    let error = ends(folder, 3, &["history", "list", "--store", "run-1.json"]);
    assert!(error.contains("not a file of SQLite"), "{error}");
}
