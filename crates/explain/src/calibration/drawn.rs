//! Counts of drawn scenarios, made from corpus/judged/drawn-*.jsonl by `UPDATE_DOCS=1 cargo test -p
//! pathtwin-validation`.

use model::cause::CauseCode;

use super::table::Counts;

/// Correct findings and all findings of each cause, by strength from weak to strong.
#[rustfmt::skip]
pub(super) const DRAWN: &[(CauseCode, Counts)] = &[
    (CauseCode::APPLICATION_LIMITED, [[0, 0], [0, 1], [0, 0]]),
    (CauseCode::BUFFERBLOAT_LOCAL, [[0, 0], [0, 0], [5, 5]]),
    (CauseCode::BUFFERBLOAT_REMOTE, [[1, 3], [5, 12], [239, 248]]),
    (CauseCode::CC_ON_WRONG_HOST, [[0, 0], [0, 0], [0, 3]]),
    (CauseCode::FAR_END_LIMIT, [[0, 0], [0, 1], [0, 0]]),
    (CauseCode::FRAGMENTATION, [[2, 2], [0, 0], [62, 62]]),
    (CauseCode::HEALTHY, [[0, 0], [0, 0], [241, 259]]),
    (CauseCode::JITTER, [[0, 0], [0, 0], [10, 13]]),
    (CauseCode::LEFTOVER_SHAPER, [[8, 8], [62, 64], [0, 0]]),
    (CauseCode::OFFLOAD_FAULT, [[0, 1], [0, 0], [0, 0]]),
    (CauseCode::POLICER, [[0, 0], [0, 0], [44, 46]]),
    (CauseCode::RANDOM_LOSS, [[0, 0], [5, 9], [60, 66]]),
    (CauseCode::RECEIVE_WINDOW, [[0, 1], [0, 0], [18, 18]]),
    (CauseCode::REORDERING, [[0, 0], [1, 2], [8, 9]]),
    (CauseCode::SEND_BUFFER, [[2, 2], [13, 13], [16, 16]]),
    (CauseCode::SHALLOW_QUEUE, [[5, 6], [34, 34], [51, 52]]),
    (CauseCode::SHARED_LINE, [[5, 5], [10, 14], [32, 32]]),
    (CauseCode::UDP_THROTTLED, [[0, 0], [0, 2], [0, 0]]),
    (CauseCode::WRONG_QUEUE, [[0, 0], [5, 5], [0, 0]]),
];
