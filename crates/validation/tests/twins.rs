//! `docs/accuracy.md` shows the stored results of twins of drawn paths.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{check_section, results, root};
use validation::accuracy::twins::{Judged, markdown, markdown_beyond};

const BEGIN: &str = "<!-- twins: made by UPDATE_DOCS=1 cargo test -p pathtwin-validation -->\n";
const END: &str = "<!-- end of twins -->";

const BEGIN_BEYOND: &str =
    "<!-- twins beyond: made by UPDATE_DOCS=1 cargo test -p pathtwin-validation -->\n";
const END_BEYOND: &str = "<!-- end of twins beyond -->";

fn kept() -> Vec<Judged> {
    results(&root().join("corpus/judged/twins.jsonl"))
}

fn kept_beyond() -> Vec<Judged> {
    results(&root().join("corpus/judged/twins-beyond.jsonl"))
}

#[test]
fn the_page_shows_the_tables_of_the_kept_results() {
    let table = format!("\n{}\n", markdown(&kept()));
    check_section("docs/accuracy.md", [BEGIN, END], &table);
}

#[test]
fn the_page_shows_the_tables_of_paths_with_more_than_a_twin_has() {
    let kept = kept_beyond();
    assert!(kept.iter().all(|judged| judged.feature.is_some()));
    let table = format!("\n{}\n", markdown_beyond(&kept));
    check_section("docs/accuracy.md", [BEGIN_BEYOND, END_BEYOND], &table);
}

/// A rate is that of the path, and an answer exists for each question that makes sense.
#[test]
fn every_twin_was_asked() {
    for judged in kept() {
        assert!(!judged.fitted.is_empty(), "{}", judged.name);
        assert!(judged.asked.len() >= 5, "{}", judged.name);
    }
}
