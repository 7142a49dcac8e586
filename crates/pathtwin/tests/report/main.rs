//! `pathtwin report`: pages as a real browser shows them.
//!
//! With PATHTWIN_PICTURES=FOLDER the pictures and the pages are stored there, for review.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../browser/mod.rs"]
mod browser;
#[path = "../common/mod.rs"]
mod common;
mod content;
mod layout;
mod made;
mod untrusted;

use common::{pathtwin, text};
use made::made;

#[test]
fn a_file_that_is_not_a_document_is_a_usage_error() {
    let made = made();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("other.json");
    std::fs::write(&file, "{\"some\": \"thing\"}").unwrap();
    for documents in [vec![&file], vec![&made.run, &made.run]] {
        let output = pathtwin().arg("report").args(documents).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        assert!(output.stdout.is_empty());
    }
}
