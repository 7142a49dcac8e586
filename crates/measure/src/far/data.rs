//! Data connections and datagrams to the far end.

use std::{
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket},
    time::Duration,
};

use sys::socket;
use traffic::wire::{
    Ticket,
    datagram::{Datagram, GREETING},
};

use super::error::{Action, FarError};

/// Timeout of a connection.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Times a greeting datagram is sent before the address counts as dead, and how long each waits.
const TRIES: u32 = 8;
/// Number of unanswered proofs after which the reply counts as lost.
const PROOFS: u32 = 3;
const TRY: Duration = Duration::from_millis(750);

/// Opens connections for individual requests; the client sends first. Each try waits for as long as
/// `timeout`.
pub fn connector(address: SocketAddr, timeout: Duration) -> traffic::load::requests::Connect {
    Box::new(move || TcpStream::connect_timeout(&address, timeout))
}

/// Makes the data connections of a load.
///
/// # Errors
/// The far end takes no connection at `address`.
pub fn streams(
    ticket: Ticket,
    address: SocketAddr,
    flows: u16,
) -> Result<Vec<TcpStream>, FarError> {
    (0..flows)
        .map(|index| stream(ticket, address, index.into()))
        .collect()
}

/// Makes the data connection of a load that has the number `index` in it.
///
/// # Errors
/// The far end takes no connection at `address`.
pub fn stream(ticket: Ticket, address: SocketAddr, index: u32) -> Result<TcpStream, FarError> {
    let open = || {
        let stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
        io::Write::write_all(&mut &stream, &ticket.greeting(index).bytes())?;
        Ok(stream)
    };
    open().map_err(Action::Connect.failed(address))
}

/// A UDP socket whose address has been validated by the far end.
///
/// # Errors
/// This host cannot send to `address`, or no datagram gets a reply.
pub fn datagrams(ticket: Ticket, address: SocketAddr) -> Result<UdpSocket, FarError> {
    prove(ticket, address)
        .map_err(Action::Open.failed(address))?
        .ok_or(FarError::Silent {
            address,
            tries: TRIES,
        })
}

/// `None`: there was no reply.
fn prove(ticket: Ticket, address: SocketAddr) -> io::Result<Option<UdpSocket>> {
    let any: SocketAddr = if address.is_ipv4() {
        (Ipv4Addr::UNSPECIFIED, 0).into()
    } else {
        (Ipv6Addr::UNSPECIFIED, 0).into()
    };
    let socket = socket::udp(any)?;
    socket.connect(address)?;
    socket.set_read_timeout(Some(TRY))?;
    let token = ticket.token;
    let mut next = Datagram::Hello(token);
    let mut proofs = 0;
    for _ in 0..TRIES {
        // An error of a send may belong to an earlier datagram (ICMP, port unreachable); only a
        // reply counts.
        let _ = socket.send(&next.greeting());
        if matches!(next, Datagram::Prove(..)) {
            proofs += 1;
        }
        let mut bytes = [0; GREETING];
        while let Ok(n) = socket.recv(&mut bytes) {
            match Datagram::parse(&bytes[..n]) {
                Some(Datagram::Challenge(t, challenge)) if t == token => {
                    next = Datagram::Prove(token, ticket.challenge_code(&challenge));
                    proofs += 1;
                    socket.send(&next.greeting())?;
                }
                Some(Datagram::Proved(t)) if t == token => return Ok(Some(socket)),
                _ => {}
            }
        }
        // The far end may have received the proof while its reply was lost: then it has a socket
        // for this address, which accepts no more proofs. Otherwise the start of the load fails.
        if proofs >= PROOFS {
            return Ok(Some(socket));
        }
    }
    Ok(None)
}
