//! Counts of drawn scenarios, made from corpus/judged/drawn-*.jsonl by `UPDATE_DOCS=1 cargo test -p
//! pathtwin-validation`.

use model::cause::CauseCode;

use super::table::Counts;

/// Correct findings and all findings of each cause, by strength from weak to strong.
#[rustfmt::skip]
pub(super) const DRAWN: &[(CauseCode, Counts)] = &[
    (CauseCode::APPLICATION_LIMITED, [[0, 0], [0, 1], [0, 0]]),
    (CauseCode::BUFFERBLOAT_LOCAL, [[0, 0], [2, 2], [12, 12]]),
    (CauseCode::BUFFERBLOAT_REMOTE, [[5, 10], [22, 38], [776, 796]]),
    (CauseCode::CC_ON_WRONG_HOST, [[0, 0], [0, 0], [0, 5]]),
    (CauseCode::FAR_END_LIMIT, [[0, 0], [0, 4], [0, 0]]),
    (CauseCode::FQ_FLOW_LIMIT, [[0, 0], [0, 0], [0, 1]]),
    (CauseCode::FRAGMENTATION, [[6, 6], [0, 0], [200, 200]]),
    (CauseCode::HEALTHY, [[0, 0], [0, 0], [805, 861]]),
    (CauseCode::JITTER, [[0, 0], [0, 0], [26, 38]]),
    (CauseCode::LEFTOVER_SHAPER, [[29, 29], [190, 195], [0, 0]]),
    (CauseCode::OFFLOAD_FAULT, [[0, 1], [0, 0], [0, 0]]),
    (CauseCode::POLICER, [[0, 0], [0, 0], [119, 129]]),
    (CauseCode::RANDOM_LOSS, [[1, 1], [16, 24], [228, 238]]),
    (CauseCode::RECEIVE_WINDOW, [[0, 1], [2, 3], [79, 79]]),
    (CauseCode::REORDERING, [[0, 0], [10, 15], [19, 22]]),
    (CauseCode::SEND_BUFFER, [[6, 8], [37, 38], [55, 55]]),
    (CauseCode::SHALLOW_QUEUE, [[18, 19], [124, 126], [172, 176]]),
    (CauseCode::SHARED_LINE, [[25, 27], [49, 62], [115, 116]]),
    (CauseCode::UDP_THROTTLED, [[0, 0], [0, 2], [0, 0]]),
    (CauseCode::WRONG_QUEUE, [[0, 0], [14, 14], [0, 0]]),
];
