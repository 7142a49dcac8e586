//! Made from corpus/judged/training.jsonl by `UPDATE_DOCS=1 cargo test -p pathtwin-explain`.

use super::Counts;

/// Findings of each cause that were right, and all, by strength from weak to strong.
#[rustfmt::skip]
pub(super) const COUNTS: &[(&str, Counts)] = &[
];
