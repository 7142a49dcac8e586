//! `docs/accuracy.md` shows what was named from public captures.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{check_section, results, root};
use validation::accuracy::captures::{Judged, Worth, markdown};

const BEGIN: &str = "<!-- policing: made by UPDATE_DOCS=1 cargo test -p pathtwin-validation -->\n";
const END: &str = "<!-- end of policing -->";

/// Captures of the repository.
const ALL: usize = 376;

fn kept() -> Vec<Judged> {
    results(&root().join("corpus/judged/policing.jsonl"))
}

#[test]
fn the_page_shows_the_droppers_named_in_the_half_for_evaluation() {
    let all = kept();
    assert_eq!(all.len(), ALL);
    let shown: Vec<&Judged> = all.iter().filter(|j| !j.is_of_training()).collect();
    check_section(
        "docs/accuracy.md",
        [BEGIN, END],
        &format!("\n{}\n", markdown(&shown)),
    );
}

/// To name the wrong dropper costs more than to name none.
#[test]
fn wrong_droppers_are_rare_on_either_half() {
    let all = kept();
    for half in [true, false] {
        let of: Vec<_> = all.iter().filter(|j| j.is_of_training() == half).collect();
        let wrong = of.iter().filter(|j| j.worth() == Worth::Wrong).count();
        assert!(
            of.len() > ALL / 3 && 50 * wrong <= of.len(),
            "{wrong} of {}",
            of.len()
        );
    }
}
