//! `docs/fix.md` shows the stored results of `fix` on lab paths, which satisfy the bounds.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{check_section, results, root};
use model::advice::guards::is_for_others;
use validation::fixes::{Fixed, Try, markdown, score};

const BEGIN: &str = "<!-- results: made by UPDATE_DOCS=1 cargo test -p pathtwin-validation -->\n";
const END: &str = "<!-- end of results -->";

fn kept() -> Vec<Fixed> {
    results(&root().join("corpus/judged/fixes.jsonl"))
}

#[test]
fn the_page_shows_the_tables_of_the_kept_results() {
    let all = kept();
    let table = format!("\n{}\n", markdown(&all, &score(&all)));
    check_section("docs/fix.md", [BEGIN, END], &table);
}

#[test]
fn healthy_paths_are_left_alone_and_no_path_is_worse_afterwards() {
    let score = score(&kept());
    assert_eq!(score.left_alone.hits, score.left_alone.of);
    assert_eq!(score.undone.hits, score.undone.of);
    // `--at-a-cost` permits more retransmitted bytes, which are a cost to others. Of the own
    // figures, chance puts one in a hundred beyond its bound with another seed.
    let (mut again, mut beyond) = (0, Vec::new());
    for fixed in kept() {
        again += usize::from(fixed.again.is_some());
        let all = fixed.again.iter().flat_map(Try::beyond);
        let own: Vec<_> = all.filter(|f| !is_for_others(f.figure)).collect();
        if !own.is_empty() {
            beyond.push(format!("{}: {own:?}", fixed.name));
        }
    }
    assert!(100 * beyond.len() <= again, "{beyond:?}");
}

/// At least nine of ten outcomes lie in their predicted intervals.
#[test]
fn outcomes_are_as_predicted() {
    let score = score(&kept());
    for count in [score.as_predicted, score.figures_as_predicted] {
        assert!(10 * count.hits >= 9 * count.of, "{count:?}");
    }
}
