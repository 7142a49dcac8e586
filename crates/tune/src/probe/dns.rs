//! A new UDP flow: a query to a name server (RFC 1035).
//!
//! Of the services over UDP it is the one that answers anybody, and nearly every network has it.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket},
    time::Duration,
};

/// How a target of this kind begins.
pub(super) const SCHEME: &str = "udp://";

/// Port of name servers (RFC 1035, 4.2.1).
const PORT: u16 = 53;

/// Number of queries, because a datagram may be lost, and the time for the answer to each.
const TRIES: u32 = 5;
const LIMIT: Duration = Duration::from_secs(1);

/// Bytes of the header.
const HEADER: usize = 12;

/// Sends a query from a new socket until an answer returns, whatever it is.
pub(super) fn answers(server: SocketAddr) -> io::Result<()> {
    let any: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    // Only its datagrams are received, and its ICMP errors.
    socket.connect(server)?;
    socket.set_read_timeout(Some(LIMIT))?;
    let mut id = [0; 2];
    getrandom::fill(&mut id).map_err(|e| io::Error::other(e.to_string()))?;
    for _ in 0..TRIES {
        socket.send(&query(id))?;
        let mut answer = [0; 512];
        match socket.recv(&mut answer) {
            Ok(n) if is_answer(&answer[..n], id) => return Ok(()),
            Ok(_) => {}
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(
        io::ErrorKind::TimedOut,
        "no answer to a query by UDP",
    ))
}

/// The addresses of `host[:port]`.
pub(super) fn addresses(server: &str) -> io::Result<Vec<SocketAddr>> {
    let bare = server.trim_start_matches('[').trim_end_matches(']');
    if let Ok(ip) = bare.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, PORT)]);
    }
    match server.contains(':') {
        true => server.to_socket_addrs().map(Iterator::collect),
        false => (server, PORT).to_socket_addrs().map(Iterator::collect),
    }
}

/// A query for the name servers of the root, which every name server knows or refuses: recursion
/// desired, one question, the empty name, type NS, class IN (RFC 1035, 4.1).
fn query(id: [u8; 2]) -> [u8; HEADER + 5] {
    let mut query = [0; HEADER + 5];
    query[..2].copy_from_slice(&id);
    query[2] = 1;
    query[5] = 1;
    query[HEADER + 2] = 2;
    query[HEADER + 4] = 1;
    query
}

/// A message with the number of the query and the bit of responses.
fn is_answer(message: &[u8], id: [u8; 2]) -> bool {
    message.len() >= HEADER && message[..2] == id && message[2] & 0x80 != 0
}

fn is_timeout(error: &io::Error) -> bool {
    use io::ErrorKind as E;
    matches!(error.kind(), E::WouldBlock | E::TimedOut | E::Interrupted)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A server that turns `queries` into answers by `answer`, and its address.
    fn server(queries: usize, answer: fn(&mut [u8])) -> SocketAddr {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        std::thread::spawn(move || {
            for _ in 0..queries {
                let mut message = [0; 512];
                let (n, from) = socket.recv_from(&mut message).unwrap();
                answer(&mut message[..n]);
                socket.send_to(&message[..n], from).unwrap();
            }
            // Its port stays open and silent.
            std::thread::sleep(Duration::from_secs(60));
            drop(socket);
        });
        address
    }

    #[test]
    fn a_refusal_is_an_answer() {
        let refuse = |message: &mut [u8]| {
            message[2] |= 0x80;
            message[3] = 5;
        };
        answers(server(1, refuse)).unwrap();
    }

    /// An echo has not the bit of responses; an answer to another query has another number.
    #[test]
    fn datagrams_that_answer_no_query_do_not_count() {
        let number = |message: &mut [u8]| {
            message[0] ^= 1;
            message[2] |= 0x80;
        };
        for wrong in [number, |_: &mut [u8]| {}] {
            let error = answers(server(2, wrong)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        }
    }

    #[test]
    fn a_closed_port_fails_at_once() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let closed = socket.local_addr().unwrap();
        drop(socket);
        let error = answers(closed).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }
}
