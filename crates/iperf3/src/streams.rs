//! Data streams of a test at one end.

use std::{
    io,
    net::{Shutdown, TcpStream, UdpSocket},
    os::fd::AsFd,
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};

use model::text;
use sys::{
    clock::Instant,
    socket,
    tcp_info::{self, TcpInfo},
};

use super::{
    Error,
    halves::{self, Counts, Load, Phase, WAIT},
    results::{Cpu, Results, StreamResults},
    stream_id,
};
use traffic::{load::count::Counter, spawn};

/// Longest time for which a receiver continues with data that had arrived when the test ended.
const EMPTYING: Duration = Duration::from_millis(200);

/// The socket of a stream.
#[derive(Debug)]
pub(super) enum Link {
    Tcp(TcpStream),
    Udp(UdpSocket),
}

impl Link {
    fn prepare(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => {
                stream.set_nonblocking(false)?;
                stream.set_read_timeout(Some(WAIT))?;
                stream.set_write_timeout(Some(WAIT))
            }
            Self::Udp(socket) => {
                socket.set_nonblocking(false)?;
                socket.set_read_timeout(Some(WAIT))?;
                socket.set_write_timeout(Some(WAIT))
            }
        }
    }

    fn tcp(&self) -> Option<&TcpStream> {
        match self {
            Self::Tcp(stream) => Some(stream),
            Self::Udp(_) => None,
        }
    }

    fn run(&self, sends: bool, load: &Load, counts: &Counts) -> io::Result<()> {
        match (self, sends) {
            (Self::Tcp(stream), true) => halves::send_tcp(stream, load, counts),
            (Self::Tcp(stream), false) => halves::receive_tcp(stream, load, counts),
            (Self::Udp(socket), true) => halves::send_udp(socket, load, counts),
            (Self::Udp(socket), false) => halves::receive_udp(socket, load, counts),
        }
    }
}

/// Counts before the measured part of the test.
#[derive(Clone, Copy, Debug, Default)]
struct Omitted {
    bytes: u64,
    packets: u64,
    lost: u64,
    reordered: u64,
    retransmits: u64,
}

#[derive(Debug)]
struct Stream {
    id: u32,
    sends: bool,
    link: Arc<Link>,
    counts: Arc<Counts>,
    omitted: Omitted,
    thread: Option<JoinHandle<()>>,
}

impl Stream {
    fn start(&mut self, load: &Arc<Load>) -> io::Result<()> {
        self.link.prepare()?;
        let (link, counts, load) = (self.link.clone(), self.counts.clone(), load.clone());
        let sends = self.sends;
        let half = spawn("iperf3", move || {
            if let Err(error) = link.run(sends, &load, &counts) {
                counts.fail(error);
            }
        })?;
        self.thread = Some(half);
        Ok(())
    }

    fn join(&mut self) {
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            self.counts
                .fail(io::Error::other(text!("its thread panicked")));
        }
    }

    fn tcp_info(&self) -> Option<TcpInfo> {
        tcp_info::read(self.link.tcp()?.as_fd()).ok()
    }

    /// Everything counted so far, including the omitted part.
    fn so_far(&self) -> Omitted {
        let udp = self.counts.received();
        Omitted {
            bytes: self.counts.bytes(),
            packets: udp.highest.max(self.counts.sent_packets()),
            lost: lost(&udp),
            reordered: udp.reordered,
            retransmits: self.tcp_info().map_or(0, |i| i.total_retrans.into()),
        }
    }
}

fn lost(udp: &Counter) -> u64 {
    udp.highest.saturating_sub(udp.received)
}

/// Counts of one end for a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Tally {
    /// Number of the stream.
    pub id: u32,
    /// True if this end sent.
    pub sends: bool,
    /// Payload bytes.
    pub bytes: u64,
    /// Length of the counted part, µs.
    pub time_us: u64,
    /// Datagrams sent, or the highest number received; UDP only.
    pub packets: Option<u64>,
    /// Datagrams lost; UDP receiver only.
    pub lost: Option<u64>,
    /// Datagrams sent, or the highest number received, before the counted part.
    pub omitted_packets: u64,
    /// Datagrams lost before the counted part.
    pub omitted_lost: u64,
    /// Datagrams received after later ones; UDP receiver only.
    pub reordered: Option<u64>,
    /// Jitter by RFC 3550, µs; UDP receiver only.
    pub jitter_us: Option<f64>,
    /// Segments retransmitted; TCP sender only.
    pub retransmits: Option<u64>,
    /// Congestion control in use; TCP only.
    pub congestion: Option<String>,
    /// `TCP_INFO` at the end; TCP only.
    pub tcp: Option<TcpInfo>,
}

impl Tally {
    fn results(&self) -> StreamResults {
        StreamResults {
            id: self.id,
            bytes: self.bytes,
            retransmits: self.retransmits,
            jitter_s: self.jitter_us.unwrap_or(0.0) / 1e6,
            lost: self.lost.unwrap_or(0).saturating_add(self.omitted_lost),
            packets: self
                .packets
                .unwrap_or(0)
                .saturating_add(self.omitted_packets),
            omitted_lost: Some(self.omitted_lost),
            omitted_packets: Some(self.omitted_packets),
            end_s: self.time_us as f64 / 1e6,
            ..StreamResults::default()
        }
    }
}

/// The results that this end sends to the other.
pub(super) fn results(cpu: Cpu, tallies: &[Tally]) -> Results {
    let sends = tallies.iter().any(|t| t.sends);
    let counts = tallies.iter().any(|t| t.retransmits.is_some());
    Results {
        cpu,
        has_retransmits: sends.then_some(counts),
        congestion_used: tallies.iter().find_map(|t| t.congestion.clone()),
        streams: tallies.iter().map(Tally::results).collect(),
    }
}

/// All streams of a test.
#[derive(Debug)]
pub(super) struct Streams {
    load: Arc<Load>,
    streams: Vec<Stream>,
    /// Start of the counted part.
    from: Instant,
    /// End of sending or counting.
    end: Option<Instant>,
}

impl Streams {
    /// Starts all halves. `links` are in the order in which they were opened; the flag is true if
    /// this end sends on it.
    pub(super) fn start(load: Load, links: Vec<(Link, bool)>) -> Result<Self, Error> {
        let streams = links
            .into_iter()
            .enumerate()
            .map(|(i, (link, sends))| Stream {
                id: stream_id(i),
                sends,
                link: Arc::new(link),
                counts: Arc::default(),
                omitted: Omitted::default(),
                thread: None,
            });
        let mut all = Self {
            from: load.start,
            load: Arc::new(load),
            streams: streams.collect(),
            end: None,
        };
        for stream in &mut all.streams {
            let id = stream.id;
            let started = stream.start(&all.load);
            started.map_err(|why| Error::Stream { id, why })?;
        }
        Ok(all)
    }

    /// Excludes everything counted so far.
    pub(super) fn omit(&mut self) {
        self.from = Instant::now();
        for stream in &mut self.streams {
            stream.omitted = stream.so_far();
        }
    }

    /// Start of the whole test.
    pub(super) fn began(&self) -> Instant {
        self.load.start
    }

    /// Returns the latest end of its streams, regardless of the peer.
    pub(super) fn deadline(&self) -> Instant {
        self.load.lease.deadline(self.load.start)
    }

    /// Ends sending and receiving at once.
    pub(super) fn halt(&mut self) {
        self.end.get_or_insert_with(Instant::now);
        self.load.enter(Phase::Ended);
    }

    /// The first failure of a stream.
    pub(super) fn failure(&self) -> Option<Error> {
        self.streams.iter().find_map(|s| {
            let why = s.counts.failure()?;
            Some(Error::Stream { id: s.id, why })
        })
    }

    /// Bytes sent, or received, over all streams; for UDP including those lost on the path.
    pub(super) fn bytes(&self, sends: bool) -> u64 {
        let streams = self.streams.iter().filter(|s| s.sends == sends);
        let bytes = |s: &Stream| {
            let datagrams = s.counts.received().highest;
            s.counts
                .bytes()
                .max(datagrams.saturating_mul(self.load.len as u64))
        };
        streams.map(bytes).fold(0, u64::saturating_add)
    }

    /// Bytes that the peers' kernels have acknowledged.
    pub(super) fn acknowledged_bytes(&self) -> u64 {
        let infos = self.streams.iter().filter_map(Stream::tcp_info);
        infos.filter_map(|i| i.bytes_acked).sum()
    }

    /// Returns true if the peers' kernels have acknowledged all data sent.
    pub(super) fn acknowledged(&self) -> bool {
        let sending = self.streams.iter().filter(|s| s.sends);
        sending
            .filter_map(Stream::tcp_info)
            .all(|i| i.unacked == 0 && i.notsent_bytes.unwrap_or(0) == 0)
    }

    /// Ends sending. Arriving data is read and does not count.
    pub(super) fn drain(&mut self) {
        self.end = Some(Instant::now());
        self.load.enter(Phase::Draining);
        self.join(true);
    }

    /// Ends sending, and ends receiving when all arrived data is read.
    pub(super) fn empty(&mut self) {
        let now = Instant::now();
        let halted = self.end.is_some();
        self.end.get_or_insert(now);
        if !halted {
            self.load.enter(Phase::Emptying);
        }
        for stream in self.streams.iter().filter(|s| !s.sends) {
            let _ = match &*stream.link {
                Link::Tcp(tcp) => tcp.set_nonblocking(true),
                Link::Udp(udp) => udp.set_nonblocking(true),
            };
        }
        let limit = now.after(EMPTYING);
        while Instant::now() < limit && !self.finished() {
            Instant::now().after(Duration::from_millis(1)).wait();
        }
        self.load.enter(Phase::Ended);
        self.join(true);
        self.join(false);
    }

    fn finished(&self) -> bool {
        let mut threads = self.streams.iter().filter_map(|s| s.thread.as_ref());
        threads.all(JoinHandle::is_finished)
    }

    fn join(&mut self, sends: bool) {
        for stream in self.streams.iter_mut().filter(|s| s.sends == sends) {
            stream.join();
        }
    }

    /// Counts of all streams, and their sockets' state.
    pub(super) fn tally(&self) -> Vec<Tally> {
        self.streams.iter().map(|s| self.tally_of(s)).collect()
    }

    fn tally_of(&self, stream: &Stream) -> Tally {
        let (all, before) = (stream.so_far(), stream.omitted);
        let tcp = stream.tcp_info();
        let is_udp = stream.link.tcp().is_none();
        let received = |n| (is_udp && !stream.sends).then_some(n);
        let jitter_us = stream.counts.received().jitter_ns() as f64 / 1000.0;
        let end = self.end.unwrap_or_else(Instant::now);
        let end = if stream.sends {
            end
        } else {
            end.max(stream.counts.last())
        };
        Tally {
            id: stream.id,
            sends: stream.sends,
            bytes: all.bytes.saturating_sub(before.bytes),
            time_us: u64::try_from(end.since(self.from) / 1000).unwrap_or(0),
            packets: is_udp.then_some(all.packets.saturating_sub(before.packets)),
            lost: received(all.lost.saturating_sub(before.lost)),
            omitted_packets: before.packets,
            omitted_lost: before.lost,
            reordered: received(all.reordered.saturating_sub(before.reordered)),
            jitter_us: received(0).map(|_| jitter_us),
            retransmits: (tcp.is_some() && stream.sends)
                .then_some(all.retransmits.saturating_sub(before.retransmits)),
            congestion: stream
                .link
                .tcp()
                .and_then(|tcp| socket::congestion(tcp).ok()),
            tcp,
        }
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        self.load.enter(Phase::Ended);
        for stream in &self.streams {
            if let Link::Tcp(tcp) = &*stream.link {
                let _ = tcp.shutdown(Shutdown::Both);
            }
        }
        self.join(true);
        self.join(false);
    }
}
