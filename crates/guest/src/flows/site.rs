//! Places of the flows of a cell, and their sockets.

use std::{
    io,
    net::{SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    time::Duration,
};

use model::{
    cell::{Batch, Cell, End, EndQdisc, Traffic, TrafficKind, TunnelAt},
    net::{Direction, Side},
    record::{Flow as Info, FlowKind},
    text,
    units::Rate,
};
use sys::{
    clock::Instant,
    socket::{self, TcpOptions},
    zeroes::Zeroes,
};
use testbed::{Node, Testbed};
use traffic::{
    Opener,
    admission::Lease,
    load::{
        tcp::TcpLoad,
        udp::{Config, Spacing, UdpLoad},
    },
};

use super::{
    load::{Load, Requests},
    waiting::Waiting,
};
use crate::times::{Times, address};

/// First port of the servers; each flow has its own, so that the order of arrival is irrelevant.
const PORT: u16 = 10_000;

/// Unsent bytes a bulk sender may queue: enough to never run dry between two wake-ups, little
/// against the memory of a guest.
const UNSENT: u32 = 1 << 20;

/// Location and kind of one flow.
pub(super) struct Site<'a> {
    pub(super) cell: &'a Cell,
    pub(super) bed: &'a Arc<Testbed>,
    pub(super) times: Times,
    pub(super) id: u16,
    pub(super) cross: Option<usize>,
    pub(super) direction: Direction,
    pub(super) traffic: &'a Traffic,
}

impl Site<'_> {
    /// Starts the flow, with data from `zeroes`.
    pub(super) fn start(&self, zeroes: &Zeroes) -> anyhow::Result<(Info, Load)> {
        let start = self.times.zero.after(self.traffic.start);
        let (load, kind, cc) = match self.traffic.kind {
            TrafficKind::Tcp => (
                self.bulk(start, zeroes)?,
                FlowKind::Tcp,
                Some(self.congestion()),
            ),
            TrafficKind::Udp { rate, payload } => {
                (self.constant(start, rate, payload)?, FlowKind::Udp, None)
            }
            TrafficKind::Short { size, batch } => (
                self.requests(start, size.0, batch)?,
                FlowKind::Short,
                Some(self.congestion()),
            ),
            TrafficKind::Idle => anyhow::bail!("idle traffic has no flows"),
        };
        let info = Info {
            id: self.id,
            cross: self.cross,
            direction: self.direction,
            kind,
            cc_requested: cc,
            cc_used: None,
            error: None,
            udp_sent: None,
        };
        Ok((info, load))
    }

    fn congestion(&self) -> String {
        let cc = self.traffic.cc.as_ref();
        cc.unwrap_or(&self.sending_end().cc).clone()
    }

    fn sending_end(&self) -> &End {
        self.cell.ends.end(Side::sends(self.direction))
    }

    fn far_address(&self) -> anyhow::Result<SocketAddr> {
        Ok(SocketAddr::new(address(self.bed.far())?, PORT + self.id))
    }

    /// Options of the two sockets: only the sender's congestion control is relevant.
    fn options(&self, sends: bool) -> TcpOptions {
        let lowat = self.sending_end().notsent_lowat;
        let lowat = lowat.map_or(UNSENT, |b| u32::try_from(b.0).unwrap_or(u32::MAX));
        TcpOptions {
            congestion: sends.then(|| self.congestion()),
            notsent_lowat: sends.then_some(lowat),
            own_family: false,
        }
    }

    fn listen(&self) -> anyhow::Result<TcpListener> {
        let options = self.options(self.direction == Direction::Down);
        let at = self.far_address()?;
        let far = &self.bed.far().ns;
        Ok(far.run(|| socket::tcp_listener(at, &options))??)
    }

    fn connector(
        &self,
        waiting: Waiting,
    ) -> anyhow::Result<impl FnMut() -> io::Result<TcpStream> + Send + use<>> {
        let (bed, to) = (self.bed.clone(), self.far_address()?);
        let options = self.options(self.direction == Direction::Up);
        Ok(move || {
            let stream = bed
                .near()
                .ns
                .run(|| socket::tcp_unconnected(to, &options))??;
            waiting.on(&stream, || socket::tcp_connect(&stream, to))?;
            Ok(stream)
        })
    }

    fn bulk(&self, start: Instant, zeroes: &Zeroes) -> anyhow::Result<Load> {
        let waiting = Waiting::default();
        let (listener, mut connector) = (self.listen()?, self.connector(waiting.clone())?);
        let accepting = Waiting::default();
        let waits = [accepting.clone(), waiting];
        let accept: Opener<TcpStream> = Box::new(move || {
            let accepted = accepting.on(&listener, || listener.accept());
            let accepted = accepted.map(|(stream, _)| stream);
            accepted.map_err(|e| io::Error::new(e.kind(), text!("accept: {error}", error = &e)))
        });
        let connect: Opener<TcpStream> = Box::new(move || {
            connector().map_err(|e| io::Error::new(e.kind(), text!("connect: {error}", error = &e)))
        });
        let sends = |direction| (self.direction == direction).then_some(zeroes);
        let far = Box::new(TcpLoad::driven(accept, sends(Direction::Down), start)?);
        let near = Box::new(TcpLoad::driven(connect, sends(Direction::Up), start)?);
        Ok(match self.direction {
            Direction::Down => Load::Tcp {
                sender: far,
                receiver: near,
                waits,
            },
            Direction::Up => Load::Tcp {
                sender: near,
                receiver: far,
                waits,
            },
        })
    }

    fn requests(&self, start: Instant, size: u64, batch: Option<Batch>) -> anyhow::Result<Load> {
        let (up, down) = match self.direction {
            Direction::Down => (0, size),
            Direction::Up => (size, 0),
        };
        let waiting = Waiting::default();
        let connect = Box::new(self.connector(waiting.clone())?);
        let requests = Requests {
            start,
            up,
            down,
            batch,
        };
        Ok(requests.start(self.listen()?, connect, waiting)?)
    }

    fn constant(&self, start: Instant, rate: Rate, payload: u32) -> anyhow::Result<Load> {
        let from = self.bed.end(Side::sends(self.direction));
        let to = self.bed.end(Side::receives(self.direction));
        let open = |node: &Node| -> anyhow::Result<_> {
            let at = SocketAddr::new(address(node)?, PORT + self.id);
            Ok((node.ns.run(|| socket::udp(at))??, at))
        };
        let (sender, from) = open(from)?;
        let (receiver, to) = open(to)?;
        sender.connect(to)?;
        receiver.connect(from)?;
        let config = Config {
            rate_bps: rate.bps(),
            payload: payload as usize,
            zero: start,
            lease: Lease::own(Duration::MAX, None, None),
        };
        Ok(Load::Udp {
            receiver: UdpLoad::receive_sampled(receiver, config.clone(), self.cell.sample)?,
            sender: UdpLoad::send_spaced(sender, config, self.spacing())?,
        })
    }

    /// Only its own device's fq paces a socket; a tunnel device in between hides it.
    fn spacing(&self) -> Spacing {
        let end = self.sending_end();
        let tunnel = self.cell.tunnel.as_ref();
        let hidden = tunnel.is_some_and(|t| t.at == TunnelAt::Ends);
        if end.qdisc == EndQdisc::Fq && end.shape.is_none() && !hidden {
            Spacing::Queue
        } else {
            Spacing::Single
        }
    }
}
