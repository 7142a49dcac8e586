//! `pathtwin explain --corpus`: a part of the corpus on the real lab.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use corpus::Outcome;

/// The guest program: the one named, or the optimised one of `make build`.
fn guest() -> PathBuf {
    let made = "../../target/x86_64-unknown-linux-musl/release/pathtwin-guest";
    std::env::var_os("PATHTWIN_GUEST").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join(made),
        PathBuf::from,
    )
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Some scenarios of the lab, measured and judged again, are judged as in the reviewed snapshot,
/// and right. The whole corpus takes too long for a test; its result is in `docs/corpus.md`.
#[test]
fn a_part_of_the_corpus_is_judged_as_reviewed() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut command = Command::new(env!("CARGO_BIN_EXE_pathtwin-validation"));
    command
        .env("PATHTWIN_GUEST", guest())
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
        let first = outcome.first().map(|f| &f.code);
        assert!(first.is_some_and(|f| outcome.is_true(f)), "{outcome:#?}");
    }
}

fn outcomes(lines: &str) -> Vec<Outcome> {
    let read = |line| serde_json::from_str(line).unwrap();
    lines.lines().map(read).collect()
}

#[test]
fn all_else_is_for_pathtwin() {
    let output = Command::new(env!("CARGO_BIN_EXE_pathtwin-validation"))
        .arg("facts")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("run pathtwin"),
        "{}",
        text(&output.stderr)
    );
}
