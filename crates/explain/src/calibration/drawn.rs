//! Counts of drawn scenarios, made from corpus/judged/drawn-*.jsonl by `UPDATE_DOCS=1 cargo test -p
//! pathtwin-validation`.

use model::cause::CauseCode;

use super::table::Counts;

/// Correct findings and all findings of each cause, by strength from weak to strong.
#[rustfmt::skip]
pub(super) const DRAWN: &[(CauseCode, Counts)] = &[
    (CauseCode::APPLICATION_LIMITED, [[0, 0], [0, 1], [0, 0]]),
    (CauseCode::BUFFERBLOAT_LOCAL, [[0, 0], [4, 4], [18, 19]]),
    (CauseCode::BUFFERBLOAT_REMOTE, [[7, 12], [32, 54], [1036, 1068]]),
    (CauseCode::CC_ON_WRONG_HOST, [[0, 0], [0, 0], [0, 5]]),
    (CauseCode::FAR_END_LIMIT, [[0, 0], [0, 6], [0, 0]]),
    (CauseCode::FQ_FLOW_LIMIT, [[0, 0], [0, 0], [0, 2]]),
    (CauseCode::FRAGMENTATION, [[9, 10], [0, 0], [265, 265]]),
    (CauseCode::HEALTHY, [[1, 1], [0, 0], [1018, 1084]]),
    (CauseCode::JITTER, [[0, 0], [0, 0], [32, 46]]),
    (CauseCode::LEFTOVER_SHAPER, [[36, 36], [249, 256], [0, 0]]),
    (CauseCode::OFFLOAD_FAULT, [[0, 2], [0, 1], [0, 0]]),
    (CauseCode::POLICER, [[0, 0], [0, 0], [148, 162]]),
    (CauseCode::RANDOM_LOSS, [[1, 1], [18, 27], [299, 311]]),
    (CauseCode::RECEIVE_WINDOW, [[1, 2], [4, 7], [102, 103]]),
    (CauseCode::REORDERING, [[0, 0], [13, 19], [23, 28]]),
    (CauseCode::SEND_BUFFER, [[9, 11], [49, 50], [68, 68]]),
    (CauseCode::SHALLOW_QUEUE, [[26, 28], [163, 166], [211, 215]]),
    (CauseCode::SHARED_LINE, [[29, 34], [65, 78], [151, 153]]),
    (CauseCode::UDP_THROTTLED, [[0, 0], [0, 2], [0, 0]]),
    (CauseCode::WRONG_QUEUE, [[0, 0], [22, 23], [0, 0]]),
];
