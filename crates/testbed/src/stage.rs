//! Stages in front of the path: a rate, a queue that drops at the tail and a loss, as one class.

use model::{
    cell::{Cell, ETHERNET_HEADER, Local, TunnelStage},
    net::Direction,
    units::Rate,
};
use sys::tc::{self, Handle, Qdisc};

use crate::queues::{
    AttachedQueue, DELAY_LIMIT, FAST, INNER_QUEUE, Timers, bucket, netem_loss, netem_seed,
};

/// Class of the packets that pass a stage.
pub(crate) const CLASS: Handle = Handle::new(1, 1);

/// The queues of a stage.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StageQueues {
    /// Contains the class; packets not in it pass at once.
    pub(crate) root: Qdisc,
    /// The rate.
    pub(crate) class: tc::HtbClass,
    /// The queue of the class, with its loss.
    pub(crate) queue: AttachedQueue,
}

/// The queues of a tunnel's stage: a filter selects the packets of its class.
pub(crate) fn tunnel(
    line: &TunnelStage,
    cell: &Cell,
    direction: Direction,
    timers: Timers,
) -> StageQueues {
    // Different random numbers than the delay after it.
    stage(line, cell, !netem_seed(cell.seed, direction), timers)
}

/// The queues of a line in front of the near end: all packets are in its class.
pub(crate) fn local(
    local: &Local,
    cell: &Cell,
    direction: Direction,
    timers: Timers,
) -> StageQueues {
    // Different random numbers than the delay and a tunnel's stage.
    let seed = netem_seed(cell.seed, direction).rotate_left(32);
    let root = Qdisc::Htb(tc::Htb {
        default_class: 1,
        direct_qlen: Some(DELAY_LIMIT),
    });
    StageQueues {
        root,
        ..stage(local.line(direction), cell, seed, timers)
    }
}

fn stage(stage: &TunnelStage, cell: &Cell, seed: u64, timers: Timers) -> StageQueues {
    let mtu = cell.path.mtu;
    let rate = stage.rate.unwrap_or(Rate::from_bps(FAST));
    let burst = Some(bucket(rate, mtu, timers));
    StageQueues {
        root: Qdisc::Htb(tc::Htb {
            default_class: 0,
            direct_qlen: Some(DELAY_LIMIT),
        }),
        class: tc::HtbClass {
            rate_bps: rate.bps(),
            burst_bytes: burst,
            ceil_burst_bytes: burst,
            quantum_bytes: Some(mtu + ETHERNET_HEADER as u32),
            ..tc::HtbClass::default()
        },
        queue: AttachedQueue {
            parent: CLASS,
            handle: INNER_QUEUE,
            qdisc: Qdisc::Netem(tc::Netem {
                limit_packets: Some(stage.buffer.packets(mtu)),
                loss: netem_loss(stage.loss),
                seed: Some(seed),
                ..tc::Netem::default()
            }),
        },
    }
}
