//! The gate: connections that have not authenticated yet.
//!
//! One thread holds them all, for a bounded time and in a bounded number, so that a flood of them
//! costs neither threads nor memory. A client leaves it for its own thread when it has proved that
//! it holds the key and is present.

use std::{
    io::{self, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    time::Duration,
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use sys::clock::Instant;
use traffic::wire::{
    Channel, Greeting, Refusal, Token,
    greeting::HANDSHAKE,
    key::CODE,
    message::{Code, Numbered, Reply, Request},
};

use super::{
    copies::Copies,
    event::Event,
    pending::{Next, Pending, crowd},
    registry::Arrival,
    rejected::Rejected,
    session,
    shared::Shared,
};

/// Maximum connections at the gate; beyond it one of the address with the most connections is
/// dropped.
const MAX: usize = 256;

/// Connections accepted before the pending ones are processed again.
const ROUND: usize = 64;

/// Pause of accepting if the host lacks descriptors or memory.
const PAUSE: Duration = Duration::from_millis(100);

/// Longest request a client may send, bytes after inflation.
const LONGEST_REQUEST: usize = 64 << 10;

/// Accepts connections until the server is stopped.
pub(crate) fn run(listeners: &[TcpListener], shared: &Arc<Shared>) -> io::Result<()> {
    for listener in listeners {
        listener.set_nonblocking(true)?;
    }
    // Three quarters of the descriptors are reserved for authenticated clients.
    let quarter = usize::try_from(sys::descriptors::allowed() / 4).unwrap_or(usize::MAX);
    let mut gate = Gate {
        listeners,
        shared,
        most: quarter.clamp(8, MAX),
        pending: Vec::new(),
        copies: Copies::default(),
        closed_until: None,
    };
    while !shared.stopped() {
        gate.turn()?;
    }
    Ok(())
}

struct Gate<'a> {
    listeners: &'a [TcpListener],
    shared: &'a Arc<Shared>,
    most: usize,
    pending: Vec<Pending>,
    copies: Copies,
    /// Time until which nothing is accepted.
    closed_until: Option<Instant>,
}

impl Gate<'_> {
    /// Waits for an event, at most a second, and processes it.
    fn turn(&mut self) -> io::Result<()> {
        let open = self.closed_until.is_none_or(|t| t <= Instant::now());
        let (incoming, ready) = self.wait(open)?;
        let now = Instant::now();
        for (one, ready) in std::mem::take(&mut self.pending).into_iter().zip(ready) {
            if ready {
                self.go_on(one, now);
            } else if now < one.deadline {
                self.pending.push(one);
            }
        }
        if incoming {
            for listener in self.listeners {
                self.accept(listener, now);
            }
        }
        Ok(())
    }

    /// Returns whether there are new connections, and the readable pending ones.
    fn wait(&self, open: bool) -> io::Result<(bool, Vec<bool>)> {
        let listening = if open { self.listeners } else { &[] };
        let mut fds: Vec<PollFd<'_>> = listening
            .iter()
            .map(|l| PollFd::new(l, PollFlags::IN))
            .chain(
                self.pending
                    .iter()
                    .map(|p| PollFd::new(p.stream(), PollFlags::IN)),
            )
            .collect();
        // A server without clients wakes the processor seldom: that of a router counts.
        let idle = open && self.pending.is_empty();
        let timeout = Timespec {
            tv_sec: i64::from(idle),
            tv_nsec: if idle { 0 } else { 100_000_000 },
        };
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
        let mut ready = fds.iter().map(|fd| !fd.revents().is_empty());
        let incoming = ready
            .by_ref()
            .take(listening.len())
            .fold(false, |a, b| a | b);
        Ok((incoming, ready.collect()))
    }

    fn accept(&mut self, listener: &TcpListener, now: Instant) {
        for _ in 0..ROUND {
            match listener.accept() {
                Ok((stream, peer)) => {
                    if self.pending.len() >= self.most {
                        self.make_room();
                    }
                    self.pending.extend(Pending::new(stream, peer, now));
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                Err(e) if is_shortage(&e) => {
                    // The listener stays readable: polling it again at once would spin.
                    self.make_room();
                    self.closed_until = Some(now.after(PAUSE));
                    return;
                }
                // The connection is already closed, or has an error (accept(2)).
                Err(_) => {}
            }
        }
    }

    /// Drops the oldest connection of the address with the most connections.
    fn make_room(&mut self) {
        if let Some(at) = crowd(self.pending.iter().map(|p| p.peer.ip())) {
            self.pending.remove(at);
        }
    }

    fn go_on(&mut self, one: Pending, now: Instant) {
        let (peer, deadline) = (one.peer, one.deadline);
        match one.read() {
            Next::Wait(one) if now < deadline => self.pending.push(one),
            Next::Wait(_) | Next::Drop(None) => {}
            Next::Drop(Some(why)) => self.rejected(peer, why),
            Next::Greeted(
                Greeting::Data {
                    token,
                    number,
                    code,
                },
                stream,
            ) => {
                self.data(token, number, &code, stream, peer);
            }
            Next::Greeted(Greeting::Control(first), stream) => {
                if let Some(channel) = self.greeted(&first, stream, peer) {
                    // Its first request may have arrived with it.
                    self.go_on(Pending::opening(channel, peer, deadline), now);
                }
            }
            Next::Asked(channel, request) => self.asked(*channel, request, peer),
        }
    }

    fn rejected(&self, peer: SocketAddr, why: impl Into<Rejected>) {
        (self.shared.log)(Event::Rejected(peer, why.into()));
    }

    fn data(
        &self,
        token: Token,
        number: u32,
        code: &[u8; CODE],
        stream: TcpStream,
        peer: SocketAddr,
    ) {
        if stream.set_nonblocking(false).is_err() {
            return;
        }
        match self.shared.registry.find(token) {
            Some(expected) if expected.admits(number, code) => {
                expected.take(Arrival::Stream(number, stream));
            }
            Some(_) => self.rejected(peer, Rejected::Overheard),
            None => self.rejected(peer, Rejected::Unexpected),
        }
    }

    /// Answers the handshake. The client must then send a request, which only the holder of the
    /// session keys can encrypt.
    fn greeted(
        &mut self,
        first: &[u8; HANDSHAKE],
        mut stream: TcpStream,
        peer: SocketAddr,
    ) -> Option<Channel> {
        if let Err(why) = self.shared.config.admission.would_admit(peer.ip()) {
            let _ = stream.write(&Refusal::Busy.bytes());
            self.rejected(peer, why);
            return None;
        }
        if self.copies.has(first) {
            self.rejected(peer, Rejected::Copy);
            return None;
        }
        match Channel::accept(stream, first, &self.shared.config.key, LONGEST_REQUEST) {
            Ok(channel) => {
                self.copies.add(first);
                Some(channel)
            }
            Err(error) => {
                self.rejected(peer, error);
                None
            }
        }
    }

    fn asked(&self, mut channel: Channel, request: Numbered<Request>, peer: SocketAddr) {
        if channel.stream().set_nonblocking(false).is_err() {
            return;
        }
        match self.shared.config.admission.admit(peer.ip()) {
            Ok(admitted) => session::start(channel, request, peer, admitted, self.shared),
            Err(refused) => {
                channel.set_timeout(Some(PAUSE));
                let no = Reply::No {
                    code: Code::Busy,
                    why: refused.to_string(),
                    text: Some(Box::new(refused.text())),
                };
                let _ = channel.send(&Numbered(request.0, no));
                self.rejected(peer, refused);
            }
        }
    }
}

/// The host lacks descriptors or memory for now.
fn is_shortage(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let errno = Errno::from_io_error(error);
    errno.is_some_and(|e| [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM].contains(&e))
}
