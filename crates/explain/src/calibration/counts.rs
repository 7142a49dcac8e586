//! Counts of the corpus, made from corpus/judged/training.jsonl by `UPDATE_DOCS=1 cargo test -p
//! pathtwin-corpus`.

use model::cause::CauseCode;

use super::table::Counts;

/// Correct findings and all findings of each cause, by strength from weak to strong.
#[rustfmt::skip]
pub(super) const COUNTS: &[(CauseCode, Counts)] = &[
    (CauseCode::APPLICATION_LIMITED, [[0, 0], [0, 0], [5, 5]]),
    (CauseCode::BUFFERBLOAT_LOCAL, [[0, 0], [0, 0], [5, 5]]),
    (CauseCode::BUFFERBLOAT_REMOTE, [[0, 0], [0, 0], [14, 14]]),
    (CauseCode::CC_ON_WRONG_HOST, [[0, 0], [0, 0], [7, 7]]),
    (CauseCode::CPU_CORE, [[0, 0], [0, 0], [5, 5]]),
    (CauseCode::CPU_SOFTIRQ, [[0, 0], [0, 0], [5, 5]]),
    (CauseCode::CPU_TUNNEL_THREAD, [[0, 0], [0, 0], [5, 5]]),
    (CauseCode::FAR_END_LIMIT, [[0, 0], [6, 6], [0, 0]]),
    (CauseCode::FQ_FLOW_LIMIT, [[0, 0], [0, 0], [6, 6]]),
    (CauseCode::FRAGMENTATION, [[0, 0], [0, 0], [8, 8]]),
    (CauseCode::HEALTHY, [[8, 8], [0, 0], [34, 34]]),
    (CauseCode::HOST_QUEUE_DROPS, [[0, 0], [6, 6], [0, 0]]),
    (CauseCode::HOST_SETTINGS, [[0, 0], [0, 0], [6, 6]]),
    (CauseCode::JITTER, [[0, 0], [0, 0], [6, 6]]),
    (CauseCode::LEFTOVER_SHAPER, [[0, 0], [7, 7], [0, 0]]),
    (CauseCode::MTU_BLACK_HOLE, [[0, 0], [0, 0], [4, 4]]),
    (CauseCode::OFFLOAD_FAULT, [[0, 0], [1, 1], [3, 3]]),
    (CauseCode::PER_FLOW_CAP, [[0, 0], [0, 0], [5, 5]]),
    (CauseCode::POLICER, [[0, 0], [0, 0], [12, 12]]),
    (CauseCode::RANDOM_LOSS, [[0, 0], [0, 0], [28, 28]]),
    (CauseCode::RECEIVE_WINDOW, [[0, 0], [0, 0], [13, 13]]),
    (CauseCode::RELAYED_PATH, [[1, 1], [0, 0], [5, 5]]),
    (CauseCode::REORDERING, [[0, 0], [5, 5], [2, 2]]),
    (CauseCode::SEND_BUFFER, [[0, 0], [1, 1], [7, 7]]),
    (CauseCode::SHALLOW_QUEUE, [[0, 0], [1, 1], [7, 7]]),
    (CauseCode::SHARED_LINE, [[0, 0], [1, 1], [0, 0]]),
    (CauseCode::UDP_SOCKET_DROPS, [[0, 0], [0, 0], [3, 3]]),
    (CauseCode::UDP_THROTTLED, [[0, 0], [0, 0], [5, 5]]),
    (CauseCode::USERSPACE_TCP_STACK, [[0, 0], [0, 0], [4, 4]]),
    (CauseCode::USERSPACE_TUNNEL, [[0, 0], [0, 0], [7, 7]]),
    (CauseCode::WIFI_HOP, [[0, 0], [3, 3], [2, 2]]),
    (CauseCode::WRONG_QUEUE, [[0, 0], [5, 5], [0, 0]]),
];
