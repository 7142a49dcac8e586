//! The gate: connections of which nothing is known yet.
//!
//! One thread holds them all, for a bounded time and in a bounded number, so that a flood of them
//! costs neither threads nor memory.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use sys::clock::Instant;
use traffic::wire::{
    Channel, Greeting, Refusal,
    greeting::{self, CONTROL, Parsed},
};

use super::{Event, Shared, registry::Arrival, session};

/// How long a connection may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(10);

/// Connections at the gate; beyond it the one that has been there longest is dropped.
const MOST: usize = 256;

/// Longest request a client may send, bytes after inflation.
const LONGEST_REQUEST: usize = 64 << 10;

struct Pending {
    stream: TcpStream,
    peer: SocketAddr,
    bytes: Vec<u8>,
    deadline: Instant,
}

enum Next {
    Wait,
    Drop(Option<String>),
    Go(Greeting),
}

/// Accepts connections until the server is stopped.
pub(crate) fn run(listeners: &[TcpListener], shared: &Arc<Shared>) -> io::Result<()> {
    for listener in listeners {
        listener.set_nonblocking(true)?;
    }
    let mut pending: Vec<Pending> = Vec::new();
    while !shared.stopped() {
        let (news, ready) = wait(listeners, &pending)?;
        let now = Instant::now();
        let mut left = Vec::with_capacity(pending.len());
        for (mut one, ready) in pending.into_iter().zip(ready) {
            let next = if ready { one.read() } else { Next::Wait };
            match next {
                Next::Wait if now < one.deadline => left.push(one),
                Next::Wait => {}
                Next::Drop(None) => {}
                Next::Drop(Some(why)) => (shared.log)(Event::Refused(one.peer, why)),
                Next::Go(greeting) => admit(one, greeting, shared),
            }
        }
        pending = left;
        if news {
            accept(listeners, &mut pending, now);
        }
    }
    Ok(())
}

/// Waits until something happens: whether there are new connections, and which pending ones can be
/// read.
fn wait(listeners: &[TcpListener], pending: &[Pending]) -> io::Result<(bool, Vec<bool>)> {
    let mut fds: Vec<PollFd<'_>> = listeners
        .iter()
        .map(|l| PollFd::new(l, PollFlags::IN))
        .chain(
            pending
                .iter()
                .map(|p| PollFd::new(&p.stream, PollFlags::IN)),
        )
        .collect();
    let tenth = Timespec {
        tv_sec: 0,
        tv_nsec: 100_000_000,
    };
    match poll(&mut fds, Some(&tenth)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(e) => return Err(e.into()),
    }
    let mut ready = fds.iter().map(|fd| !fd.revents().is_empty());
    let news = ready
        .by_ref()
        .take(listeners.len())
        .fold(false, |a, b| a | b);
    Ok((news, ready.collect()))
}

fn accept(listeners: &[TcpListener], pending: &mut Vec<Pending>, now: Instant) {
    for listener in listeners {
        // Out of descriptors is no reason to end: those at the gate leave in time.
        while let Ok((stream, peer)) = listener.accept() {
            if stream.set_nonblocking(true).is_err() {
                continue;
            }
            if pending.len() >= MOST {
                pending.remove(0);
            }
            pending.push(Pending {
                stream,
                peer,
                bytes: Vec::with_capacity(CONTROL),
                deadline: now.after(PATIENCE),
            });
        }
    }
}

impl Pending {
    /// Reads what is there, but nothing beyond the greeting: that belongs to what follows it.
    fn read(&mut self) -> Next {
        loop {
            let wanted = match greeting::parse(&self.bytes) {
                Parsed::Whole(greeting) => return Next::Go(greeting),
                Parsed::More(wanted) => wanted,
                Parsed::Version(_) => {
                    let own = Refusal::Version(traffic::wire::VERSION);
                    let _ = self.stream.write(&own.bytes());
                    return Next::Drop(Some("another version of the protocol".to_owned()));
                }
                Parsed::Foreign => return Next::Drop(Some("another protocol".to_owned())),
            };
            let mut buffer = [0; CONTROL];
            match self.stream.read(&mut buffer[..wanted - self.bytes.len()]) {
                Ok(0) => return Next::Drop(None),
                Ok(n) => self.bytes.extend_from_slice(&buffer[..n]),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Next::Wait,
                Err(_) => return Next::Drop(None),
            }
        }
    }
}

fn admit(one: Pending, greeting: Greeting, shared: &Arc<Shared>) {
    let Pending { stream, peer, .. } = one;
    if stream.set_nonblocking(false).is_err() {
        return;
    }
    match greeting {
        Greeting::Data { token, index } => match shared.registry.find(token) {
            Some(taker) => taker(Arrival::Stream(index, stream)),
            None => (shared.log)(Event::Refused(
                peer,
                "data that nobody waits for".to_owned(),
            )),
        },
        Greeting::Control(first) => {
            if shared.sessions.load(Ordering::Relaxed) >= shared.config.clients {
                let _ = (&stream).write_all(&Refusal::Busy.bytes());
                return (shared.log)(Event::Refused(peer, "too many clients".to_owned()));
            }
            match Channel::accept(stream, &first, &shared.config.key, LONGEST_REQUEST) {
                Ok(channel) => session::start(channel, peer, shared),
                Err(error) => (shared.log)(Event::Refused(peer, error.to_string())),
            }
        }
    }
}
