//! Drops in hosts compared with TCP's retransmissions.

use analysis::view::Host;
use model::{evidence::CounterKind, run::Sample};

/// Minimum drops, as a share of TCP's retransmissions, that explain them.
pub(super) const MIN_SHARE: f64 = 0.2;
/// Drops above this multiple of the retransmissions are not TCP's packets.
const MAX_RATIO: f64 = 20.0;
/// Minimum number of drops; fewer may be chance.
const MIN_DROPS: f64 = 10.0;

/// Drops in a host while TCP ran.
pub(super) struct Drops {
    /// Number of drops.
    pub(super) lost: f64,
    /// Drops over TCP's retransmissions in both directions; absent if unknown.
    pub(super) share: Option<f64>,
}

impl Drops {
    /// Returns true if they explain the retransmissions: a minimum number (cards also drop unwanted
    /// packets) and a substantial share.
    pub(super) fn explain(&self) -> bool {
        self.lost >= MIN_DROPS
            && self
                .share
                .is_none_or(|s| (MIN_SHARE..=MAX_RATIO).contains(&s))
    }
}

/// Increase of the counters of a kind, and TCP's retransmissions, under the congestion controls
/// that the senders use by default: bbr starts at 2.9 times the rate that it found, and on a fast
/// line fills a queue that nothing else does. `None` if their group was not read.
pub(super) fn drops(host: &Host<'_>, kind: CounterKind) -> Option<Drops> {
    let mut samples = Vec::new();
    let mut again = Vec::new();
    for direction in host.view().directions() {
        let Some(default) = direction.default_load() else {
            continue;
        };
        for load in direction.loads().iter().filter(|l| l.cc == default.cc) {
            samples.extend(direction.samples_of(load));
            again.extend(load.retransmits);
        }
    }
    let lost = host.counter_increase(&samples, kind)?;
    Some(of_retransmitted(lost, &again))
}

/// Datagrams that UDP sockets of a host dropped; `None` if the counters were not read.
///
/// `SndbufErrors` also counts drops by the queue of the device, which it reports as ENOBUFS to the
/// sender (`udp_send_skb`, net/ipv4/udp.c, Linux 7.2). Those are the queue's.
pub(super) fn udp_socket_drops<'a>(host: &Host<'a>, samples: &[&'a Sample]) -> Option<Drops> {
    let received = host.counter_increase(samples, CounterKind::ReceiveBufferErrors)?;
    let sent = samples.iter().filter_map(|sample| {
        let sample = &[*sample][..];
        let errors = host.counter_increase(sample, CounterKind::SendBufferErrors)?;
        let by_queue = host.counter_increase(sample, CounterKind::QueueDrops);
        Some((errors - by_queue.unwrap_or(0.0)).max(0.0))
    });
    let lost = received + sent.sum::<f64>();
    let directions = host.view().directions();
    let again: Vec<f64> = directions.iter().filter_map(|w| w.retransmits()).collect();
    Some(of_retransmitted(lost, &again))
}

/// Drops compared with TCP's retransmissions in each direction.
fn of_retransmitted(lost: f64, again: &[f64]) -> Drops {
    let again = (!again.is_empty()).then(|| again.iter().sum::<f64>());
    Drops {
        lost,
        share: again.map(|again| lost / again.max(1.0)),
    }
}
