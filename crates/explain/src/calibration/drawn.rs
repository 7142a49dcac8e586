//! Counts of drawn scenarios, made from corpus/judged/drawn-*.jsonl by `UPDATE_DOCS=1 cargo test -p
//! pathtwin-validation`.

use model::cause::CauseCode;

use super::table::Counts;

/// Correct findings and all findings of each cause, by strength from weak to strong.
#[rustfmt::skip]
pub(super) const DRAWN: &[(CauseCode, Counts)] = &[
    (CauseCode::APPLICATION_LIMITED, [[0, 0], [0, 1], [0, 0]]),
    (CauseCode::BUFFERBLOAT_LOCAL, [[0, 0], [1, 1], [3, 3]]),
    (CauseCode::BUFFERBLOAT_REMOTE, [[2, 5], [14, 25], [428, 444]]),
    (CauseCode::CC_ON_WRONG_HOST, [[0, 0], [0, 0], [0, 3]]),
    (CauseCode::FAR_END_LIMIT, [[0, 0], [0, 4], [0, 0]]),
    (CauseCode::FQ_FLOW_LIMIT, [[0, 0], [0, 0], [0, 1]]),
    (CauseCode::FRAGMENTATION, [[3, 3], [0, 0], [93, 93]]),
    (CauseCode::HEALTHY, [[9, 20], [0, 0], [426, 443]]),
    (CauseCode::HOST_QUEUE_DROPS, [[0, 0], [0, 7], [0, 0]]),
    (CauseCode::JITTER, [[0, 0], [0, 0], [7, 9]]),
    (CauseCode::LEFTOVER_SHAPER, [[7, 7], [113, 117], [0, 0]]),
    (CauseCode::OFFLOAD_FAULT, [[0, 0], [0, 3], [0, 0]]),
    (CauseCode::POLICER, [[0, 0], [0, 0], [41, 56]]),
    (CauseCode::RANDOM_LOSS, [[0, 0], [6, 13], [102, 110]]),
    (CauseCode::RECEIVE_WINDOW, [[1, 4], [0, 0], [38, 38]]),
    (CauseCode::REORDERING, [[0, 0], [6, 7], [9, 11]]),
    (CauseCode::SEND_BUFFER, [[2, 2], [19, 19], [26, 26]]),
    (CauseCode::SHALLOW_QUEUE, [[2, 2], [16, 16], [14, 15]]),
    (CauseCode::SHARED_LINE, [[8, 9], [30, 35], [51, 54]]),
    (CauseCode::UDP_THROTTLED, [[0, 0], [0, 2], [0, 0]]),
    (CauseCode::WRONG_QUEUE, [[0, 0], [4, 4], [0, 0]]),
];
