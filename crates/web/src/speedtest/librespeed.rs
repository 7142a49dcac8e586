//! The endpoints of LibreSpeed, for all its clients: random bytes, a sink that also answers pings,
//! the client's address, and a place for its results, which are not kept.

use std::{
    io::{self, Write},
    net::IpAddr,
    time::{Duration, Instant},
};

use sys::clock;
use traffic::load::transfer::{self, Flow};

use super::loads::{Loads, answer, pause, refuse};
use crate::{
    Connection, Request, Response,
    response::Status,
    server::{Taken, send},
};

/// Longest load of one request: its clients end theirs after 15 s.
const LONGEST: Duration = Duration::from_secs(30);
/// Pieces of a download, MiB: by default, and at most.
const USUAL: u64 = 4;
const MAX: u64 = 1024;
const MIB: u64 = 1 << 20;
/// A result with its log, bytes.
const RESULT: u64 = 256 << 10;
/// Maximum bytes per call.
const PIECE: usize = 256 << 10;

/// An endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    Garbage,
    Empty,
    Address,
    Telemetry,
}

/// The endpoint at a path, with or without the folder and the suffix that its servers have.
pub(super) fn endpoint(path: &str) -> Option<Endpoint> {
    let name = path.strip_prefix("/backend").unwrap_or(path);
    match name.strip_suffix(".php").unwrap_or(name) {
        "/garbage" => Some(Endpoint::Garbage),
        "/empty" => Some(Endpoint::Empty),
        "/getIP" => Some(Endpoint::Address),
        "/results/telemetry" => Some(Endpoint::Telemetry),
        _ => None,
    }
}

pub(super) fn serve(
    loads: &Loads,
    endpoint: Endpoint,
    request: &Request,
    connection: &mut Connection,
    peer: IpAddr,
) -> io::Result<Taken> {
    match (endpoint, request.method.as_str()) {
        (_, "OPTIONS") => short(connection, request, &empty()),
        (Endpoint::Garbage, "GET") => garbage(loads, request, connection, peer),
        (Endpoint::Empty, "POST") => sink(loads, request, connection, peer),
        // Without an id in the answer, clients show no address of a result.
        (Endpoint::Telemetry, "POST") if request.length <= RESULT => {
            sink(loads, request, connection, peer)
        }
        (Endpoint::Telemetry, "POST") => {
            let response = Response::text(Status::ContentTooLarge, "no result is as large\n");
            answer(connection, &response)
        }
        (Endpoint::Empty, "GET" | "HEAD") => short(connection, request, &empty()),
        (Endpoint::Address, "GET") => {
            let body = format!("{{\"processedString\":\"{peer}\",\"rawIspInfo\":\"\"}}");
            short(connection, request, &Response::json(body))
        }
        _ => {
            let response = Response::text(Status::MethodNotAllowed, "this method is not served\n");
            answer(connection, &response)
        }
    }
}

fn empty() -> Response {
    Response::text(Status::Ok, "")
}

/// Permits pages of other hosts to read the response (CORS), if requested as by LibreSpeed's
/// client.
fn shared(response: Response, request: &Request) -> Response {
    if request.value("cors").is_none() {
        return response;
    }
    response
        .field("Access-Control-Allow-Origin", "*")
        .field("Access-Control-Allow-Methods", "GET, POST")
        .field(
            "Access-Control-Allow-Headers",
            "Content-Encoding, Content-Type",
        )
        .field("Cross-Origin-Resource-Policy", "cross-origin")
        .field("Timing-Allow-Origin", "*")
}

fn short(connection: &mut Connection, request: &Request, response: &Response) -> io::Result<Taken> {
    if request.length > 0 {
        return answer(connection, response);
    }
    let response = shared(response.clone(), request);
    send(
        connection,
        &response,
        request.method != "HEAD",
        request.close,
    )?;
    Ok(Taken::Done)
}

/// Random bytes, of the requested number.
fn garbage(
    loads: &Loads,
    request: &Request,
    connection: &mut Connection,
    peer: IpAddr,
) -> io::Result<Taken> {
    let asked = request.value("ckSize").and_then(|n| n.parse().ok());
    let bytes = asked.unwrap_or(USUAL).clamp(1, MAX) * MIB;
    let (_session, lease) = match loads.lease(peer, LONGEST) {
        Ok(admitted) => admitted,
        Err(refused) => return refuse(connection, &refused),
    };
    let response = shared(Response::load(bytes), request);
    let mut outlet = loads.content.outlet()?;
    let stream = &mut connection.stream;
    stream.write_all(response.head(request.close).as_bytes())?;
    let mut flow = Whole::new(bytes, lease.duration());
    transfer::send(&lease, &mut flow, |most| outlet.send(stream, most))?;
    Ok(flow.taken())
}

/// Takes a body and forgets it.
fn sink(
    loads: &Loads,
    request: &Request,
    connection: &mut Connection,
    peer: IpAddr,
) -> io::Result<Taken> {
    let (_session, lease) = match loads.lease(peer, LONGEST) {
        Ok(admitted) => admitted,
        Err(refused) => return refuse(connection, &refused),
    };
    if request.has_token("expect", "100-continue") {
        connection
            .stream
            .write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let mut flow = Whole::new(request.length, lease.duration());
    let Connection { stream, ahead, .. } = connection;
    transfer::receive(&lease, &mut flow, |most| {
        if ahead.is_empty() {
            return sys::socket::discard(stream, most);
        }
        let n = most.min(ahead.len());
        ahead.drain(..n);
        Ok(n)
    })?;
    if flow.taken() == Taken::Ended {
        return Ok(Taken::Ended);
    }
    send(connection, &shared(empty(), request), true, request.close)?;
    Ok(Taken::Done)
}

/// A load of a known length.
struct Whole {
    left: u64,
    zero: Instant,
    most: Duration,
}

impl Whole {
    fn new(left: u64, most: Duration) -> Self {
        Self {
            left,
            zero: Instant::now(),
            most,
        }
    }

    /// Returns what follows on the connection: the next request, unless this one was cut off.
    fn taken(&self) -> Taken {
        match self.left {
            0 => Taken::Done,
            _ => Taken::Ended,
        }
    }
}

impl Flow for Whole {
    fn next(&mut self) -> Option<usize> {
        let goes_on = self.left > 0 && self.zero.elapsed() < self.most;
        goes_on.then(|| PIECE.min(usize::try_from(self.left).unwrap_or(PIECE)))
    }

    fn moved(&mut self, _: usize, bytes: usize) {
        self.left -= bytes as u64;
    }

    fn pause(&mut self, until: clock::Instant) {
        pause(until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_found_under_all_their_names() {
        for path in ["/garbage.php", "/backend/garbage.php", "/garbage"] {
            assert_eq!(endpoint(path), Some(Endpoint::Garbage), "{path}");
        }
        assert_eq!(endpoint("/getIP.php"), Some(Endpoint::Address));
        let results = ["/results/telemetry.php", "/backend/results/telemetry.php"];
        assert_eq!(results.map(endpoint), [Some(Endpoint::Telemetry); 2]);
        assert_eq!(endpoint("/backend"), None);
    }
}
