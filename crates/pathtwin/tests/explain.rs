//! `pathtwin explain`.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::Stdio,
};

use common::{copy_program, pathtwin, text};
use corpus::compose::{Line, Scene, run};
use model::findings::Findings;

/// A Run of a path that loses packets at random, in a file.
fn lossy() -> (tempfile::TempDir, PathBuf) {
    // A round trip is the same in either direction of the data.
    let line = Line {
        rtt_ms: 40.0,
        ..Line::default()
    };
    let scene = Scene {
        down: Line {
            loss: 0.01,
            ..line.clone()
        },
        up: line,
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
        text.starts_with("The congestion control mistakes random loss"),
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
    assert_eq!(findings.findings[0].code.as_str(), "random-loss");
}

#[test]
fn the_exit_code_follows_the_requested_severity() {
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
fn a_file_that_is_not_a_run_is_a_usage_error() {
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

#[test]
fn an_empty_run_and_a_cut_one_are_called_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.json");
    for (content, why) in [
        (" \n", "it is empty"),
        ("{\"schema\": 1,\n\"id\": [1", "cut off, in line 2"),
    ] {
        std::fs::write(&file, content).unwrap();
        let output = pathtwin().arg("explain").arg(&file).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(
            text(&output.stderr).contains(why),
            "{}",
            text(&output.stderr)
        );
    }
}

/// The options of a run were listed as those of the corpus.
#[test]
fn the_options_of_a_run_are_listed_before_those_of_the_corpus() {
    let output = pathtwin().args(["explain", "--help"]).output().unwrap();
    let help = text(&output.stdout);
    let corpus = help.find("For --corpus:").unwrap_or(help.len());
    for option in ["--all", "--fail-on", "--output"] {
        assert!(help.find(option).unwrap() < corpus, "{option}: {help}");
    }
}

/// The checks of pathtwin itself are a separate program, which a user's build may lack.
#[test]
fn a_build_without_the_checks_reports_the_missing_program() {
    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().join("pathtwin");
    copy_program(Path::new(env!("CARGO_BIN_EXE_pathtwin")), &alone);
    for command in ["explain --corpus corpus", "lab validate", "lab accuracy"] {
        let output = std::process::Command::new(&alone)
            .args(command.split(' '))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(3), "{command}");
        let error = text(&output.stderr);
        assert!(error.contains("pathtwin-validation"), "{command}: {error}");
        assert!(error.contains("make build"), "{command}: {error}");
    }
}
