//! Counts of drawn scenarios, made from corpus/judged/drawn-*.jsonl by `UPDATE_DOCS=1 cargo test -p
//! pathtwin-validation`.

use model::cause::CauseCode;

use super::table::Counts;

/// Correct findings and all findings of each cause, by strength from weak to strong.
#[rustfmt::skip]
pub(super) const DRAWN: &[(CauseCode, Counts)] = &[
    (CauseCode::APPLICATION_LIMITED, [[0, 0], [0, 1], [0, 0]]),
    (CauseCode::BUFFERBLOAT_LOCAL, [[0, 0], [0, 0], [6, 6]]),
    (CauseCode::BUFFERBLOAT_REMOTE, [[2, 4], [7, 14], [329, 338]]),
    (CauseCode::CC_ON_WRONG_HOST, [[0, 0], [0, 0], [0, 3]]),
    (CauseCode::FAR_END_LIMIT, [[0, 0], [0, 2], [0, 0]]),
    (CauseCode::FRAGMENTATION, [[4, 4], [0, 0], [84, 84]]),
    (CauseCode::HEALTHY, [[0, 0], [0, 0], [318, 343]]),
    (CauseCode::JITTER, [[0, 0], [0, 0], [11, 17]]),
    (CauseCode::LEFTOVER_SHAPER, [[12, 12], [76, 80], [0, 0]]),
    (CauseCode::OFFLOAD_FAULT, [[0, 1], [0, 0], [0, 0]]),
    (CauseCode::POLICER, [[0, 0], [0, 0], [65, 68]]),
    (CauseCode::RANDOM_LOSS, [[0, 0], [8, 13], [92, 99]]),
    (CauseCode::RECEIVE_WINDOW, [[0, 1], [0, 0], [25, 25]]),
    (CauseCode::REORDERING, [[0, 0], [2, 3], [11, 13]]),
    (CauseCode::SEND_BUFFER, [[3, 3], [17, 18], [21, 21]]),
    (CauseCode::SHALLOW_QUEUE, [[9, 10], [52, 52], [63, 64]]),
    (CauseCode::SHARED_LINE, [[9, 9], [16, 22], [44, 44]]),
    (CauseCode::UDP_THROTTLED, [[0, 0], [0, 2], [0, 0]]),
    (CauseCode::WRONG_QUEUE, [[0, 0], [6, 6], [0, 0]]),
];
