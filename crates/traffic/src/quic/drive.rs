//! Event loop of quinn-proto: datagrams and timers.

use std::{
    io,
    net::{SocketAddr, UdpSocket},
    os::fd::AsFd,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use bytes::{Bytes, BytesMut};
use model::{text, text::Text};
use quinn_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir, Endpoint,
    EndpointConfig, Event, StreamEvent, StreamId, Transmit, VarInt,
};
use sys::{
    socket::{self, Batch, MtuDiscovery},
    wait,
};

use super::{
    Config, Handshake,
    samples::Samples,
    session::{Far, Near, ResetKey},
    settings::{LIBRARY, TIMEOUT, server, transport},
    shared::Shared,
};
use crate::{
    ZEROES,
    admission::{GRACE, Spent},
    wire::{Errors, key, message::QuicOutcome},
};

/// Datagrams that one call sends at most, and that one receives.
const BURST: usize = 16;
const RECEIVED: usize = 64;

/// Longest datagram that is taken in: the library offers no more than 1472 bytes.
const LONGEST: usize = 2048;

/// Extra time of a sender after its end, so that the receiver's interval is filled to its end.
const AFTER: Duration = Duration::from_millis(100);

/// Bytes of the kernel's buffers.
pub(super) const RECEIVE_BUFFER: usize = 8 << 20;
pub(super) const SEND_BUFFER: usize = 2 << 20;

/// Maximum sleep, which bounds the delay of detecting the end.
const SLEEP: Duration = Duration::from_millis(50);

/// One end of a connection.
pub(super) struct Drive {
    socket: UdpSocket,
    peer: SocketAddr,
    settings: Config,
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// True if it still accepts a connection.
    awaits: bool,
    stream: Option<StreamId>,
    start: Instant,
    received: u64,
    sent: u64,
    /// Earliest times, by the rate, of the next send and of the next read.
    send_after: Option<Instant>,
    read_after: Option<Instant>,
    samples: Samples,
    error: Option<Text>,
    ended: bool,
}

impl Drive {
    pub(super) fn new(
        socket: UdpSocket,
        handshake: Handshake,
        settings: Config,
    ) -> io::Result<Self> {
        let peer = socket.peer_addr()?;
        // A socket that was used for the proof of its address has a separate timeout.
        socket.set_read_timeout(Some(SLEEP))?;
        socket::set_buffers(&socket, RECEIVE_BUFFER, SEND_BUFFER)?;
        // The library searches for the path's MTU itself.
        socket::set_mtu_discovery(&socket, MtuDiscovery::Probe)?;
        let config = Arc::new(EndpointConfig::new(Arc::new(
            ResetKey::new(&key::random()?),
        )));
        let transport = Arc::new(transport(!settings.sends));
        let start = start(&settings);
        let samples = Samples::new(settings.sample_interval, settings.lease.duration());
        let seed = Some(key::random()?);
        let (endpoint, connection) = match handshake {
            Handshake::Connect(key) => {
                let mut client = ClientConfig::new(Arc::new(Near::new(key)?));
                client.transport_config(transport);
                let mut endpoint = Endpoint::new(config, None, true, seed);
                let connection = endpoint
                    .connect(Instant::now(), client, peer, "pathtwin")
                    .map_err(io::Error::other)?;
                (endpoint, Some(connection))
            }
            Handshake::Accept(identity) => {
                let server = server(Far::new(identity)?, transport);
                (Endpoint::new(config, Some(server), true, seed), None)
            }
        };
        Ok(Self {
            socket,
            peer,
            settings,
            awaits: connection.is_none(),
            endpoint,
            connection,
            stream: None,
            start,
            received: 0,
            sent: 0,
            send_after: None,
            read_after: None,
            samples,
            error: None,
            ended: false,
        })
    }

    /// Drives the connection until the load ends or is stopped.
    pub(super) fn run(mut self, shared: &Shared) -> QuicOutcome {
        let mut batch = Batch::new(RECEIVED, LONGEST);
        let mut buffer = Vec::with_capacity(BURST * LONGEST);
        while !shared.stop.is_set() && !self.ended {
            let now = Instant::now();
            self.events();
            if self.awaits && now.saturating_duration_since(self.start) > TIMEOUT {
                self.ended = true;
                self.error = Some(text!("QUIC: nobody connected"));
            }
            self.ended |= now.saturating_duration_since(self.start) > self.longest();
            self.move_data(now);
            let wake = self.transmit(now, &mut buffer);
            // A connection that has ended must report it now: on a short path the library forgets
            // it within milliseconds.
            if self.ended {
                break;
            }
            self.sample(now, false);
            shared.bytes.store(self.moved(), Ordering::Relaxed);
            self.wait(now, wake);
            self.receive(&mut batch, &mut buffer);
        }
        self.sample(Instant::now(), true);
        self.close(&mut buffer);
        QuicOutcome {
            series: self.samples.series(),
            cc_used: LIBRARY.to_owned(),
            errors: Errors(self.error.into_iter().collect()),
        }
    }

    /// Carries events between endpoint and connection, and to the stream.
    fn events(&mut self) {
        let Some((handle, connection)) = &mut self.connection else {
            return;
        };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected if self.settings.sends => {
                    self.stream = connection.streams().open(Dir::Uni);
                }
                Event::Stream(StreamEvent::Opened { dir }) => {
                    self.stream = connection.streams().accept(dir).or(self.stream);
                }
                Event::ConnectionLost { reason } => {
                    self.ended = true;
                    self.error = lost(
                        &reason,
                        self.start.elapsed() < self.settings.lease.duration(),
                    );
                }
                _ => {}
            }
        }
    }

    /// Fills the stream, or reads the data that arrived on it.
    fn move_data(&mut self, now: Instant) {
        let (Some(stream), Some((_, connection))) = (self.stream, &mut self.connection) else {
            return;
        };
        if self.settings.sends {
            if now.duration_since(self.start) > self.settings.lease.duration().saturating_add(AFTER)
            {
                self.ended = true;
                return;
            }
            let zeroes = || [Bytes::from_static(&ZEROES)];
            while connection
                .send_stream(stream)
                .write_chunks(&mut zeroes())
                .is_ok_and(|written| written.bytes > 0)
            {}
        } else if let Ok(mut chunks) = connection.recv_stream(stream).read(true) {
            while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                self.received += chunk.bytes.len() as u64;
            }
            let _ = chunks.finalize();
        }
    }

    /// Bytes that count as moved by this end so far.
    fn moved(&self) -> u64 {
        if self.settings.sends {
            self.sent
        } else {
            self.received
        }
    }

    /// Returns its maximum duration, regardless of the peer.
    fn longest(&self) -> Duration {
        self.settings.lease.duration().saturating_add(GRACE)
    }

    /// Ends the load: it has moved more than was agreed on.
    fn spent(&mut self, spent: Spent) {
        self.ended = true;
        self.error.get_or_insert_with(|| spent.text());
    }

    /// Sends due datagrams; returns when the rate limit allows more.
    fn transmit(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Option<Instant> {
        loop {
            if self.ended {
                return None;
            }
            if let Some(until) = self.send_after.filter(|until| *until > now) {
                return Some(until);
            }
            buffer.clear();
            let (_, connection) = self.connection.as_mut()?;
            let transmit = connection.poll_transmit(now, BURST, buffer)?;
            self.send(&transmit, buffer);
        }
    }

    fn send(&mut self, transmit: &Transmit, buffer: &[u8]) {
        let bytes = &buffer[..transmit.size.min(buffer.len())];
        let lease = &self.settings.lease;
        let taken = match lease.take_datagrams(bytes.len(), 1) {
            Ok(_) => bytes.len(),
            Err(error) => return self.spent(error),
        };
        self.send_after = lease.sent(taken, taken).map(library_time);
        self.sent += taken as u64;
        let size = transmit.segment_size.unwrap_or(bytes.len()).max(1);
        let datagrams: Vec<&[u8]> = bytes.chunks(size).collect();
        let mut left = &datagrams[..];
        while !left.is_empty() {
            // A datagram refused by this host counts as lost: it was too long for the device, or
            // the device's queue is full.
            let sent = socket::send_batch(&self.socket, left).unwrap_or(0).max(1);
            left = left.get(sent..).unwrap_or_default();
        }
    }

    fn sample(&mut self, now: Instant, last: bool) {
        // Before it is connected, the library knows only its assumptions.
        let known = self.settings.sends && self.stream.is_some();
        let stats = self.connection.as_ref().filter(|_| known);
        if last {
            self.samples.hurry();
        }
        self.samples.take(
            now.saturating_duration_since(self.start),
            self.received,
            || stats.map(|(_, connection)| connection.stats()),
        );
    }

    /// Sleeps until a datagram arrives or a timer ends, and passes the connection its timers.
    fn wait(&mut self, now: Instant, wake: Option<Instant>) {
        let timer = self.connection.as_mut().and_then(|(_, c)| c.poll_timeout());
        let sample = self.start + self.samples.next();
        let next = [timer, wake]
            .into_iter()
            .flatten()
            .fold(sample, Instant::min);
        let span = next.saturating_duration_since(now).min(SLEEP);
        // Data that is not to be read yet must not end the sleep.
        let _ = match self.read_after.filter(|until| *until > now) {
            Some(until) => wait::readable(&[], span.min(until - now)),
            None => wait::readable(&[self.socket.as_fd()], span),
        };
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(Instant::now());
        }
    }

    fn receive(&mut self, batch: &mut Batch, buffer: &mut Vec<u8>) {
        if self.read_after.is_some_and(|until| until > Instant::now()) {
            return;
        }
        let there = wait::readable(&[self.socket.as_fd()], Duration::ZERO);
        if !there.is_ok_and(|ready| ready[0]) || batch.receive_ready(&self.socket).is_err() {
            return;
        }
        match self.settings.lease.received(batch.received()) {
            Ok(until) => self.read_after = until.map(library_time),
            Err(error) => return self.spent(error),
        }
        let now = Instant::now();
        for (bytes, _) in batch.datagrams() {
            buffer.clear();
            let data = BytesMut::from(bytes);
            match self
                .endpoint
                .handle(now, self.peer, None, None, data, buffer)
            {
                Some(DatagramEvent::ConnectionEvent(_, event)) => {
                    if let Some((_, connection)) = &mut self.connection {
                        connection.handle_event(event);
                    }
                }
                Some(DatagramEvent::NewConnection(incoming)) if self.awaits => {
                    self.awaits = false;
                    match self.endpoint.accept(incoming, now, buffer, None) {
                        Ok(connection) => self.connection = Some(connection),
                        Err(error) => {
                            self.ended = true;
                            self.error = lost(&error.cause, true);
                        }
                    }
                }
                Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
                Some(DatagramEvent::Response(transmit)) => {
                    let answer = std::mem::take(buffer);
                    self.send(&transmit, &answer);
                    *buffer = answer;
                }
                None => {}
            }
        }
    }

    /// Closes the connection, so that the peer need not wait for its timeout.
    fn close(&mut self, buffer: &mut Vec<u8>) {
        let now = Instant::now();
        let Some((_, connection)) = &mut self.connection else {
            return;
        };
        connection.close(now, VarInt::from_u32(0), Bytes::new());
        buffer.clear();
        if let Some(transmit) = connection.poll_transmit(now, 1, buffer) {
            self.send(&transmit, buffer);
        }
    }
}

/// The start on the clock that the library takes its time from.
fn start(settings: &Config) -> Instant {
    library_time(settings.zero)
}

/// A point of time on the clock that the library takes its time from.
fn library_time(at: sys::clock::Instant) -> Instant {
    let (there, here) = (sys::clock::Instant::now(), Instant::now());
    let ns = at.since(there);
    let span = Duration::from_nanos(ns.unsigned_abs());
    if ns < 0 {
        here.checked_sub(span).unwrap_or(here)
    } else {
        here + span
    }
}

/// Returns why a connection was lost, if that is a failure: the peer may close it when its time is
/// over.
fn lost(reason: &ConnectionError, early: bool) -> Option<Text> {
    let why = match reason {
        ConnectionError::ApplicationClosed(_) | ConnectionError::LocallyClosed if !early => {
            return None;
        }
        ConnectionError::ApplicationClosed(_) => text!("connection closed too early"),
        ConnectionError::ConnectionClosed(close) => {
            text!("aborted by the other end: {why}", why = close.to_string())
        }
        ConnectionError::Reset => text!("connection reset by the other end"),
        ConnectionError::TimedOut => text!("timed out"),
        // Failures of TLS and of the protocol, in the library's own words.
        other => Text::name(other.to_string()),
    };
    Some(text!("QUIC: {why}", why = why))
}
