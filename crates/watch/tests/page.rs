//! The reference has every key of a config.

#![allow(clippy::expect_used)]

use std::{fs, path::Path};

use watch::config;

#[test]
fn the_page_has_all_keys_with_their_defaults() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/watch.md");
    let text = fs::read_to_string(page).expect("read the page");
    let reference = config::reference();
    assert!(
        text.ends_with(&reference),
        "the page should end with:\n{reference}"
    );
}
