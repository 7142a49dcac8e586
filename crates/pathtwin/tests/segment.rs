//! `pathtwin lab run --segment` and `pathtwin lab gather`: parts of a spec on several machines.

#![allow(clippy::expect_used)]

mod common;

use std::{
    path::Path,
    process::{Output, Stdio},
    time::Duration,
};

use common::{parse, pathtwin, rows, spec, text};
use serde_json::Value;

/// Six cells of two rows each.
const SWEEP: &str = r#"
name = "sweep"
duration = "1s"
warmup = "500ms"
repeats = 2
[path]
rtt = "10ms"
rate = "20mbit"
[traffic]
direction = "both"
[matrix]
"ends.server.cc" = ["cubic", "bbr", "reno"]
"#;

fn segment(spec: &Path, which: &str, folder: &Path, more: &[&str]) -> Output {
    pathtwin()
        .args(["lab", "run", "--output", "jsonl", "--segment", which])
        .arg(spec)
        .arg("--out")
        .arg(folder)
        .args(more)
        .output()
        .expect("run pathtwin")
}

fn gather(folders: &[&Path]) -> Output {
    pathtwin()
        .args(["lab", "gather", "--output", "jsonl"])
        .args(folders)
        .output()
        .expect("run pathtwin")
}

/// The lines of a run without its cost, which differs from run to run.
fn without_cost(rows: &[Value]) -> Vec<Value> {
    let mut rows = rows.to_vec();
    for row in &mut rows {
        let row = row.as_object_mut().expect("a row");
        for cost in ["cpu_s", "wall_s", "cached"] {
            row.remove(cost).expect("a cost");
        }
    }
    rows
}

#[test]
fn segments_of_any_split_are_gathered_to_the_rows_of_one_machine() {
    let (folder, path) = spec(SWEEP);
    let place = |name: &str| folder.path().join(name);
    let local = without_cost(&rows(&path, &[]));
    let whole = segment(&path, "1/1", &place("whole"), &["--no-cache"]);
    assert!(whole.status.success(), "{}", text(&whole.stderr));
    let whole = gather(&[&place("whole")]);
    assert!(whole.status.success(), "{}", text(&whole.stderr));
    assert_eq!(parse(&whole), local);
    // In another order, into one folder and into separate folders.
    for (which, name) in [("3/4", "a"), ("1/4", "b"), ("4/4", "a"), ("2/4", "c")] {
        let part = segment(&path, which, &place(name), &["--no-cache"]);
        assert!(part.status.success(), "{}", text(&part.stderr));
    }
    let parts = gather(&[&place("c"), &place("a"), &place("b")]);
    assert_eq!(parts.status.code(), Some(0), "{}", text(&parts.stderr));
    assert_eq!(text(&parts.stdout), text(&whole.stdout));
}

#[test]
fn a_segment_that_was_killed_is_resumed_and_a_missing_one_is_named() {
    let (folder, path) = spec(SWEEP);
    let place = |name: &str| folder.path().join(name);
    assert!(segment(&path, "1/2", &place("a"), &[]).status.success());
    let missing = gather(&[&place("a")]);
    assert_eq!(missing.status.code(), Some(4));
    let message = text(&missing.stderr);
    assert!(
        message.contains("3 cells missing") && message.contains("2/2"),
        "{message}"
    );

    assert!(segment(&path, "2/2", &place("b"), &[]).status.success());
    let whole = gather(&[&place("a"), &place("b")]);
    assert_eq!(whole.status.code(), Some(0), "{}", text(&whole.stderr));
    // As left by a run that was killed while it wrote its last cell.
    let file = place("b").join("segment-2-of-2.jsonl");
    let bytes = std::fs::read(&file).expect("read the segment");
    std::fs::write(&file, &bytes[..bytes.len() - 100]).expect("truncate it");
    let cut = gather(&[&place("a"), &place("b")]);
    assert_eq!(cut.status.code(), Some(4));
    assert!(
        text(&cut.stderr).contains("truncated"),
        "{}",
        text(&cut.stderr)
    );

    let refused = segment(&path, "2/2", &place("b"), &[]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("--resume"));
    let resumed = segment(&path, "2/2", &place("b"), &["--resume", "--no-cache"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed.stderr));
    let again = gather(&[&place("a"), &place("b")]);
    assert_eq!(text(&again.stdout), text(&whole.stdout));
}

/// As by a second `--resume` of the segment, which continues in a new file. A cell of it takes the
/// processor for seconds, so that the file is replaced before the first one ends.
#[test]
fn a_segment_whose_file_was_replaced_is_not_reported_as_complete() {
    let long = SWEEP
        .replace("\"1s\"", "\"200s\"")
        .replace("repeats = 2", "repeats = 1")
        .replace(", \"reno\"", "");
    let (folder, path) = spec(&long);
    let out = folder.path().join("out");
    let file = out.join("segment-1-of-1.jsonl");
    let mut run = pathtwin()
        .args(["lab", "run", "--segment", "1/1", "--no-cache", "--jobs=1"])
        .arg(&path)
        .arg("--out")
        .arg(&out)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("run pathtwin");
    while !file.exists() && run.try_wait().expect("look at pathtwin").is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let other = out.join("other");
    std::fs::copy(&file, &other).expect("copy the file");
    std::fs::rename(&other, &file).expect("replace the file");
    let output = run.wait_with_output().expect("wait for pathtwin");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    let message = text(&output.stderr);
    assert!(message.contains("was replaced"), "{message}");
    assert!(!message.contains("of the 2 cells"), "{message}");
    let resumed = segment(&path, "1/1", &out, &["--resume", "--no-cache"]);
    assert!(resumed.status.success(), "{}", text(&resumed.stderr));
    let whole = gather(&[&out]);
    assert!(whole.status.success(), "{}", text(&whole.stderr));
}

#[test]
fn a_cell_that_fails_everywhere_is_named_with_its_seed_and_the_others_are_complete() {
    let (folder, path) = spec(&SWEEP.replace("\"reno\"", "\"no_such_cc\""));
    let place = |name: &str| folder.path().join(name);
    let codes = ["1/2", "2/2"].map(|which| {
        let output = segment(&path, which, &place(which.get(..1).expect("K")), &[]);
        output.status.code()
    });
    assert!(codes.contains(&Some(4)), "{codes:?}");
    let gathered = gather(&[&place("1"), &place("2")]);
    assert_eq!(gathered.status.code(), Some(4));
    let message = text(&gathered.stderr);
    assert!(
        message.contains("no_such_cc") && message.contains("seed"),
        "{message}"
    );
    assert_eq!(parse(&gathered).len(), 8, "{message}");
}

#[test]
fn a_segment_of_another_spec_is_not_gathered_and_not_resumed() {
    let (folder, path) = spec(SWEEP);
    let place = |name: &str| folder.path().join(name);
    assert!(segment(&path, "1/2", &place("a"), &[]).status.success());
    let other = segment(&path, "2/2", &place("b"), &["--set", "path.rtt=11ms"]);
    assert!(other.status.success(), "{}", text(&other.stderr));
    let mixed = gather(&[&place("a"), &place("b")]);
    assert_eq!(mixed.status.code(), Some(2));
    assert!(
        text(&mixed.stderr).contains("spec"),
        "{}",
        text(&mixed.stderr)
    );
    let resumed = segment(&path, "2/2", &place("b"), &["--resume"]);
    assert_eq!(resumed.status.code(), Some(2));
}

#[test]
fn a_manifest_has_one_index_a_segment() {
    let (_folder, path) = spec(SWEEP);
    let output = pathtwin()
        .args([
            "lab",
            "kubernetes",
            "--segments",
            "3",
            "--image",
            "i",
            "--claim",
            "results",
        ])
        .arg(&path)
        .output()
        .expect("run pathtwin");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let manifest: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(manifest["items"][0]["data"]["spec.toml"], SWEEP);
    assert_eq!(manifest["items"][1]["spec"]["completions"], 3);
    for arguments in [["--segments", "0"], ["--claim", "A_B"]] {
        let refused = pathtwin()
            .args(["lab", "kubernetes", "--image", "i", "spec.toml"])
            .args(arguments)
            .output()
            .expect("run pathtwin");
        assert_eq!(refused.status.code(), Some(2));
    }
}
