//! `pathtwin advise`, as far as it needs no lab; the trial itself is tested in `twin`.

#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(feature = "lab")]

mod common;

use std::{path::Path, process::Output};

use common::{pathtwin, text};
use corpus::compose::{self, Scene};
use model::net::Direction;

/// `advise` of a document with this text.
fn advise(folder: &Path, document: &[u8], arguments: &[&str]) -> Output {
    let path = folder.join("document.json");
    std::fs::write(&path, document).unwrap();
    pathtwin()
        .arg("advise")
        .args(arguments)
        .arg(&path)
        .output()
        .unwrap()
}

#[test]
fn other_documents_than_a_run_or_a_twin_are_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    for document in ["{}", "[1]", "no JSON"] {
        let output = advise(folder.path(), document.as_bytes(), &[]);
        assert_eq!(output.status.code(), Some(2), "{document}");
        let message = text(&output.stderr);
        assert!(message.contains("neither a run"), "{message}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_run_of_one_direction_names_the_missing_one_and_the_plan_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = compose::run(&Scene::default(), 1);
    run.samples
        .retain(|s| s.key.direction != Some(Direction::Up));
    let output = advise(folder.path(), &serde_json::to_vec(&run).unwrap(), &[]);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(message.contains("TCP in the direction up"), "{message}");
    assert!(message.contains("--quick"), "{message}");
}

#[test]
fn an_invalid_bound_shows_the_syntax() {
    let folder = tempfile::tempdir().unwrap();
    let output = advise(folder.path(), b"{}", &["--keep", "goodput=90"]);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(message.contains("goodput>=90%"), "{message}");
}
