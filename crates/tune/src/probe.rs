//! New connections that must succeed before and after a change.
//!
//! Established connections survive changes that break new ones: the MSS is fixed by the SYN, and a
//! socket keeps its congestion control. So each probe is a new connection. Small packets survive
//! changes that lose large ones: so each sends a packet of the full size of its path.

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
    /// Connects to `host:port` anew, and sends a packet of full size.
    ///
    /// # Errors
    /// No address of it accepts a connection and receives the packet in time.
    fn connect(&mut self, target: &str) -> io::Result<()>;
}

/// New TCP connections of this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewTcp;

impl Prober for NewTcp {
    fn connect(&mut self, target: &str) -> io::Result<()> {
        let mut last = io::Error::other("it has no address");
        for address in target.to_socket_addrs()? {
            match carries(address) {
                Ok(()) => return Ok(()),
                Err(error) => last = error,
            }
        }
        Err(last)
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
