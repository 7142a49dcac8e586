//! Connections at the gate: the bytes that have arrived, and the choice of which one to drop.

use std::{
    collections::HashMap,
    io::{self, Read, Write},
    net::{IpAddr, SocketAddr, TcpStream},
    time::Duration,
};

use sys::clock::Instant;
use traffic::wire::{
    Channel, ChannelError, Greeting, Refusal, VERSION,
    channel::Partial,
    greeting::{self, CONTROL, Parsed},
    message::{Numbered, Request},
};

use super::rejected::Rejected;

/// Timeout of a connection for its first request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A connection at the gate. Its stream does not block.
pub(super) struct Pending {
    stage: Stage,
    pub(super) peer: SocketAddr,
    pub(super) deadline: Instant,
}

enum Stage {
    /// The greeting has not arrived yet, or only in part.
    Silent(TcpStream, Vec<u8>),
    /// The handshake is answered; the first request has not arrived yet, or only in part.
    Opening(Box<Channel>, Partial),
}

/// Next step for a connection.
pub(super) enum Next {
    /// More data is needed.
    Wait(Pending),
    /// It has ended; the reason is present if it is logged.
    Drop(Option<Rejected>),
    /// The greeting is here; the stream is where it ends.
    Greeted(Greeting, TcpStream),
    /// The first request is here.
    Asked(Box<Channel>, Numbered<Request>),
}

impl Pending {
    /// A newly accepted connection; `None` if it is already closed.
    pub(super) fn new(stream: TcpStream, peer: SocketAddr, now: Instant) -> Option<Self> {
        stream.set_nonblocking(true).ok()?;
        Some(Self {
            stage: Stage::Silent(stream, Vec::with_capacity(CONTROL)),
            peer,
            deadline: now.after(TIMEOUT),
        })
    }

    /// A connection whose greeting was answered.
    pub(super) fn opening(channel: Channel, peer: SocketAddr, deadline: Instant) -> Self {
        Self {
            stage: Stage::Opening(Box::new(channel), Partial::default()),
            peer,
            deadline,
        }
    }

    pub(super) fn stream(&self) -> &TcpStream {
        match &self.stage {
            Stage::Silent(stream, _) => stream,
            Stage::Opening(channel, _) => channel.stream(),
        }
    }

    /// Reads the available bytes.
    pub(super) fn read(self) -> Next {
        let Self {
            stage,
            peer,
            deadline,
        } = self;
        let wait = |stage| {
            Next::Wait(Self {
                stage,
                peer,
                deadline,
            })
        };
        match stage {
            Stage::Silent(mut stream, mut bytes) => match greeting(&mut stream, &mut bytes) {
                Ok(Some(greeting)) => Next::Greeted(greeting, stream),
                Ok(None) => wait(Stage::Silent(stream, bytes)),
                Err(why) => Next::Drop(why),
            },
            Stage::Opening(mut channel, mut partial) => match channel.first(&mut partial) {
                Ok(Some(request)) => Next::Asked(channel, request),
                Ok(None) => wait(Stage::Opening(channel, partial)),
                Err(ChannelError::Io(_)) => Next::Drop(None),
                Err(error) => Next::Drop(Some(error.into())),
            },
        }
    }
}

/// Reads the available bytes, but none beyond the greeting: those belong to the next reader.
fn greeting(
    stream: &mut TcpStream,
    bytes: &mut Vec<u8>,
) -> Result<Option<Greeting>, Option<Rejected>> {
    loop {
        let wanted = match greeting::parse(bytes) {
            Parsed::Whole(greeting) => return Ok(Some(greeting)),
            Parsed::More(wanted) => wanted,
            Parsed::Version(_) => {
                let _ = stream.write(&Refusal::Version(VERSION).bytes());
                return Err(Some(Rejected::Version));
            }
            Parsed::Foreign => return Err(Some(Rejected::Foreign)),
        };
        let mut buffer = [0; CONTROL];
        match stream.read(&mut buffer[..wanted - bytes.len()]) {
            Ok(0) => return Err(None),
            Ok(n) => bytes.extend_from_slice(&buffer[..n]),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(_) => return Err(None),
        }
    }
}

/// Returns which of the pending connections, in order of arrival, is dropped when there are too
/// many: the first of the network that has most of them, so that one network cannot push out
/// another.
pub(super) fn crowd(peers: impl Iterator<Item = IpAddr> + Clone) -> Option<usize> {
    let mut counts: HashMap<u64, usize> = HashMap::new();
    for peer in peers.clone() {
        *counts.entry(network(peer)).or_default() += 1;
    }
    let most = counts.values().copied().max()?;
    peers
        .map(network)
        .position(|network| counts.get(&network) == Some(&most))
}

/// The IPv4 address, or the first 64 bits of the IPv6 address: a host with one address of such a
/// network usually has all (RFC 6177).
fn network(ip: IpAddr) -> u64 {
    match ip.to_canonical() {
        IpAddr::V4(ip) => u64::from(u32::from(ip)),
        IpAddr::V6(ip) => (u128::from(ip) >> 64) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_to_go(peers: &[&str]) -> Option<usize> {
        let peers: Vec<IpAddr> = peers.iter().map(|p| p.parse().unwrap()).collect();
        crowd(peers.iter().copied())
    }

    #[test]
    fn who_has_most_connections_loses_one_first() {
        assert_eq!(first_to_go(&[]), None);
        assert_eq!(first_to_go(&["192.0.2.1"]), Some(0));
        let crowded = ["192.0.2.1", "192.0.2.2", "192.0.2.2", "::ffff:192.0.2.2"];
        assert_eq!(first_to_go(&crowded), Some(1));
        // Any number of addresses of one IPv6 network count as one.
        let network = [
            "192.0.2.1",
            "2001:db8::1",
            "192.0.2.1",
            "2001:db8::2",
            "2001:db8::3",
        ];
        assert_eq!(first_to_go(&network), Some(1));
    }
}
