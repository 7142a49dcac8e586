//! Echo service for probes of a browser: each short message is returned immediately, with the
//! server's time.

use std::{
    io,
    net::IpAddr,
    time::{Duration, Instant},
};

use super::{
    loads::{Loads, answer, refuse},
    socket::{Came, Socket},
};
use crate::{
    Connection, Request,
    frame::{self, Kind},
    server::Taken,
};

/// Time for which probes are answered, and their maximum number and length.
const LASTS: Duration = Duration::from_secs(60);
const PROBES: u32 = 6000;
const LONGEST: u64 = 64;

pub(super) fn probes(
    loads: &Loads,
    request: &Request,
    connection: &mut Connection,
    peer: IpAddr,
) -> io::Result<Taken> {
    let handshake = match frame::handshake(request, None) {
        Ok(handshake) => handshake,
        Err(response) => return answer(connection, &response),
    };
    let (_session, lease) = match loads.lease(peer, LASTS) {
        Ok(admitted) => admitted,
        Err(refused) => return refuse(connection, &refused),
    };
    let mut socket = Socket::open(connection, &handshake)?;
    socket.stream.set_nodelay(true)?;
    socket
        .stream
        .set_read_timeout(Some(Duration::from_secs(1)))?;
    let zero = Instant::now();
    let mut count = 0;
    while zero.elapsed() < lease.duration() && count < PROBES {
        match socket.next(LONGEST)? {
            Came::Short(payload) if payload.len() as u64 <= LONGEST => {
                count += 1;
                let text = String::from_utf8_lossy(&payload);
                let answer = format!("{text} {}", zero.elapsed().as_micros());
                lease.received(payload.len() as u64)?;
                let taken = lease.take(answer.len())?;
                lease.sent(taken, taken);
                socket.send(Kind::Text, answer.as_bytes())?;
            }
            Came::Nothing => {}
            _ => break,
        }
    }
    socket.close()?;
    Ok(Taken::Ended)
}
