//! A hostile document on the user's terminal.

#![allow(clippy::expect_used)]

mod common;

use std::{fs, path::Path};

use common::{pathtwin, text};
use serde_json::{Value, json};

/// Sets the title, clears the screen, turns red by a control of one character, reverses the
/// direction of the following text, begins a line.
const WEAPON: &str = "\u{1b}]0;t\u{7}\u{1b}[2J\u{9b}31m\u{202e}\r\npathtwin: FORGED";

/// A run with it in place of all that may be any text. The history takes no such id.
fn armed(folder: &Path, id: bool) -> String {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../model/tests/data/run-1.json"
    );
    let mut run: Value = serde_json::from_slice(&fs::read(file).expect("read")).expect("JSON");
    let places = [
        "/id",
        "/plan/name",
        "/program",
        "/near/facts/kernel",
        "/far/facts/kernel",
    ];
    for place in &places[usize::from(!id)..] {
        if let Some(value) = run.pointer_mut(place) {
            *value = json!(WEAPON);
        }
    }
    run["notes"] = json!([WEAPON]);
    run["cut_short"] = json!(WEAPON);
    let at = folder.join(if id { "run.json" } else { "kept.json" });
    fs::write(&at, serde_json::to_vec(&run).expect("JSON")).expect("write");
    at.display().to_string()
}

fn acts(c: char) -> bool {
    (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c)
}

#[test]
fn nothing_of_a_document_reaches_the_terminal_as_a_control() {
    let folder = tempfile::tempdir().expect("make a folder");
    let run = armed(folder.path(), true);
    let kept = armed(folder.path(), false);
    let store = folder.path().join("history.db").display().to_string();
    let mut seen = 0;
    let commands: [&[&str]; 9] = [
        &["explain", &run],
        &["explain", &run, "--all"],
        &["explain", &run, "--output", "json"],
        &["compare", &run, &run],
        &["compare", &run, &run, "--output", "json"],
        &["report", &run, "--format", "markdown"],
        &["report", &run, "--format", "csv"],
        &["report", &run, "--format", "junit"],
        &["history", "import", &kept, "--store", &store],
    ];
    for words in commands {
        let output = pathtwin().args(words).output().expect("run pathtwin");
        let message = text(&output.stdout) + &text(&output.stderr);
        assert!(
            output.status.code().is_some_and(|c| c < 2),
            "{words:?}: {message:?}"
        );
        assert!(!message.contains(acts), "{words:?}: {message:?}");
        let forged = message.lines().any(|l| l.starts_with("pathtwin: FORGED"));
        assert!(!forged, "{words:?}: {message:?}");
        seen += usize::from(message.contains("FORGED"));
    }
    // It was present, to be shown.
    assert!(seen >= 4, "{seen}");
    for words in [&["history", "list"][..], &["history", "show", "\u{1b}"][..]] {
        let output = pathtwin()
            .args(words)
            .args(["--store", &store])
            .output()
            .expect("run pathtwin");
        let message = text(&output.stdout) + &text(&output.stderr);
        assert!(!message.contains(acts), "{words:?}: {message:?}");
    }
}
