//! Samples at many points of the grid by one system call: in a guest, one costs as much as ten
//! packets.

use std::time::Duration;

use model::{
    cell::Cell,
    net::Side,
    record::{Kind, Stream},
};
use sys::{
    Netlink,
    clock::Instant,
    ring::{TimedReader, TimedRequest},
    sock_diag,
    tc::{self, QdiscStats},
};
use testbed::Testbed;

use super::state::{SELDOM, queue_sample, sampled};
use crate::{
    engine::Engine,
    flows::{Running, Socket},
    times::Times,
};

/// Most bytes of the state of a socket, and of a queue: `cake` has some 3 kB.
const SOCKET: usize = 1024;
const QUEUE: usize = 4096;

/// Sampler, once all measured senders are connected.
pub(super) enum Many {
    /// Not yet.
    Waiting,
    Ready(Box<Ready>),
    /// Never: in real time a point that passes meanwhile would be lost, and not each kernel has
    /// what is needed.
    Never,
}

pub(super) struct Ready {
    reader: TimedReader,
    /// The sockets that are the first requests.
    sockets: Vec<Socket>,
    /// Numbers of the queues, which are the other requests.
    queues: Vec<u16>,
    /// All that is sampled only now and then is among them.
    all: bool,
}

impl Many {
    pub(super) fn new(engine: Engine<'_>) -> Self {
        match engine.guest {
            true => Self::Waiting,
            false => Self::Never,
        }
    }

    /// Prepares the reader as soon as all measured senders are connected, and again when everything
    /// is.
    pub(super) fn prepare(&mut self, cell: &Cell, bed: &Testbed, running: &Running) {
        match self {
            Self::Never => return,
            Self::Ready(ready) if ready.all => return,
            Self::Ready(_) | Self::Waiting => {}
        }
        let mut sockets = running.sockets();
        let all = sockets.len() == 2 * running.bulk().count();
        let is_measured = |socket: &Socket| running.flows[socket.flow].is_measured();
        let measured = running.bulk().filter(|(_, flow)| flow.is_measured());
        if !all {
            sockets.retain(|socket| socket.sends && is_measured(socket));
            if matches!(self, Self::Ready(_)) || sockets.len() < measured.count() {
                return;
            }
        }
        *self = match Ready::new(cell, bed, running, sockets, all) {
            Ok(ready) => Self::Ready(Box::new(ready)),
            Err(_) => Self::Never,
        };
    }

    /// Most points of the grid that one call may sample, of which the next has the number `number`.
    pub(super) fn most(&self, number: u32, running: &Running) -> u32 {
        let Self::Ready(ready) = self else {
            return 0;
        };
        // The kernel tells less of a connection that has been closed than its socket does.
        let stopped = || running.bulk().filter(|(_, flow)| flow.is_stopped());
        let until_whole = match number % SELDOM {
            _ if ready.all && stopped().next().is_none() => u32::MAX,
            _ if stopped().any(|(_, flow)| flow.is_measured()) => 0,
            0 => 0,
            past => SELDOM - past,
        };
        until_whole.min(ready.reader.most() as u32)
    }

    /// Samples at points of the grid; returns false if it cannot, and nothing was done.
    pub(super) fn sample(
        &mut self,
        points: Points,
        running: &mut Running,
        times: Times,
        truth: &mut Stream,
    ) -> bool {
        let Self::Ready(ready) = self else {
            return false;
        };
        if ready.read(points).is_err() {
            *self = Self::Never;
            return false;
        }
        for point in 0..points.count {
            let ns = points.at(point).since(times.zero);
            ready.take(point as usize, ns, running, truth);
        }
        true
    }
}

/// Consecutive points of the grid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Points {
    pub(super) first: Instant,
    pub(super) every: Duration,
    /// Number of the first.
    pub(super) number: u32,
    pub(super) count: u32,
}

impl Points {
    /// The time of one of them.
    pub(super) fn at(self, point: u32) -> Instant {
        self.first.after(self.every * point)
    }
}

impl Ready {
    fn new(
        cell: &Cell,
        bed: &Testbed,
        running: &Running,
        sockets: Vec<Socket>,
        all: bool,
    ) -> anyhow::Result<Self> {
        let mut requests = Vec::new();
        for socket in &sockets {
            let info = &running.flows[socket.flow].info;
            let side = match socket.sends {
                true => Side::sends(info.direction),
                false => Side::receives(info.direction),
            };
            let often = socket.sends && running.flows[socket.flow].is_measured();
            requests.push(TimedRequest {
                nl: bed.end(side).ns.run(Netlink::sock_diag)??,
                message: sock_diag::info_request(socket.local, socket.remote),
                room: SOCKET,
                every: if often { 1 } else { SELDOM },
            });
        }
        let mut queues = Vec::new();
        for (id, queue) in sampled(cell, bed) {
            requests.push(TimedRequest {
                nl: bed.hosts[queue.host].ns.route()?,
                message: tc::stats_request(queue.device, queue.handle),
                room: QUEUE,
                every: 1,
            });
            queues.push(id);
        }
        Ok(Self {
            reader: TimedReader::new(requests)?,
            sockets,
            queues,
            all,
        })
    }

    fn read(&mut self, points: Points) -> std::io::Result<()> {
        let (number, count) = (u64::from(points.number), points.count as usize);
        self.reader.read(points.first, points.every, number, count)
    }

    /// Passes on what was read at one of the points.
    fn take(&self, point: usize, ns: i64, running: &mut Running, truth: &mut Stream) {
        let answer = |request| self.reader.answer(point, request);
        for (request, socket) in self.sockets.iter().enumerate() {
            if let Some(info) = answer(request).and_then(sock_diag::info) {
                running.flows[socket.flow].add_sample(ns, socket.sends, info);
            }
        }
        for (request, id) in (self.sockets.len()..).zip(&self.queues) {
            if let Some(stats) = answer(request).and_then(QdiscStats::parse) {
                truth.push_words(Kind::Queue, *id, ns, &queue_sample(&stats).words());
            }
        }
    }
}
