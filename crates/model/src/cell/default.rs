//! Default values of a cell.

use std::time::Duration;

use super::{
    Buffer, ETHERNET_HEADER, End, EndQdisc, Queue, Traffic, TrafficKind, bounds::MAX_BUFFER,
};
use crate::{
    net::Direction,
    units::{Bytes, Rate},
};

/// One-way propagation delay.
pub const DELAY: Duration = Duration::from_millis(10);
/// Rate of the bottleneck. Finite, since the load of a cell without a rate is only limited by the
/// lab's own speed: seconds of it are millions of packets.
pub const RATE: Rate = Rate::from_bps(100_000_000);
/// MTU of every link.
pub const MTU: u32 = 1500;
/// MTU of the tunnel device.
pub const TUNNEL_MTU: u32 = 1420;
/// Payload of a datagram, bytes.
pub const PAYLOAD: u32 = 1200;

/// Minimum of a default buffer, in full-size packets.
const MIN_PACKETS: u64 = 10;
/// Buffer of a bottleneck without a rate, where no queue builds up.
const UNLIMITED_PACKETS: u32 = 1000;
/// Burst of a policer, as time at its rate.
const POLICER_BURST: Duration = Duration::from_millis(10);

/// Default buffer by kind of queue: one BDP at the two-way delay `rtt`, the kernel's own limit for
/// an AQM, 10 ms for a policer.
pub fn buffer(rate: Option<Rate>, queue: Queue, mtu: u32, rtt: Duration) -> Buffer {
    let Some(rate) = rate else {
        return Buffer::Packets(UNLIMITED_PACKETS);
    };
    // An AQM keeps its queue short by itself; a limit of one BDP would interfere with it.
    if queue.has_own_limit() {
        return Buffer::Kernel;
    }
    let span = match queue {
        Queue::Policer => POLICER_BURST,
        _ => rtt,
    };
    let full = u64::from(mtu) + ETHERNET_HEADER;
    let bytes = rate.bytes_in(span).0;
    Buffer::Bytes(Bytes(bytes.clamp(MIN_PACKETS * full, MAX_BUFFER.0)))
}

impl Default for End {
    fn default() -> Self {
        Self {
            cc: "cubic".to_owned(),
            qdisc: EndQdisc::Fq,
            shape: None,
            ecn: false,
            rmem: None,
            wmem: None,
            notsent_lowat: None,
        }
    }
}

impl Default for Traffic {
    /// One bulk TCP flow from the server, with probes beside it.
    fn default() -> Self {
        Self {
            kind: TrafficKind::Tcp,
            directions: vec![Direction::Down],
            flows: 1,
            cc: None,
            probe: Some(Duration::from_millis(10)),
            start: Duration::ZERO,
            stop: None,
        }
    }
}
