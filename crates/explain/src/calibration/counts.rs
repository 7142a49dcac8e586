//! Counts of the corpus, made from corpus/judged/training.jsonl by `UPDATE_DOCS=1 cargo test -p
//! pathtwin-explain`.

use super::Counts;

/// Correct findings and all findings of each cause, by strength from weak to strong.
#[rustfmt::skip]
pub(super) const COUNTS: &[(&str, Counts)] = &[
    ("application-limited", [[0, 0], [0, 0], [5, 5]]),
    ("bufferbloat-local", [[0, 0], [0, 0], [5, 5]]),
    ("bufferbloat-remote", [[0, 0], [0, 0], [14, 14]]),
    ("cc-on-wrong-host", [[0, 0], [0, 0], [7, 7]]),
    ("cpu-core", [[0, 0], [0, 0], [5, 5]]),
    ("cpu-softirq", [[0, 0], [0, 0], [5, 5]]),
    ("cpu-tunnel-thread", [[0, 0], [0, 0], [5, 5]]),
    ("far-end-limit", [[0, 0], [6, 6], [0, 0]]),
    ("fq-flow-limit", [[0, 0], [0, 0], [6, 6]]),
    ("fragmentation", [[0, 0], [0, 0], [8, 8]]),
    ("healthy", [[8, 8], [0, 0], [31, 31]]),
    ("host-queue-drops", [[0, 0], [6, 6], [0, 0]]),
    ("host-settings", [[0, 0], [0, 0], [6, 6]]),
    ("jitter", [[0, 0], [0, 0], [6, 6]]),
    ("leftover-shaper", [[0, 0], [7, 7], [0, 0]]),
    ("mtu-black-hole", [[0, 0], [0, 0], [4, 4]]),
    ("offload-fault", [[0, 0], [1, 1], [3, 3]]),
    ("per-flow-cap", [[0, 0], [0, 0], [5, 5]]),
    ("policer", [[0, 0], [0, 0], [12, 12]]),
    ("random-loss", [[0, 0], [0, 0], [28, 28]]),
    ("receive-window", [[0, 0], [0, 0], [13, 13]]),
    ("relayed-path", [[1, 1], [0, 0], [5, 5]]),
    ("reordering", [[0, 0], [5, 5], [2, 2]]),
    ("send-buffer", [[0, 0], [1, 1], [7, 7]]),
    ("shared-line", [[0, 0], [0, 0], [1, 1]]),
    ("udp-socket-drops", [[0, 0], [0, 0], [3, 3]]),
    ("udp-throttled", [[0, 0], [0, 0], [5, 5]]),
    ("userspace-tcp-stack", [[0, 0], [0, 0], [4, 4]]),
    ("userspace-tunnel", [[0, 0], [0, 0], [7, 7]]),
    ("wifi-hop", [[0, 0], [3, 3], [2, 2]]),
    ("wrong-queue", [[0, 0], [5, 5], [0, 0]]),
];
