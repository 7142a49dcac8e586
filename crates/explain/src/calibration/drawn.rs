//! Counts of drawn scenarios, made from corpus/judged/drawn-*.jsonl by `UPDATE_DOCS=1 cargo test -p
//! pathtwin-validation`.

use super::Counts;

/// Correct findings and all findings of each cause, by strength from weak to strong.
#[rustfmt::skip]
pub(super) const DRAWN: &[(&str, Counts)] = &[
    ("bufferbloat-local", [[0, 0], [0, 0], [1, 1]]),
    ("bufferbloat-remote", [[0, 0], [0, 2], [60, 61]]),
    ("fragmentation", [[2, 2], [0, 0], [10, 10]]),
    ("healthy", [[2, 2], [0, 0], [68, 69]]),
    ("leftover-shaper", [[1, 1], [18, 18], [0, 0]]),
    ("policer", [[0, 0], [0, 0], [5, 5]]),
    ("random-loss", [[0, 0], [0, 1], [21, 22]]),
    ("receive-window", [[0, 0], [0, 0], [7, 7]]),
    ("reordering", [[0, 0], [2, 2], [0, 0]]),
    ("send-buffer", [[0, 0], [2, 2], [5, 5]]),
    ("shared-line", [[3, 3], [5, 5], [5, 5]]),
    ("wrong-queue", [[0, 0], [1, 1], [0, 0]]),
];
