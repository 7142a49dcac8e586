//! ndt7 (M-Lab, protocol v0.11.0): a download and an upload over one WebSocket each.
//!
//! The content of a load is meaningless, so it is sent from pages of the kernel, and discarded
//! without being unmasked. A client may choose the server's congestion control by `?cc=`; to other
//! servers that is metadata.

use std::{
    io::{self, Write},
    net::IpAddr,
    time::{Duration, Instant},
};

use sys::clock;
use traffic::{
    admission::Lease,
    load::transfer::{self, Flow},
};

use super::{
    loads::{Loads, answer, pause, refuse},
    measurement::Speaker,
    socket::{Came, Socket, is_timeout},
};
use crate::{
    Connection, Request, Response,
    frame::{self, Kind},
    response::Status,
    server::Taken,
};

/// The subprotocol that a client must offer.
const PROTOCOL: &str = "net.measurementlab.ndt.v7";
/// Congestion controls that a client may choose. Other names would make the kernel load a module.
const CONTROLS: [&str; 3] = ["bbr", "cubic", "reno"];
/// Duration of a test, and its time limit.
const LASTS: Duration = Duration::from_secs(10);
const CUT: Duration = Duration::from_secs(13);
/// Time between measurements: ten a second are allowed.
const BETWEEN: Duration = Duration::from_millis(250);
/// Messages begin at this size and double while they are smaller than a sixteenth of the bytes
/// sent; the protocol allows up to 2^24.
const SMALLEST: u64 = 1 << 13;
const LARGEST: u64 = 1 << 20;
const SHARE: u64 = 16;
/// Maximum bytes discarded per call, so that measurements are on time.
const PIECE: usize = 256 << 10;

/// Sends for ten seconds.
pub(super) fn download(
    loads: &Loads,
    request: &Request,
    connection: &mut Connection,
    peer: IpAddr,
) -> io::Result<Taken> {
    let started = match start(loads, request, connection, peer)? {
        Ok(started) => started,
        Err(taken) => return Ok(taken),
    };
    let speaker = started.speaker("download", connection);
    let mut outlet = loads.content.outlet()?;
    let mut socket = Socket::open(connection, &started.handshake)?;
    // The kernel joins the head of a message with its payload.
    socket.stream.set_nodelay(false)?;
    let stream = socket.stream.try_clone()?;
    let mut flow = Download {
        socket: &mut socket,
        speaker,
        zero: Instant::now(),
        lasts: started.lease.duration().min(LASTS),
        sent: 0,
        size: SMALLEST,
        left: 0,
        measured: Duration::ZERO,
        failed: None,
    };
    stream.set_write_timeout(Some(CUT))?;
    let result = transfer::send(&started.lease, &mut flow, |most| outlet.send(&stream, most));
    let failed = flow.failed.take();
    let last = flow.measurement();
    result.and(failed.map_or(Ok(()), Err))?;
    socket
        .stream
        .set_write_timeout(Some(Duration::from_secs(1)))?;
    socket.send(Kind::Text, &last)?;
    socket.close()?;
    Ok(Taken::Ended)
}

/// Receives until the client ends, for thirteen seconds at most.
pub(super) fn upload(
    loads: &Loads,
    request: &Request,
    connection: &mut Connection,
    peer: IpAddr,
) -> io::Result<Taken> {
    let started = match start(loads, request, connection, peer)? {
        Ok(started) => started,
        Err(taken) => return Ok(taken),
    };
    let speaker = started.speaker("upload", connection);
    let mut socket = Socket::open(connection, &started.handshake)?;
    socket.stream.set_read_timeout(Some(BETWEEN))?;
    let zero = Instant::now();
    let mut flow = Upload {
        speaker,
        zero,
        cut: started.lease.duration().min(CUT),
        received: 0,
        measured: Duration::ZERO,
    };
    receive(&started.lease, &mut socket, &mut flow)?;
    let last = flow
        .speaker
        .measurement(socket.stream, zero.elapsed(), flow.received);
    socket.send(Kind::Text, &last)?;
    socket.close()?;
    Ok(Taken::Ended)
}

/// A test that has been admitted.
struct Started {
    handshake: String,
    lease: Lease,
    /// Exists as long as the load.
    _session: std::sync::Arc<traffic::admission::Session>,
}

impl Started {
    fn speaker(&self, test: &'static str, connection: &Connection) -> Speaker {
        let wall_us = sys::clock::realtime_ns() / 1000;
        let id = format!("{wall_us:x}-{}", connection.peer.port());
        Speaker::new(test, &connection.stream, wall_us, &id)
    }
}

fn start(
    loads: &Loads,
    request: &Request,
    connection: &mut Connection,
    peer: IpAddr,
) -> io::Result<Result<Started, Taken>> {
    let handshake = match frame::handshake(request, Some(PROTOCOL)) {
        Ok(handshake) => handshake,
        Err(response) => return answer(connection, &response).map(Err),
    };
    if let Err(response) = metadata(request) {
        return answer(connection, &response).map(Err);
    }
    let wanted = request.value("cc").unwrap_or("bbr");
    if !CONTROLS.contains(&wanted) {
        let text = format!("cc must be one of {}\n", CONTROLS.join(", "));
        let response = Response::text(Status::BadRequest, text);
        return answer(connection, &response).map(Err);
    }
    let (session, lease) = match loads.lease(peer, CUT) {
        Ok(admitted) => admitted,
        Err(refused) => return refuse(connection, &refused).map(Err),
    };
    let set = sys::socket::set_congestion(&connection.stream, wanted);
    if request.value("cc").is_some()
        && let Err(error) = set
    {
        let text = format!("this server cannot use {wanted}: {error}\n");
        let response = Response::text(Status::Unavailable, text);
        return answer(connection, &response).map(Err);
    }
    Ok(Ok(Started {
        handshake,
        lease,
        _session: session,
    }))
}

/// Checks the metadata of a client: no key twice.
fn metadata(request: &Request) -> Result<(), Response> {
    let keys = request.query.iter().map(|(key, _)| key);
    let mut sorted: Vec<&String> = keys.collect();
    sorted.sort();
    match sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        true => Err(Response::text(
            Status::BadRequest,
            "a key of the metadata is there twice\n",
        )),
        false => Ok(()),
    }
}

/// The sender: messages of bytes, and between them measurements.
struct Download<'a, 'b> {
    socket: &'a mut Socket<'b>,
    speaker: Speaker,
    zero: Instant,
    lasts: Duration,
    sent: u64,
    size: u64,
    /// Bytes that are left of the message.
    left: u64,
    measured: Duration,
    failed: Option<io::Error>,
}

impl Download<'_, '_> {
    fn measurement(&self) -> Vec<u8> {
        self.speaker
            .measurement(self.socket.stream, self.zero.elapsed(), self.sent)
    }

    /// Begins the next message.
    fn begin(&mut self, now: Duration) -> io::Result<()> {
        if now >= self.measured + BETWEEN {
            self.measured = now;
            let text = self.measurement();
            self.socket.send(Kind::Text, &text)?;
        }
        if self.size < LARGEST && self.size < self.sent / SHARE {
            self.size *= 2;
        }
        self.left = self.size;
        self.socket
            .stream
            .write_all(&frame::head(Kind::Binary, self.size))
    }
}

impl Flow for Download<'_, '_> {
    fn next(&mut self) -> Option<usize> {
        let now = self.zero.elapsed();
        let is_over = match self.left {
            0 => now >= self.lasts,
            _ => now >= CUT,
        };
        if is_over {
            return None;
        }
        if self.left == 0
            && let Err(error) = self.begin(now)
        {
            self.failed = Some(error);
            return None;
        }
        Some(self.left as usize)
    }

    fn moved(&mut self, _: usize, bytes: usize) {
        self.left -= bytes as u64;
        self.sent += bytes as u64;
    }

    fn pause(&mut self, until: clock::Instant) {
        pause(until);
    }
}

/// The receiver.
struct Upload {
    speaker: Speaker,
    zero: Instant,
    cut: Duration,
    received: u64,
    measured: Duration,
}

fn receive(lease: &Lease, socket: &mut Socket<'_>, flow: &mut Upload) -> io::Result<()> {
    let mut left = 0;
    while flow.zero.elapsed() < flow.cut {
        let now = flow.zero.elapsed();
        if now >= flow.measured + BETWEEN {
            flow.measured = now;
            let text = flow.speaker.measurement(socket.stream, now, flow.received);
            socket.send(Kind::Text, &text)?;
        }
        if left == 0 {
            match socket.next(0)? {
                Came::Load(length) => left = length,
                Came::End => return Ok(()),
                Came::Short(_) | Came::Nothing => continue,
            }
        }
        let most = lease.chunk(PIECE.min(usize::try_from(left).unwrap_or(PIECE)));
        let came = match socket.skip(most) {
            Ok(0) => return Ok(()),
            Ok(came) => came,
            Err(error) if is_timeout(&error) => continue,
            Err(error) => return Err(error),
        };
        left -= came as u64;
        flow.received += came as u64;
        if let Some(until) = lease.received(came as u64)? {
            pause(until);
        }
    }
    Ok(())
}
