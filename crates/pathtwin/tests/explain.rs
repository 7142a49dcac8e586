//! `pathtwin explain`: one Run, and a part of the corpus on the real lab.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::Stdio,
};

use common::{pathtwin, text};
use explain::{
    compose::{Line, Scene, run},
    corpus::Outcome,
};
use model::findings::Findings;

/// A Run of a path that loses packets at random, in a file.
fn lossy() -> (tempfile::TempDir, PathBuf) {
    let line = Line {
        loss: 0.01,
        rtt_ms: 40.0,
        ..Line::default()
    };
    let scene = Scene {
        down: line,
        ..Scene::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    std::fs::write(&path, serde_json::to_vec(&run(&scene, 1)).unwrap()).unwrap();
    (folder, path)
}

#[test]
fn people_get_the_sentence_first_and_the_host_to_act_on() {
    let (_folder, path) = lossy();
    let output = pathtwin().arg("explain").arg(&path).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let text = text(&output.stdout);
    assert!(
        text.starts_with("The congestion control takes random loss"),
        "{text}"
    );
    assert!(text.contains("Next, on the far host:"), "{text}");
    assert!(text.contains("Ruled out:"), "{text}");
}

#[test]
fn machines_get_the_document() {
    let (_folder, path) = lossy();
    let output = pathtwin()
        .args(["explain", "--output", "json"])
        .arg(&path)
        .output()
        .unwrap();
    let findings = Findings::parse(&output.stdout).unwrap();
    assert_eq!(findings.findings[0].code, "random-loss");
}

#[test]
fn the_exit_code_follows_the_severity_asked_for() {
    let (_folder, path) = lossy();
    let code = |arguments: &[&str]| {
        let output = pathtwin()
            .arg("explain")
            .args(arguments)
            .arg(&path)
            .output();
        output.unwrap().status.code()
    };
    assert_eq!(code(&[]), Some(0));
    assert_eq!(code(&["--fail-on", "high"]), Some(1));
    assert_eq!(code(&["--fail-on", "nonsense"]), Some(2));
}

#[test]
fn what_is_no_run_is_wrong_use() {
    let mut child = pathtwin()
        .args(["explain", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"{}").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("not a run"),
        "{}",
        text(&output.stderr)
    );
}

/// Some scenarios of the lab, measured and judged anew, are judged as in the reviewed
/// snapshot, and right. The whole corpus takes too long for a test; its result is in `docs/corpus.md`.
#[test]
fn a_part_of_the_corpus_is_judged_as_reviewed() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut command = pathtwin();
    command
        .args(["explain", "--output", "jsonl", "--corpus"])
        .arg(&corpus);
    let names = [
        "bloat-10m-20ms-200ms-up",
        "healthy-10mbit-20ms",
        "healthy-jitter-10m-30ms",
        "jitter-50m-200ms-20ms-both",
        "police-20m-50ms-20p-both",
        "shaper-10m-up-fqcodel",
        "wrong-host-10m-150ms-1p-up",
    ];
    for name in names {
        command.args(["--only", name]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let judged = outcomes(&text(&output.stdout));
    assert_eq!(judged.len(), names.len());
    let snapshot = std::fs::read_to_string(corpus.join("judged/evaluation.jsonl")).unwrap();
    let snapshot = outcomes(&snapshot);
    for outcome in judged {
        assert!(snapshot.contains(&outcome), "{outcome:#?}");
        let first = outcome.first().map(|f| f.code.as_str());
        assert!(first.is_some_and(|f| outcome.is_true(f)), "{outcome:#?}");
    }
}

fn outcomes(lines: &str) -> Vec<Outcome> {
    let read = |line| serde_json::from_str(line).unwrap();
    lines.lines().map(read).collect()
}
