//! Test session of the server.

use std::{
    io,
    net::{IpAddr, SocketAddr, TcpStream, UdpSocket},
    os::fd::AsFd,
    sync::{
        atomic::{AtomicBool, AtomicU8, Ordering::Relaxed},
        mpsc::Receiver,
    },
    time::Duration,
};

use model::net::LoadDirection;
use sys::{clock::Instant, socket, wait};
use traffic::{admission, wire::message::Limits};

use super::{
    Error, TCP_LEN, UDP_LEN,
    datagram::{HELLO, REPLY},
    halves::{Load, WAIT},
    limits::{need, udp_buffer},
    outcome::Outcome,
    params::{Params, Protocol},
    refused::{Refused, code},
    results::Results,
    stream_id,
    streams::{self, Link, Streams},
    usage::Usage,
    wire::{Control, MAX_PARAMS, MAX_RESULTS, Message, State},
};

/// Timeout of a client for its parameters, and for closing.
const STEP: Duration = Duration::from_secs(10);
const DONE: Duration = Duration::from_secs(2);
/// Timeout for opening its streams.
const OPEN: Duration = Duration::from_secs(20);
/// Time after the end of the data within which the client must end the test.
const ENDING: Duration = Duration::from_secs(10);
/// Lower ports belong to services, which might respond to datagrams (RFC 6335 section 6).
const FIRST_USER_PORT: u16 = 1024;
/// TCP keepalive of the control connection, which detects an unreachable client: idle time,
/// interval of the probes, and their number.
const ALIVE: (Duration, Duration, u32) = (Duration::from_secs(3), Duration::from_secs(1), 5);
/// Timeout of a client that has closed a stream for sending the reason.
const EXPLAIN: Duration = Duration::from_secs(2);

/// State of a session, for the code that accepts connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Step {
    /// Parameters are exchanged.
    Asking,
    /// Data connections are taken.
    Opening,
    /// Data flows.
    Running,
    /// Only the end of the connection is expected.
    Leaving,
}

/// A test.
pub(super) struct Session<'a> {
    pub(super) control: Control,
    pub(super) peer: IpAddr,
    pub(super) limits: Limits,
    /// The lease of the test, which ends when it is dropped.
    pub(super) admitted: admission::Session,
    /// Data connections with this test's cookie, numbered as they were accepted.
    pub(super) data: Receiver<(u64, TcpStream)>,
    pub(super) step: &'a AtomicU8,
    pub(super) stop: &'a AtomicBool,
}

impl Session<'_> {
    pub(super) fn run(&mut self) -> Result<Outcome, Error> {
        let mut result = self.test();
        if result.is_err() && self.stop.load(Relaxed) {
            result = Err(Error::Stopped);
        }
        match &result {
            Err(Error::Refused(refused)) => self.report(refused.code()),
            Err(Error::Overdue(_)) => self.report(code::TIME_IS_UP),
            Err(Error::Open { .. }) => self.report(code::CREATE_STREAM),
            Err(Error::Stream { .. }) => self.report(code::STREAM),
            Err(Error::Stopped) => drop(self.control.send_state(State::ServerTerminate)),
            _ => {}
        }
        result
    }

    fn report(&mut self, code: i32) {
        // The test has failed; a client that does not read the reason is ignored.
        let _ = self.control.send_error(code);
    }

    fn enter(&self, step: Step) {
        self.step.store(step as u8, Relaxed);
    }

    fn test(&mut self) -> Result<Outcome, Error> {
        self.control.send_state(State::ParamExchange)?;
        let params = self.params()?;
        let len = params.len.unwrap_or(match params.protocol {
            Protocol::Tcp => TCP_LEN,
            Protocol::Udp => UDP_LEN,
        });
        let need = need(&params, &self.limits, params.budget(len))?;
        let lease = self.admitted.lease(&need).map_err(Refused::from)?;
        let links = self.open(&params)?;
        self.enter(Step::Running);
        let states = [State::TestStart.byte(), State::TestRunning.byte()];
        self.control.send(&states)?;

        let usage = Usage::start();
        let load = Load::new(
            len as usize,
            params.rate_bps,
            params.counters_64bit,
            params.budget(len),
            lease,
        );
        let mut streams = Streams::start(load, links)?;
        self.watch(&mut streams, &params)?;
        streams.empty();
        let cpu = usage.percent();
        let tallies = streams.tally();
        drop(streams);

        self.control.send_state(State::ExchangeResults)?;
        let theirs = self.control.json(MAX_RESULTS, STEP)?;
        let client = Results::parse(&theirs)?;
        let ours = streams::results(cpu, &tallies);
        self.control.send_json(&ours.to_json())?;
        self.enter(Step::Leaving);
        self.control.send_state(State::DisplayResults)?;
        let _ = self.control.message(DONE);
        Outcome::new(params, false, &ours, &tallies, &client)
    }

    fn params(&mut self) -> Result<Params, Error> {
        let value = self.control.json(MAX_PARAMS, STEP).map_err(|e| match e {
            Error::Protocol(error) => Refused::Unreadable(error).into(),
            other => other,
        })?;
        Ok(Params::parse(&value)?)
    }

    /// Accepts the streams in the order in which the client opens them: first those on which it
    /// sends.
    fn open(&mut self, params: &Params) -> Result<Vec<(Link, bool)>, Error> {
        let count = params.parallel as usize;
        let roles = match params.direction {
            LoadDirection::Up => vec![false; count],
            LoadDirection::Down => vec![true; count],
            LoadDirection::Both => [vec![false; count], vec![true; count]].concat(),
        };
        let links = match params.protocol {
            Protocol::Tcp => self.open_tcp(roles.len())?,
            Protocol::Udp => self.open_udp(roles.len())?,
        };
        for (i, link) in links.iter().enumerate() {
            let id = stream_id(i);
            apply(link, params, links.len()).map_err(|why| Error::Open { id, why })?;
        }
        Ok(links.into_iter().zip(roles).collect())
    }

    fn open_tcp(&mut self, count: usize) -> Result<Vec<Link>, Error> {
        self.enter(Step::Opening);
        self.control.send_state(State::CreateStreams)?;
        let until = Instant::now().after(OPEN);
        let mut streams = Vec::new();
        while streams.len() < count {
            match self.data.recv_timeout(WAIT) {
                Ok(stream) => streams.push(stream),
                Err(_) => self.await_streams(until)?,
            }
        }
        // Cookies may arrive in another order than connections.
        streams.sort_by_key(|(number, _)| *number);
        Ok(streams.into_iter().map(|(_, s)| Link::Tcp(s)).collect())
    }

    /// Each stream gets a separate socket, connected to the client. The next waiting socket is
    /// opened before the reply to the client, otherwise its next stream would find a closed port.
    fn open_udp(&mut self, count: usize) -> Result<Vec<Link>, Error> {
        let failed = |id| move |why| Error::Open { id, why };
        let mut waiting = self.udp().map_err(failed(stream_id(0)))?;
        self.control.send_state(State::CreateStreams)?;
        let until = Instant::now().after(OPEN);
        let mut streams: Vec<UdpSocket> = Vec::new();
        while streams.len() < count {
            self.await_streams(until)?;
            let fds = [waiting.as_fd()];
            let fds: Vec<_> = fds
                .into_iter()
                .chain(streams.iter().map(AsFd::as_fd))
                .collect();
            wait::readable(&fds, WAIT).map_err(Error::Control)?;
            streams.iter().for_each(answer_again);
            let Some(client) = self.hello(&waiting) else {
                continue;
            };
            let take = || {
                waiting.connect(client)?;
                // Datagrams from others before it was connected are still in its queue.
                while waiting.recv(&mut [0; 16]).is_ok() {}
                let next = self.udp()?;
                waiting.send(&REPLY)?;
                Ok(next)
            };
            let next = take().map_err(failed(stream_id(streams.len())))?;
            streams.push(std::mem::replace(&mut waiting, next));
        }
        Ok(streams.into_iter().map(Link::Udp).collect())
    }

    /// Bound to the address that the client uses, so that replies come from it on a host with
    /// several addresses.
    fn udp(&self) -> io::Result<UdpSocket> {
        let local = self.control.stream().local_addr()?;
        let socket = socket::udp_shared(match local.ip().to_canonical() {
            IpAddr::V4(ip) => (ip, local.port()).into(),
            IpAddr::V6(_) => local,
        })?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    }

    /// The address of a stream that the client opens. Datagrams from other hosts are ignored: only
    /// the host of the control connection has proved that it receives at its address. The protocol
    /// has no means to show that it does so at this port, as its datagram contains no secret: hence
    /// no port of a service, and a sender ends when the port turns out to be closed.
    fn hello(&self, waiting: &UdpSocket) -> Option<SocketAddr> {
        let (n, from) = waiting.recv_from(&mut [0; 16]).ok()?;
        let is_client = from.ip().to_canonical() == self.peer.to_canonical();
        // The reply is never longer than the request.
        let is_hello = n >= HELLO.len() && from.port() >= FIRST_USER_PORT;
        (is_client && is_hello).then_some(from)
    }

    /// An error if the streams are not to be waited for any longer.
    fn await_streams(&mut self, until: Instant) -> Result<(), Error> {
        if self.stop.load(Relaxed) {
            return Err(Error::Stopped);
        }
        if Instant::now() > until {
            return Err(Error::Silent);
        }
        if self.control.ready(Duration::ZERO)? {
            let message = self.control.message(STEP)?;
            return Err(Error::unexpected(message));
        }
        Ok(())
    }

    /// Waits for the client to end the test, and stops the streams at its end time.
    fn watch(&mut self, streams: &mut Streams, params: &Params) -> Result<(), Error> {
        let omit = Duration::from_secs(params.omit_s.into());
        let over = streams.deadline();
        let end = over.after(ENDING);
        let mut to_omit = (!omit.is_zero()).then(|| streams.began().after(omit));
        let (silence, interval, tries) = ALIVE;
        socket::keep_alive(self.control.stream(), silence, interval, tries)
            .map_err(Error::Control)?;
        loop {
            if self.ended(WAIT)? {
                return Ok(());
            }
            if self.stop.load(Relaxed) {
                return Err(Error::Stopped);
            }
            if let Some(failure) = streams.failure() {
                streams.halt();
                return if self.ended(EXPLAIN)? {
                    Ok(())
                } else {
                    Err(failure)
                };
            }
            let now = Instant::now();
            if to_omit.take_if(|at| *at <= now).is_some() {
                streams.omit();
            }
            if now > over {
                streams.halt();
            }
            if now > end {
                return Err(Error::Overdue(
                    over.since(streams.began()) as u64 / 1_000_000_000,
                ));
            }
        }
    }

    /// Returns true if the client ended the test within `limit`.
    fn ended(&mut self, limit: Duration) -> Result<bool, Error> {
        if !self.control.ready(limit)? {
            return Ok(false);
        }
        match self.control.message(STEP)? {
            Message::State(State::TestEnd) => Ok(true),
            other => Err(Error::unexpected(other)),
        }
    }
}

/// A client that repeats its first datagram has not received the reply.
fn answer_again(stream: &UdpSocket) {
    let mut bytes = [0; 16];
    while let Ok(n) = stream.recv(&mut bytes) {
        if bytes[..n] == HELLO {
            let _ = stream.send(&REPLY);
        }
    }
}

/// Sets the options of a socket that the client requested. Those that this host does not allow are
/// left unchanged, as in iperf3; the congestion control in use is part of the results.
fn apply(link: &Link, params: &Params, streams: usize) -> io::Result<()> {
    match link {
        Link::Tcp(stream) => {
            stream.set_nodelay(params.nodelay)?;
            if let Some(name) = &params.congestion {
                let _ = socket::set_congestion(stream, name);
            }
            common(stream, stream.local_addr()?, params)
        }
        Link::Udp(socket) => {
            let bytes = udp_buffer(streams);
            socket::set_buffers(socket, bytes, bytes)?;
            common(socket, socket.local_addr()?, params)
        }
    }
}

fn common<S: AsFd + std::os::fd::AsRawFd>(
    socket: &S,
    local: SocketAddr,
    params: &Params,
) -> io::Result<()> {
    if let Some(bytes) = params.window {
        socket::set_window(socket, bytes as usize)?;
    }
    if let Some(tos) = params.tos {
        let is_ipv4 = local.ip().to_canonical().is_ipv4();
        let _ = socket::set_tos(socket, is_ipv4, tos);
    }
    if let Some(bps) = params.fq_rate_bps {
        socket::set_max_pacing(socket, bps / 8)?;
    }
    Ok(())
}
