//! `pathtwin twin`, as far as it needs no lab; the search itself is tested in `twin`, and with the
//! lab by `lab accuracy --twins`.

#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(feature = "lab")]

mod common;

use std::path::{Path, PathBuf};

use common::{pathtwin, text};
use corpus::compose::{self, Scene};
use model::{
    net::Direction,
    run::Run,
    spec::Spec,
    twin::{Twin, TwinVerdict},
};

fn kept(folder: &Path, run: &Run) -> PathBuf {
    let path = folder.join("run.json");
    std::fs::write(&path, serde_json::to_vec(run).unwrap()).unwrap();
    path
}

fn by_arithmetic(arguments: &[&str], run: &Path) -> std::process::Output {
    pathtwin()
        .args(["twin", "--budget-time", "0s"])
        .args(arguments)
        .arg(run)
        .output()
        .unwrap()
}

#[test]
fn the_answer_comes_first_and_no_line_is_wider_than_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let run = kept(folder.path(), &compose::run(&Scene::default(), 1));
    let output = by_arithmetic(&[], &run);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let text = text(&output.stdout);
    assert!(text.starts_with("Untested:"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

#[test]
fn the_spec_that_is_written_is_one_that_the_lab_takes() {
    let folder = tempfile::tempdir().unwrap();
    let run = kept(folder.path(), &compose::run(&Scene::default(), 1));
    let out = folder.path().join("twin.toml");
    let output = by_arithmetic(&["--out", out.to_str().unwrap()], &run);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let spec = std::fs::read_to_string(&out).unwrap();
    let cells = Spec::parse("twin.toml", &spec).unwrap().cells().unwrap();
    // 100 Mbit/s of IP packets, with 14 bytes of Ethernet on each 1500.
    let rate = cells[0].path.down.rate.unwrap().mbps();
    assert!(
        (rate / (100.0 * 1514.0 / 1500.0) - 1.0).abs() < 0.04,
        "{rate}"
    );
}

#[test]
fn machines_get_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let run = kept(folder.path(), &compose::run(&Scene::default(), 1));
    let output = by_arithmetic(&["--output", "json"], &run);
    let twin = Twin::parse(&output.stdout).unwrap();
    assert_eq!(twin.verdict, TwinVerdict::Untested);
    assert!(twin.members.is_empty() && twin.effort.runs == 0);
}

#[test]
fn a_run_of_one_direction_is_wrong_use_and_the_plan_that_brings_the_other_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = compose::run(&Scene::default(), 1);
    run.samples
        .retain(|s| s.key.direction != Some(Direction::Down));
    let run = kept(folder.path(), &run);
    let output = by_arithmetic(&[], &run);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(message.contains("TCP in the direction down"), "{message}");
    assert!(message.contains("--quick"), "{message}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_file_that_is_not_a_run_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    std::fs::write(&path, "{}").unwrap();
    assert_eq!(by_arithmetic(&[], &path).status.code(), Some(2));
}
