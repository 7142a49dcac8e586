//! Counts of drawn scenarios, made from corpus/judged/drawn-*.jsonl by `UPDATE_DOCS=1 cargo test -p
//! pathtwin-validation`.

use model::cause::CauseCode;

use super::table::Counts;

/// Correct findings and all findings of each cause, by strength from weak to strong.
#[rustfmt::skip]
pub(super) const DRAWN: &[(CauseCode, Counts)] = &[
    (CauseCode::BUFFERBLOAT_LOCAL, [[0, 0], [1, 1], [2, 2]]),
    (CauseCode::BUFFERBLOAT_REMOTE, [[1, 3], [10, 19], [342, 355]]),
    (CauseCode::CC_ON_WRONG_HOST, [[0, 0], [0, 0], [0, 1]]),
    (CauseCode::FAR_END_LIMIT, [[0, 0], [0, 4], [0, 0]]),
    (CauseCode::FQ_FLOW_LIMIT, [[0, 0], [0, 0], [0, 1]]),
    (CauseCode::FRAGMENTATION, [[2, 2], [0, 0], [76, 76]]),
    (CauseCode::HEALTHY, [[9, 20], [0, 0], [341, 355]]),
    (CauseCode::HOST_QUEUE_DROPS, [[0, 0], [0, 7], [0, 0]]),
    (CauseCode::JITTER, [[0, 0], [0, 0], [5, 7]]),
    (CauseCode::LEFTOVER_SHAPER, [[3, 3], [92, 95], [0, 0]]),
    (CauseCode::OFFLOAD_FAULT, [[0, 0], [0, 3], [0, 0]]),
    (CauseCode::POLICER, [[0, 0], [0, 0], [29, 40]]),
    (CauseCode::RANDOM_LOSS, [[0, 0], [6, 12], [85, 91]]),
    (CauseCode::RECEIVE_WINDOW, [[1, 3], [0, 0], [31, 31]]),
    (CauseCode::REORDERING, [[0, 0], [6, 7], [6, 8]]),
    (CauseCode::SEND_BUFFER, [[1, 1], [12, 12], [19, 19]]),
    (CauseCode::SHARED_LINE, [[6, 7], [23, 26], [39, 42]]),
    (CauseCode::UDP_THROTTLED, [[0, 0], [0, 2], [0, 0]]),
    (CauseCode::WRONG_QUEUE, [[0, 0], [3, 3], [0, 0]]),
];
