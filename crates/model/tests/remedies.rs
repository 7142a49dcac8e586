//! The reference of remedies.

#![allow(clippy::unwrap_used)]

use model::remedy::reference;

#[test]
fn the_reference_is_current() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/remedies.md"
    );
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(file, reference()).unwrap();
    }
    let written = std::fs::read_to_string(file).unwrap_or_default();
    assert!(
        written == reference(),
        "docs/reference/remedies.md is old: run with UPDATE_DOCS=1"
    );
}
