//! The flows of a cell: their configuration and their results.

mod load;
mod site;
mod waiting;

use std::{net::SocketAddr, sync::Arc};

use model::{
    cell::{Cell, TrafficKind},
    record::{Flow as Info, FlowKind, Stream},
};
use sys::clock::Instant;
use testbed::Testbed;
use traffic::load::tcp;

use crate::times::Times;
use load::Load;
use site::Site;

/// A started flow.
pub(crate) struct Started {
    pub(crate) info: Info,
    load: Load,
    /// Time at which it is to be stopped, if before the end.
    stop: Option<Instant>,
}

impl Started {
    /// Stops it if its stop time is reached.
    pub(crate) fn stop_if_due(&self, now: Instant) {
        if self.stop.is_some_and(|stop| stop <= now) && !self.load.is_stopped() {
            self.load.stop();
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.load.is_stopped()
    }

    pub(crate) fn is_measured(&self) -> bool {
        self.info.cross.is_none()
    }

    /// Adds a sample of its sender or its receiver: bytes of `struct tcp_info`.
    pub(crate) fn add_sample(&mut self, at_ns: i64, sends: bool, info: &[u8]) {
        self.load.add_sample(at_ns, sends, info);
    }

    /// Samples its sockets as sender, receiver, or both.
    pub(crate) fn sample(&mut self, at_ns: i64, sender: bool, receiver: bool) {
        self.load.sample(at_ns, sender, receiver);
    }
}

/// All flows of a cell.
pub(crate) struct Running {
    pub(crate) flows: Vec<Started>,
}

/// The connected socket of a bulk flow.
pub(crate) struct Socket {
    /// Place of its flow.
    pub(crate) flow: usize,
    pub(crate) sends: bool,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
}

impl Running {
    /// The connected sockets of all bulk flows.
    pub(crate) fn sockets(&self) -> Vec<Socket> {
        let socket = |flow: usize, sends| {
            let (local, remote) = self.flows[flow].load.addresses(sends)?;
            Some(Socket {
                flow,
                sends,
                local,
                remote,
            })
        };
        let both = |flow| [socket(flow, true), socket(flow, false)];
        (0..self.flows.len()).flat_map(both).flatten().collect()
    }

    /// All bulk flows, by place.
    pub(crate) fn bulk(&self) -> impl Iterator<Item = (usize, &Started)> {
        let flows = self.flows.iter().enumerate();
        flows.filter(|(_, started)| started.info.kind == FlowKind::Tcp)
    }

    /// The times at which flows are to be stopped.
    pub(crate) fn stops(&self) -> impl Iterator<Item = Instant> {
        self.flows.iter().filter_map(|started| started.stop)
    }

    /// Notes which congestion control each socket really has.
    pub(crate) fn note_congestion(&mut self) {
        for started in &mut self.flows {
            started.info.cc_used = started.load.congestion();
        }
    }
}

/// Starts all flows; each waits until its start time.
pub(crate) fn start(cell: &Cell, bed: &Arc<Testbed>, times: Times) -> anyhow::Result<Running> {
    let zeroes = tcp::zeroes()?;
    let mut flows = Vec::new();
    let groups = std::iter::once((None, &cell.traffic)).chain(
        cell.cross
            .iter()
            .enumerate()
            .map(|(i, cross)| (Some(i), cross)),
    );
    for (cross, traffic) in groups {
        for &direction in &traffic.directions {
            for _ in 0..traffic.flows {
                if traffic.kind == TrafficKind::Idle {
                    continue;
                }
                let id = u16::try_from(flows.len())?;
                let site = Site {
                    cell,
                    bed,
                    times,
                    id,
                    cross,
                    direction,
                    traffic,
                };
                let (info, load) = site.start(&zeroes)?;
                let stop = traffic.stop.map(|stop| times.zero.after(stop));
                flows.push(Started { info, load, stop });
            }
        }
    }
    Ok(Running { flows })
}

/// Ends all flows; returns their results and records.
pub(crate) fn finish(running: Running, zero: Instant) -> (Vec<Info>, Vec<Stream>) {
    // All stop before the first is waited for: data that one still has in flight must not delay the
    // next.
    for started in &running.flows {
        started.load.stop();
    }
    let mut infos = Vec::new();
    let mut streams = Vec::new();
    for Started { mut info, load, .. } in running.flows {
        let ended = load.finish(info.id, zero);
        info.error = ended.error;
        info.udp_sent = ended.sent;
        streams.push(ended.records);
        infos.push(info);
    }
    (infos, streams)
}
