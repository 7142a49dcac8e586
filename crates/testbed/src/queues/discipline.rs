//! Parameters of the kernel's queueing disciplines.

use model::{
    cell::{Buffer, ETHERNET_HEADER, Queue},
    units::Rate,
};
use sys::tc::{self, Qdisc};

/// Packets a plain queue of a host holds (the kernel's default transmit queue length).
pub(super) const HOST_FIFO: u32 = 1000;

/// The queue inside a bottleneck's shaper. AQMs mark packets that can be marked.
pub(super) fn inner(queue: Queue, buffer: Buffer, rate: Rate, mtu: u32) -> Qdisc {
    let packets = (buffer != Buffer::Kernel).then(|| buffer.packets(mtu));
    match queue {
        Queue::Fifo | Queue::Policer | Queue::Cake => fifo(buffer),
        Queue::Fq => Qdisc::Fq(tc::Fq {
            limit_packets: packets,
            flow_limit_packets: packets,
            ..tc::Fq::default()
        }),
        Queue::FqCodel => Qdisc::FqCodel(tc::FqCodel {
            limit_packets: packets,
            ecn: Some(true),
            ..tc::FqCodel::default()
        }),
        Queue::Codel => Qdisc::Codel(tc::Codel {
            limit_packets: packets,
            ecn: Some(true),
            ..tc::Codel::default()
        }),
        Queue::Pie => Qdisc::Pie(tc::Pie {
            limit_packets: packets,
            ecn: Some(true),
            ..tc::Pie::default()
        }),
        Queue::Dualpi2 => Qdisc::DualPi2(tc::DualPi2 {
            limit_packets: packets,
            ..tc::DualPi2::default()
        }),
        Queue::Red => red(buffer, rate, mtu),
    }
}

fn fifo(buffer: Buffer) -> Qdisc {
    match buffer {
        Buffer::Packets(n) => Qdisc::Pfifo { limit: Some(n) },
        Buffer::Kernel => Qdisc::Pfifo {
            limit: Some(HOST_FIFO),
        },
        Buffer::Bytes(bytes) => Qdisc::Bfifo {
            limit: Some(u32::try_from(bytes.0).unwrap_or(u32::MAX)),
        },
    }
}

/// Adaptive RED by the usual recipe (Floyd, Gummadi, Shenker 2001; tc-red(8)): the upper threshold
/// at a quarter of the limit, the lower at a third of that.
fn red(buffer: Buffer, rate: Rate, mtu: u32) -> Qdisc {
    let packet = mtu + ETHERNET_HEADER as u32;
    let limit = u32::try_from(buffer.bytes(mtu).0).unwrap_or(u32::MAX);
    let max = (limit / 4).max(3 * packet);
    let min = (max / 3).max(packet);
    Qdisc::Red(tc::Red {
        limit_bytes: limit,
        min_bytes: min,
        max_bytes: max,
        packet_bytes: packet,
        burst_packets: None,
        probability: 0.02,
        bandwidth_bps: rate.bps(),
        ecn: true,
        harddrop: false,
        adaptive: true,
        nodrop: false,
    })
}

/// Memory of `bytes` of full packets in a queue: cake limits the memory of packets
/// (`skb->truesize`), 2304 bytes for one of 1514 that crossed a veth pair.
fn memory_for(bytes: u64) -> u32 {
    u32::try_from(bytes * 2304 / 1514).unwrap_or(u32::MAX)
}

pub(super) fn cake(rate: Option<Rate>, buffer: Option<Buffer>, mtu: u32) -> Qdisc {
    Qdisc::Cake(tc::Cake {
        rate_bps: rate.map(Rate::bps),
        memory_bytes: buffer
            .filter(|&b| b != Buffer::Kernel)
            .map(|b| memory_for(b.bytes(mtu).0)),
        ..tc::Cake::default()
    })
}

/// The kernel's name of a bottleneck's queue.
pub(crate) fn name(queue: Queue) -> &'static str {
    match queue {
        Queue::Fifo => "fifo",
        Queue::Fq => "fq",
        Queue::FqCodel => "fq_codel",
        Queue::Codel => "codel",
        Queue::Pie => "pie",
        Queue::Cake => "cake",
        Queue::Dualpi2 => "dualpi2",
        Queue::Red => "red",
        Queue::Policer => "policer",
    }
}
