//! `pathtwin advise --calibration`: predictions of a history and their outcomes.

#![allow(clippy::expect_used, clippy::unwrap_used)]
#![cfg(all(feature = "lab", feature = "history"))]

mod common;

use std::path::Path;

use common::{pathtwin, text};
use serde_json::{Value, json};

/// A figure whose measured ratio is `with`, with its prediction.
fn figure(role: &str, figure: &str, with: f64, predicted: Option<[f64; 3]>) -> Value {
    let estimate = |[low, value, high]: [f64; 3]| json!({"value": value, "low": low, "high": high});
    let mut all = json!({
        "direction": "down", "figure": figure, "role": role, "without": 1.0, "with": with,
        "ratio": estimate([with; 3]), "verdict": "better",
    });
    if let Some(predicted) = predicted {
        all["predicted"] = estimate(predicted);
    }
    all
}

/// The document that `fix` leaves in the history.
fn proof(decision: &str, figures: &[Value]) -> Value {
    let set = json!({"name": "", "runs": []});
    json!({"proof": {
        "schema": 1, "program": "t", "changes": [], "goal": "balanced", "decision": decision,
        "says": decision, "acted": [], "turns": [], "figures": figures,
        "comparison": {
            "schema": 1, "before": set, "after": set, "threshold": 0.02, "share_threshold": 0.001,
            "lines": [],
        },
    }})
}

/// Saves documents to a history, as an archive of another one.
fn import(store: &Path, documents: &[Value]) {
    let line = |(number, body): (usize, &Value)| {
        let head = json!({
            "pathtwin_archive": 1, "kind": "change", "id": format!("{number:032x}"), "schema": 1,
            "created_us": number, "path": "198.51.100.7", "body": body,
        });
        format!("{head}\n")
    };
    let archive: String = documents.iter().enumerate().map(line).collect();
    let file = store.with_extension("jsonl");
    std::fs::write(&file, archive).unwrap();
    let mut command = pathtwin();
    command
        .args(["history", "import", "--store"])
        .args([store, &file]);
    let output = command.output().unwrap();
    let message = text(&output.stderr);
    assert!(output.status.success(), "{message}");
    let count = format!("{} documents added", documents.len());
    assert!(message.contains(&count), "{message}");
}

fn calibration(store: &Path) -> String {
    let output = pathtwin()
        .args(["advise", "--calibration", "--store"])
        .arg(store)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// The numbers of a row.
fn row(table: &str, name: &str) -> Vec<String> {
    let line = table.lines().find(|line| line.contains(name)).unwrap();
    let words = line.rsplit_once(name).unwrap().1.split_whitespace();
    let is_number = |word: &&str| word.parse::<f64>().is_ok();
    words.filter(is_number).map(str::to_owned).collect()
}

/// Of goodput, predicted to double within 1.8 to 2.2 times: 2.1 came, 3 and 1 did not, so 1 of 3,
/// and the median of 1.05, 1.5 and 0.5 is 1.05. A delay came within its interval, at 1.08 of the
/// prediction. What was not predicted does not count, nor does a measurement without a proof.
#[test]
fn predictions_of_the_history_are_compared_with_their_outcomes() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("history.db");
    let doubled = Some([1.8, 2.0, 2.2]);
    let target = |with| figure("target", "goodput", with, doubled);
    let delay = figure("guard", "loaded_p50", 1.08, Some([0.9, 1.0, 1.1]));
    let not_predicted = [
        proof("kept", &[figure("target", "goodput", 9.0, None)]),
        json!({"error": {"says": "the far end is gone"}}),
    ];
    import(&store, &not_predicted);
    let none = calibration(&store);
    assert!(
        none.starts_with("no change that an advice predicted"),
        "{none}"
    );

    let store = folder.path().join("another.db");
    let predicted = [
        proof("kept", &[target(2.1), delay]),
        proof("kept", &[target(3.0)]),
        proof("no_gain", &[target(1.0)]),
    ];
    import(&store, &[&predicted[..], &not_predicted].concat());
    let table = calibration(&store);
    assert!(
        table.contains("predicted: 3, of which kept: 2\n"),
        "{table}"
    );
    assert_eq!(row(&table, ", to improve"), ["3", "33", "1.05"], "{table}");
    assert_eq!(row(&table, ", guarded"), ["1", "100", "1.08"], "{table}");
}
