//! The flows of a cell: which, where, and what became of them.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use model::{
    cell::{Cell, EndQdisc, Traffic, TrafficKind, TunnelAt},
    net::Direction,
    record::{Flow as Info, Stream},
};
use sys::{
    clock::Instant,
    socket::{self, TcpOptions},
};
use testbed::{Node, Testbed};
use traffic::{
    Flow,
    short::{self, Exchange},
    tcp::{self, Role},
    udp::{self, Pace},
};

use crate::setting::{Times, address};

/// First port of the servers; each flow has its own, so that no order of arrival matters.
const PORT: u16 = 10_000;

/// Unsent bytes a bulk sender may queue: enough to never run dry between two wake-ups, little
/// against the memory of a guest.
const UNSENT: u32 = 1 << 20;

/// A started flow.
pub(crate) struct Started {
    pub(crate) info: Info,
    pub(crate) flow: Flow,
    /// When it is to be stopped, if before the end.
    pub(crate) stop: Option<Instant>,
}

/// All flows of a cell.
pub(crate) struct Running {
    pub(crate) flows: Vec<Started>,
}

impl Running {
    /// Notes which congestion control each socket really has.
    pub(crate) fn note_congestion(&mut self) {
        for started in &mut self.flows {
            let sender = started.flow.halves.sender.get();
            started.info.cc_used = sender.and_then(|s| socket::congestion(s).ok());
        }
    }
}

/// Starts all flows; each waits for its own time.
pub(crate) fn start(cell: &Cell, bed: &Arc<Testbed>, times: Times) -> anyhow::Result<Running> {
    let file = Arc::new(socket::zeroes(tcp::CHUNK)?);
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
                flows.push(site.start(&file)?);
            }
        }
    }
    Ok(Running { flows })
}

/// Where and what one flow is.
struct Site<'a> {
    cell: &'a Cell,
    bed: &'a Arc<Testbed>,
    times: Times,
    id: u16,
    cross: Option<usize>,
    direction: Direction,
    traffic: &'a Traffic,
}

impl Site<'_> {
    fn start(&self, file: &Arc<std::fs::File>) -> anyhow::Result<Started> {
        let start = self.times.zero.after(self.traffic.start);
        let (flow, kind, cc) = match self.traffic.kind {
            TrafficKind::Tcp => (self.bulk(start, file)?, "tcp", Some(self.congestion())),
            TrafficKind::Udp { rate, payload } => {
                (self.constant(start, rate, payload)?, "udp", None)
            }
            TrafficKind::Short { size } => (
                self.exchanges(start, size.0)?,
                "short",
                Some(self.congestion()),
            ),
            TrafficKind::Idle => anyhow::bail!("idle traffic has no flows"),
        };
        let info = Info {
            id: self.id,
            cross: self.cross,
            direction: self.direction,
            kind: kind.to_owned(),
            cc_requested: cc,
            cc_used: None,
            error: None,
            udp_sent: None,
        };
        let stop = self.traffic.stop.map(|stop| self.times.zero.after(stop));
        Ok(Started { info, flow, stop })
    }

    fn congestion(&self) -> String {
        let end = match self.direction {
            Direction::Down => &self.cell.ends.server,
            Direction::Up => &self.cell.ends.client,
        };
        self.traffic.cc.clone().unwrap_or_else(|| end.cc.clone())
    }

    fn server_address(&self) -> anyhow::Result<SocketAddr> {
        Ok(SocketAddr::new(address(self.bed.server())?, PORT + self.id))
    }

    /// Options of the two sockets: only the sender's congestion control matters.
    fn options(&self, sends: bool) -> TcpOptions {
        TcpOptions {
            congestion: sends.then(|| self.congestion()),
            notsent_lowat: sends.then(|| self.sending_end().unwrap_or(UNSENT)),
            own_family: false,
        }
    }

    fn sending_end(&self) -> Option<u32> {
        let end = match self.direction {
            Direction::Down => &self.cell.ends.server,
            Direction::Up => &self.cell.ends.client,
        };
        end.notsent_lowat
            .map(|b| u32::try_from(b.0).unwrap_or(u32::MAX))
    }

    fn listen(&self) -> anyhow::Result<std::net::TcpListener> {
        let options = self.options(self.direction == Direction::Down);
        let at = self.server_address()?;
        Ok(self
            .bed
            .server()
            .ns
            .run(|| socket::tcp_listener(at, &options))??)
    }

    fn connector(
        &self,
    ) -> anyhow::Result<impl FnMut() -> std::io::Result<std::net::TcpStream> + Send + use<>> {
        let (bed, to) = (self.bed.clone(), self.server_address()?);
        let options = self.options(self.direction == Direction::Up);
        Ok(move || bed.client().ns.run(|| socket::tcp_connect(to, &options))?)
    }

    fn bulk(&self, start: Instant, file: &Arc<std::fs::File>) -> anyhow::Result<Flow> {
        let role = match self.direction {
            Direction::Down => Role::Receiver,
            Direction::Up => Role::Sender,
        };
        let connect = Box::new(self.connector()?);
        Ok(tcp::bulk(
            self.listen()?,
            connect,
            role,
            start,
            file.clone(),
        )?)
    }

    fn exchanges(&self, start: Instant, size: u64) -> anyhow::Result<Flow> {
        let exchange = match self.direction {
            Direction::Down => Exchange { up: 0, down: size },
            Direction::Up => Exchange { up: size, down: 0 },
        };
        let connect = Box::new(self.connector()?);
        let zero = self.times.zero;
        Ok(short::exchanges(
            self.listen()?,
            connect,
            exchange,
            self.id,
            start,
            zero,
        )?)
    }

    fn constant(
        &self,
        start: Instant,
        rate: model::units::Rate,
        payload: u32,
    ) -> anyhow::Result<Flow> {
        let (client, server) = (self.bed.client(), self.bed.server());
        let (from, to, end) = match self.direction {
            Direction::Down => (server, client, &self.cell.ends.server),
            Direction::Up => (client, server, &self.cell.ends.client),
        };
        let open = |node: &Node| -> anyhow::Result<_> {
            let at = SocketAddr::new(address(node)?, PORT + self.id);
            Ok((node.ns.run(|| socket::udp(at))??, at))
        };
        let (sender, from) = open(from)?;
        let (receiver, to) = open(to)?;
        sender.connect(to)?;
        receiver.connect(from)?;
        // Only its own device's fq paces a socket; a tunnel device in between hides it.
        let hidden = self
            .cell
            .tunnel
            .as_ref()
            .is_some_and(|t| t.at == TunnelAt::Ends);
        let by_queue = end.qdisc == EndQdisc::Fq && end.shape.is_none() && !hidden;
        let bits = u64::from(payload) * 8;
        let every = Duration::from_nanos(bits * 1_000_000_000 / rate.bps().max(1));
        let pace = Pace {
            payload: payload as usize,
            every,
            by_queue,
            start,
            zero: self.times.zero,
            sample: self.cell.sample,
        };
        Ok(udp::constant(sender, receiver, self.id, pace)?)
    }
}

/// Ends all flows; returns what is known of each, and what they recorded.
pub(crate) fn finish(running: Running) -> (Vec<Info>, Vec<Stream>) {
    // All stop before the first is waited for: what one still has in flight must not hold up the
    // next.
    for started in &running.flows {
        started.flow.halves.stop();
    }
    let mut infos = Vec::new();
    let mut streams = Vec::new();
    for Started { mut info, flow, .. } in running.flows {
        info.error = flow.halves.error();
        let ended = flow.finish();
        if info.kind == "udp" {
            info.udp_sent = Some(ended.iter().map(|e| e.sent).sum());
        }
        streams.extend(ended.into_iter().map(|e| e.records));
        infos.push(info);
    }
    (infos, streams)
}
