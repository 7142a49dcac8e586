//! Counts of drawn scenarios, made from corpus/judged/drawn-*.jsonl by `UPDATE_DOCS=1 cargo test -p
//! pathtwin-validation`.

use model::cause::CauseCode;

use super::table::Counts;

/// Correct findings and all findings of each cause, by strength from weak to strong.
#[rustfmt::skip]
pub(super) const DRAWN: &[(CauseCode, Counts)] = &[
    (CauseCode::APPLICATION_LIMITED, [[0, 0], [0, 1], [0, 0]]),
    (CauseCode::BUFFERBLOAT_LOCAL, [[0, 0], [1, 1], [9, 9]]),
    (CauseCode::BUFFERBLOAT_REMOTE, [[3, 6], [17, 30], [560, 576]]),
    (CauseCode::CC_ON_WRONG_HOST, [[0, 0], [0, 0], [0, 4]]),
    (CauseCode::FAR_END_LIMIT, [[0, 0], [0, 3], [0, 0]]),
    (CauseCode::FQ_FLOW_LIMIT, [[0, 0], [0, 0], [0, 1]]),
    (CauseCode::FRAGMENTATION, [[5, 5], [0, 0], [141, 141]]),
    (CauseCode::HEALTHY, [[0, 0], [0, 0], [551, 594]]),
    (CauseCode::JITTER, [[0, 0], [0, 0], [20, 29]]),
    (CauseCode::LEFTOVER_SHAPER, [[23, 23], [134, 139], [0, 0]]),
    (CauseCode::OFFLOAD_FAULT, [[0, 1], [0, 0], [0, 0]]),
    (CauseCode::POLICER, [[0, 0], [0, 0], [89, 95]]),
    (CauseCode::RANDOM_LOSS, [[0, 0], [11, 18], [158, 167]]),
    (CauseCode::RECEIVE_WINDOW, [[0, 1], [2, 3], [48, 48]]),
    (CauseCode::REORDERING, [[0, 0], [4, 5], [15, 18]]),
    (CauseCode::SEND_BUFFER, [[4, 5], [24, 25], [41, 41]]),
    (CauseCode::SHALLOW_QUEUE, [[13, 14], [86, 87], [114, 117]]),
    (CauseCode::SHARED_LINE, [[15, 17], [32, 42], [81, 82]]),
    (CauseCode::UDP_THROTTLED, [[0, 0], [0, 2], [0, 0]]),
    (CauseCode::WRONG_QUEUE, [[0, 0], [10, 10], [0, 0]]),
];
