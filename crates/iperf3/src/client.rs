//! Client: connects to a server, runs one test with it, returns the counts of both ends.

use std::{
    io,
    net::{SocketAddr, TcpStream, UdpSocket},
    os::fd::AsFd,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};

use model::{
    net::{Direction, LoadDirection},
    text,
};
use sys::{clock::Instant, socket, tcp_info};
use traffic::admission::Lease;

use super::{
    Error, TCP_LEN, UDP_LEN,
    datagram::{HEAD, HELLO, is_reply},
    halves::{Load, WAIT},
    limits::udp_buffer,
    outcome::Outcome,
    params::{Params, Protocol},
    results::Results,
    stream_id,
    streams::{self, Link, Streams},
    usage::Usage,
    wire::{Control, Cookie, MAX_RESULTS, State},
};

/// Timeout of a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// Timeout of the server for a step.
const STEP: Duration = Duration::from_secs(30);
/// Time between two tries to open a UDP stream, and how many there are.
const TRY: Duration = Duration::from_secs(1);
const TRIES: u32 = 5;
/// Maximum time without progress in a test of a number of bytes.
const STUCK: Duration = Duration::from_secs(60);
/// Time after the last datagram when no more are expected.
const LAST: Duration = Duration::from_secs(2);
/// Time between two checks whether all bytes have arrived.
const PEEK: Duration = Duration::from_millis(1);

/// Task of a client.
#[derive(Clone, Debug)]
pub struct Options {
    /// Request to the server. `len` may be absent: then 128 KiB for TCP, and for UDP as much
    /// as a segment of the control connection carries. `time_s` is set from `duration`.
    pub params: Params,
    /// Sending time after the omitted part, if no bytes or blocks are given.
    pub duration: Duration,
    /// Payload bytes in both directions, the omitted part included, after which the test is
    /// aborted ([`Error::Spent`]).
    pub most_bytes: Option<u64>,
}

/// Runs one test with the server at `address`. The cookie is generated from `random`; the test is
/// aborted when `stop` is set.
///
/// # Errors
/// Reason why the test did not complete. A completed test that differs from the request is not an
/// error: see [`Outcome::invalid`].
pub fn run(
    address: SocketAddr,
    options: &Options,
    random: [u8; 36],
    stop: &AtomicBool,
) -> Result<Outcome, Error> {
    let stream =
        TcpStream::connect_timeout(&address, CONNECT).map_err(|e| Error::Connect(address, e))?;
    let mut client = Client {
        params: agreed(options, &stream),
        cookie: Cookie::new(random),
        control: Control::new(stream).map_err(Error::Control)?,
        address,
        most_bytes: options.most_bytes,
        stop,
    };
    let result = client.run(options.duration);
    if matches!(
        result,
        Err(Error::Stopped | Error::Spent | Error::Stream { .. })
    ) {
        let _ = client.control.send_state(State::ClientTerminate);
    }
    result
}

/// Runs one test like [`run`], with the server at the first address that accepts a connection.
///
/// # Errors
/// As [`run`]; [`Error::Stopped`] if `stop` was set before there was a connection.
pub fn run_any(
    addresses: &[SocketAddr],
    options: &Options,
    random: [u8; 36],
    stop: &AtomicBool,
) -> Result<Outcome, Error> {
    let mut failed = Error::NoAddress;
    for address in addresses {
        match run(*address, options, random, stop) {
            Err(Error::Connect(..)) if stop.load(Relaxed) => return Err(Error::Stopped),
            Err(error @ Error::Connect(..)) => failed = error,
            result => return result,
        }
    }
    Err(failed)
}

/// The parameters with every default filled in.
fn agreed(options: &Options, control: &TcpStream) -> Params {
    let mut params = options.params.clone();
    params.len.get_or_insert_with(|| match params.protocol {
        Protocol::Tcp => TCP_LEN,
        Protocol::Udp => tcp_info::read(control.as_fd())
            .ok()
            .map(|i| i.snd_mss)
            .filter(|mss| (HEAD as u32..=65_507).contains(mss))
            .unwrap_or(UDP_LEN),
    });
    params.counters_64bit = params.protocol == Protocol::Udp && is_long(&params, options.duration);
    let by_bytes = params.bytes.is_some() || params.blocks.is_some();
    let seconds = options.duration.as_nanos().div_ceil(1_000_000_000).max(1);
    params.time_s = (!by_bytes).then(|| u32::try_from(seconds).unwrap_or(u32::MAX));
    params
}

/// Returns true if sequence numbers of 32 bits may not suffice for the datagrams. All servers
/// support these; some that are not iperf3 ignore a request for more.
fn is_long(params: &Params, duration: Duration) -> bool {
    /// Upper bound of the datagrams per second of one stream.
    const FASTEST: f64 = 1e7;
    let len = params.len.unwrap_or(UDP_LEN);
    let per_second = params
        .rate_bps
        .map_or(FASTEST, |bps| bps as f64 / 8.0 / f64::from(len));
    let seconds = duration.as_secs_f64() + f64::from(params.omit_s);
    let count = match params.budget(len) {
        Some(bytes) => bytes as f64 / f64::from(len),
        None => per_second * seconds,
    };
    count >= f64::from(u32::MAX)
}

struct Client<'a> {
    params: Params,
    cookie: Cookie,
    control: Control,
    address: SocketAddr,
    most_bytes: Option<u64>,
    stop: &'a AtomicBool,
}

impl Client<'_> {
    fn run(&mut self, duration: Duration) -> Result<Outcome, Error> {
        self.control.send(self.cookie.bytes())?;
        self.expect(State::ParamExchange)?;
        self.control.send_json(&self.params.to_json())?;
        self.expect(State::CreateStreams)?;
        let links = self.open()?;
        self.expect(State::TestStart)?;
        self.expect(State::TestRunning)?;

        let usage = Usage::start();
        let len = self.params.len.unwrap_or(TCP_LEN);
        let budget = self.params.budget(len);
        let load = Load::new(
            len as usize,
            self.params.rate_bps,
            self.params.counters_64bit,
            budget,
            Lease::own(Duration::MAX, None, None),
        );
        let mut streams = Streams::start(load, links)?;
        self.watch(&mut streams, budget, duration)?;
        streams.drain();
        let cpu = usage.percent();
        self.control.send_state(State::TestEnd)?;
        self.expect(State::ExchangeResults)?;

        let tallies = streams.tally();
        let ours = streams::results(cpu, &tallies);
        self.control.send_json(&ours.to_json())?;
        let theirs = Results::parse(&self.control.json(MAX_RESULTS, STEP)?)?;
        self.expect(State::DisplayResults)?;
        drop(streams);
        // The server has sent everything; whether it receives this is irrelevant.
        let _ = self.control.send_state(State::Done);
        Outcome::new(self.params.clone(), true, &ours, &tallies, &theirs)
    }

    fn expect(&mut self, state: State) -> Result<(), Error> {
        self.control.expect(state, STEP)
    }

    /// Opens the streams: first the sending ones, in the order that the server expects.
    fn open(&mut self) -> Result<Vec<(Link, bool)>, Error> {
        let count = self.params.parallel as usize;
        let roles = match self.params.direction {
            LoadDirection::Up => vec![true; count],
            LoadDirection::Down => vec![false; count],
            LoadDirection::Both => [vec![true; count], vec![false; count]].concat(),
        };
        let mut links = Vec::new();
        for sends in roles {
            let id = stream_id(links.len());
            let link = match self.params.protocol {
                Protocol::Tcp => Link::Tcp(self.open_tcp(id, sends)?),
                Protocol::Udp => Link::Udp(
                    self.open_udp(sends)
                        .map_err(|why| Error::Open { id, why })?,
                ),
            };
            links.push((link, sends));
        }
        Ok(links)
    }

    fn open_tcp(&self, id: u32, sends: bool) -> Result<TcpStream, Error> {
        let open = || {
            let mut stream = TcpStream::connect_timeout(&self.address, CONNECT)?;
            stream.set_nodelay(self.params.nodelay)?;
            io::Write::write_all(&mut stream, self.cookie.bytes())?;
            Ok(stream)
        };
        let stream = open().map_err(|why| Error::Open { id, why })?;
        if let Some(name) = self.params.congestion.as_ref().filter(|_| sends) {
            socket::set_congestion(&stream, name).map_err(|why| Error::Congestion {
                name: name.clone(),
                why,
            })?;
        }
        Ok(stream)
    }

    /// The first datagram or its reply may be lost, so it is retransmitted. A server that has
    /// replied and does not reply again treats it as unreadable data.
    fn open_udp(&self, sends: bool) -> io::Result<UdpSocket> {
        let mut any = self.control.stream().local_addr()?;
        any.set_port(0);
        let stream = socket::udp(any)?;
        stream.connect(self.address)?;
        let bytes = udp_buffer(1);
        socket::set_buffers(&stream, bytes, bytes)?;
        stream.set_read_timeout(Some(TRY))?;
        let mut bytes = [0; 16];
        for _ in 0..TRIES {
            stream.send(&HELLO)?;
            let until = Instant::now().after(TRY);
            while Instant::now() < until {
                match stream.recv(&mut bytes) {
                    // Data also shows that the stream is established: the reply was lost, or
                    // overtaken.
                    Ok(n) if is_reply(&bytes[..n]) || (!sends && n >= HEAD) => return Ok(stream),
                    Ok(_) => {}
                    Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => return Err(e),
                    Err(_) => break,
                }
            }
        }
        Err(io::Error::new(
            io::ErrorKind::TimedOut,
            text!("no answer on the server's UDP port; is it open in every firewall on the path?"),
        ))
    }

    /// Waits for the end of the test, which this end decides.
    fn watch(
        &mut self,
        streams: &mut Streams,
        budget: Option<u64>,
        duration: Duration,
    ) -> Result<(), Error> {
        let counted = streams
            .began()
            .after(Duration::from_secs(self.params.omit_s.into()));
        self.watch_until(streams, counted)?;
        if self.params.omit_s > 0 {
            streams.omit();
        }
        match budget {
            Some(bytes) => self.watch_bytes(streams, bytes),
            None => self.watch_until(streams, counted.after(duration)),
        }
    }

    fn watch_until(&mut self, streams: &Streams, end: Instant) -> Result<(), Error> {
        loop {
            let left = u64::try_from(end.since(Instant::now())).unwrap_or(0);
            if left == 0 {
                return Ok(());
            }
            self.check(streams, Duration::from_nanos(left).min(WAIT))?;
        }
    }

    /// Waits until all bytes have got to the other end's kernel, or to this end.
    fn watch_bytes(&mut self, streams: &Streams, bytes: u64) -> Result<(), Error> {
        let up = self.params.direction.has(Direction::Up);
        let down = self.params.direction.has(Direction::Down);
        let is_udp = self.params.protocol == Protocol::Udp;
        let mut progress = Progress::new(self.params.rate_bps, self.params.len);
        loop {
            let sent = !up || (streams.bytes(true) >= bytes && streams.acknowledged());
            let received = !down || streams.bytes(false) >= bytes;
            if sent && received {
                return Ok(());
            }
            let silent = progress.silent(streams);
            // The last datagrams may be lost; then nothing else arrives.
            if sent && is_udp && silent > progress.block + LAST {
                return Ok(());
            }
            if silent > progress.block + STUCK {
                return Err(Error::Stuck);
            }
            self.check(streams, PEEK)?;
        }
    }

    /// Waits for `limit`; an error if the test has to end.
    fn check(&mut self, streams: &Streams, limit: Duration) -> Result<(), Error> {
        if self.control.ready(limit)? {
            let message = self.control.message(STEP)?;
            return Err(Error::unexpected(message));
        }
        if self.stop.load(Relaxed) {
            return Err(Error::Stopped);
        }
        let moved = || {
            [true, false]
                .iter()
                .map(|sends| streams.bytes(*sends))
                .sum::<u64>()
        };
        if self.most_bytes.is_some_and(|most| moved() > most) {
            return Err(Error::Spent);
        }
        match streams.failure() {
            None => Ok(()),
            // The server may send the reason.
            Some(failure) if !self.control.ready(Duration::from_secs(1))? => Err(failure),
            Some(_) => Err(Error::unexpected(self.control.message(STEP)?)),
        }
    }
}

/// Progress of a test, to detect a stall.
struct Progress {
    /// Time of one block at the requested rate.
    block: Duration,
    bytes: u64,
    since: Instant,
}

impl Progress {
    fn new(rate_bps: Option<u64>, len: Option<u32>) -> Self {
        let bits = f64::from(len.unwrap_or(0)) * 8.0;
        let block = rate_bps.map_or(0.0, |rate| bits / rate.max(1) as f64);
        Self {
            block: Duration::try_from_secs_f64(block).unwrap_or(Duration::MAX / 2),
            bytes: 0,
            since: Instant::now(),
        }
    }

    /// Time since the last transferred bytes.
    fn silent(&mut self, streams: &Streams) -> Duration {
        let moved = streams
            .bytes(true)
            .saturating_add(streams.bytes(false))
            .saturating_add(streams.acknowledged_bytes());
        let now = Instant::now();
        if moved != self.bytes {
            (self.bytes, self.since) = (moved, now);
        }
        Duration::from_nanos(u64::try_from(now.since(self.since)).unwrap_or(0))
    }
}
