//! Counts of drawn scenarios, made from corpus/judged/drawn-*.jsonl by `UPDATE_DOCS=1 cargo test -p
//! pathtwin-validation`.

use model::cause::CauseCode;

use super::table::Counts;

/// Correct findings and all findings of each cause, by strength from weak to strong.
#[rustfmt::skip]
pub(super) const DRAWN: &[(CauseCode, Counts)] = &[
    (CauseCode::BUFFERBLOAT_LOCAL, [[0, 0], [1, 1], [1, 1]]),
    (CauseCode::BUFFERBLOAT_REMOTE, [[0, 0], [0, 2], [80, 84]]),
    (CauseCode::FRAGMENTATION, [[2, 2], [0, 0], [13, 13]]),
    (CauseCode::HEALTHY, [[3, 3], [0, 0], [78, 79]]),
    (CauseCode::LEFTOVER_SHAPER, [[1, 1], [21, 21], [0, 0]]),
    (CauseCode::POLICER, [[0, 0], [0, 0], [12, 12]]),
    (CauseCode::RANDOM_LOSS, [[0, 0], [0, 2], [28, 29]]),
    (CauseCode::RECEIVE_WINDOW, [[0, 0], [0, 0], [10, 10]]),
    (CauseCode::REORDERING, [[0, 0], [2, 2], [0, 0]]),
    (CauseCode::SEND_BUFFER, [[0, 0], [2, 2], [5, 5]]),
    (CauseCode::SHARED_LINE, [[4, 4], [6, 6], [7, 7]]),
    (CauseCode::WRONG_QUEUE, [[0, 0], [2, 2], [0, 0]]),
];
