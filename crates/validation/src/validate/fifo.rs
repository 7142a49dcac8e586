//! Checks of FIFOs: a full one of N packets delays a packet by N times its time on the wire.

use analysis::models::drain_s;

use super::{Check, Expect, Line, Work, outcome::Outcome, theory::FRAME};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "full FIFO",
        source: "arithmetic: N * 8 * 1514 / rate",
        work: Work::Cells(include_str!("specs/fifo.toml"), judge),
    },
    Check {
        name: "queue belongs to the path",
        source: "skb_orphan in ip_rcv_core, net/ipv4/ip_input.c",
        work: Work::Cells(include_str!("specs/tsq.toml"), judge_small_queues),
    },
];

/// Milliseconds that a full packet takes on the wire.
fn packet_ms(outcome: &Outcome<'_>) -> f64 {
    FRAME * 8.0 / outcome.rate_mbps() / 1e3
}

fn buffer_packets(outcome: &Outcome<'_>) -> f64 {
    f64::from(outcome.cell.path.down.buffer.packets(outcome.cell.path.mtu))
}

fn most_bytes(outcome: &Outcome<'_>) -> Option<f64> {
    let samples = outcome.queue_samples();
    samples
        .iter()
        .map(|s| s.backlog_bytes as f64)
        .reduce(f64::max)
}

fn judge(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let mut lines = Vec::new();
    for s in outcomes {
        let packet = packet_ms(s);
        let expected = buffer_packets(s) * packet;
        let label = s.factor("case");
        let truth = most_bytes(s).map(|bytes| drain_s(bytes, s.rate_mbps() * 1e6) * 1e3);
        let expect = Expect::near(expected, packet);
        lines.push(Line::new(format!("{label}, queue"), expect, truth, "ms"));
        // A probe takes the last place in the queue: it waits for the N - 1 packets before it.
        let expect = Expect::near(expected - packet, packet);
        let slowest = s.probes_ms(false).into_iter().reduce(f64::max);
        let waited = slowest.map(|ms| ms - s.rtt_s() * 1e3);
        lines.push(Line::new(format!("{label}, probe"), expect, waited, "ms"));
    }
    lines
}

/// If the sender's own limit reached into the bottleneck, its queue could not fill: that limit is
/// the packets of a millisecond (`tcp_small_queue_check`, net/ipv4/tcp_output.c).
fn judge_small_queues(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let one = |s: &Outcome<'_>| {
        let full = buffer_packets(s) * FRAME;
        let filled = most_bytes(s).map(|bytes| bytes / full);
        let what = format!("{} fills it", s.factor("ends.server.cc"));
        Line::new(
            what,
            Expect::near(1.0, FRAME / full),
            filled,
            "of the buffer",
        )
    };
    outcomes.iter().map(one).collect()
}
