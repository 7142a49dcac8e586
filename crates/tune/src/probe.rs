//! New connections that must succeed before and after a change.
//!
//! Established connections survive changes that break new ones: the MSS is fixed by the SYN, and a
//! socket keeps its congestion control. So each probe is a new connection. Small packets survive
//! changes that lose large ones: so each sends a packet of the full size of its path.
//!
//! UDP is probed by a query to a name server. `pathtwin serve` answers no datagram of a client
//! without a session, so that nobody can use it to reach others.

mod dns;

use std::{
    io::{self, Write},
    net::{SocketAddr, TcpStream, ToSocketAddrs},
    os::fd::AsFd,
    time::Duration,
};

use model::{text, text::Text};
use sys::tcp_info;

use crate::{BootClock, Clock};

/// Longest time for one connection, and for its packet.
const LIMIT: Duration = Duration::from_secs(5);

/// Largest packet that is tried, bytes of payload: that of a jumbo frame. The receive buffer of a
/// program that reads nothing holds it.
const LARGEST: u32 = 9000;

/// Time between two readings of the state of a connection.
const INTERVAL: Duration = Duration::from_millis(5);

/// `TCP_CLOSE` (include/net/tcp_states.h, Linux 6.18): the other end has reset the connection.
const CLOSED: u8 = 7;

/// Makes new connections.
pub trait Prober {
    /// Connects to a target anew: `host:port` by TCP, with a packet of full size, or
    /// `udp://host[:port]`, a name server. Of each address family one address suffices; those that
    /// worked are returned, as targets.
    ///
    /// # Errors
    /// No address of it works.
    fn connect(&mut self, target: &str) -> io::Result<Vec<String>>;
}

/// New flows of this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewFlows;

impl Prober for NewFlows {
    fn connect(&mut self, target: &str) -> io::Result<Vec<String>> {
        let (scheme, carries): (_, fn(SocketAddr) -> io::Result<()>) =
            match target.starts_with(dns::SCHEME) {
                true => (dns::SCHEME, dns::answers),
                false => ("", carries),
            };
        let working = of_each_family(&addresses(target)?, carries)?;
        let targets = working.iter().map(|address| format!("{scheme}{address}"));
        Ok(targets.collect())
    }
}

/// The addresses of a target.
///
/// # Errors
/// The name is not known, or there is no port.
pub(crate) fn addresses(target: &str) -> io::Result<Vec<SocketAddr>> {
    match target.strip_prefix(dns::SCHEME) {
        Some(server) => dns::addresses(server),
        None => target.to_socket_addrs().map(Iterator::collect),
    }
}

/// The first address of each family that works: a change may break one family, and a name that has
/// both would hide it.
fn of_each_family(
    all: &[SocketAddr],
    mut works: impl FnMut(SocketAddr) -> io::Result<()>,
) -> io::Result<Vec<SocketAddr>> {
    let mut last = io::Error::other("it has no address");
    let mut working: Vec<SocketAddr> = Vec::new();
    for address in all {
        if working.iter().any(|w| w.is_ipv4() == address.is_ipv4()) {
            continue;
        }
        match works(*address) {
            Ok(()) => working.push(*address),
            Err(error) => last = error,
        }
    }
    match working.is_empty() {
        true => Err(last),
        false => Ok(working),
    }
}

/// Connects and sends one packet as large as the path's MSS. The kernel of the other end
/// acknowledges it, whatever its program makes of empty lines. The packets it sends are limited by
/// the same MTUs.
fn carries(address: SocketAddr) -> io::Result<()> {
    let mut stream = TcpStream::connect_timeout(&address, LIMIT)?;
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(LIMIT))?;
    let size = tcp_info::read(stream.as_fd())?.snd_mss.min(LARGEST);
    let lines: Vec<u8> = b"\r\n"
        .iter()
        .copied()
        .cycle()
        .take(size as usize)
        .collect();
    match stream.write_all(&lines) {
        // It answers, if only to refuse this connection.
        Err(error) if is_reset(&error) => return Ok(()),
        written => written?,
    }
    let end = BootClock.boottime_ns() + LIMIT.as_nanos() as u64;
    while BootClock.boottime_ns() < end {
        let now = tcp_info::read(stream.as_fd())?;
        let waiting = now.unacked > 0 || now.notsent_bytes.unwrap_or(0) > 0;
        if now.state == CLOSED || !waiting {
            return Ok(());
        }
        BootClock.sleep(INTERVAL);
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, lost(size)))
}

fn lost(bytes: u32) -> Text {
    text!(
        "it was accepted, but a packet with {bytes} bytes was not acknowledged; the path may have \
         a smaller MTU",
        bytes = bytes
    )
}

fn is_reset(error: &io::Error) -> bool {
    use io::ErrorKind as E;
    matches!(error.kind(), E::ConnectionReset | E::BrokenPipe)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn one_working_address_of_each_family_suffices() {
        let all = [
            "192.0.2.1:1",
            "192.0.2.2:1",
            "[2001:db8::1]:1",
            "192.0.2.3:1",
        ];
        let all = all.map(|address| address.parse().unwrap());
        let only = |working: &[usize]| {
            of_each_family(&all, |address| {
                match working.iter().any(|n| all[*n] == address) {
                    true => Ok(()),
                    false => Err(io::ErrorKind::TimedOut.into()),
                }
            })
        };
        assert_eq!(only(&[1, 2, 3]).unwrap(), [all[1], all[2]]);
        assert_eq!(only(&[0]).unwrap(), [all[0]]);
        assert_eq!(only(&[]).unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn a_name_server_is_at_port_53_unless_another_is_given() {
        let of = |target| addresses(target).unwrap()[0].to_string();
        assert_eq!(of("udp://192.0.2.1"), "192.0.2.1:53");
        assert_eq!(of("udp://[2001:db8::1]"), "[2001:db8::1]:53");
        assert_eq!(of("udp://2001:db8::1"), "[2001:db8::1]:53");
        assert_eq!(of("udp://192.0.2.1:5353"), "192.0.2.1:5353");
        assert!(addresses("192.0.2.1").is_err());
    }
}
