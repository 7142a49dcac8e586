//! The speed test for browsers: loads over WebSocket (ndt7) and HTTP (LibreSpeed), and probes. Like
//! every other load, they need a lease of the server's admission.

mod echo;
mod librespeed;
mod measurement;
mod ndt7;
mod socket;

use std::{
    collections::HashMap,
    io,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use report::page::speedtest as page;
use sys::zeroes::Zeroes;
use traffic::admission::{Admission, Amounts, Lease, Need, Refused, Session};

use crate::{
    Connection, Request, Response, Service, preferred,
    response::Status,
    server::{Taken, send},
};

/// Bytes of the content that is sent repeatedly.
const CONTENT: usize = 1 << 20;
/// Resources held by a load: it runs on the thread of its connection, and sends from a pipe.
const LOAD: Amounts = Amounts {
    loads: 1,
    connections: 1,
    threads: 1,
    descriptors: 3,
    // The kernel's buffers of a socket, by default (net.ipv4.tcp_wmem).
    memory: 4 << 20,
    ..Amounts::NONE
};
/// Congestion controls that a client may choose. Other names would make the kernel load a module.
pub(crate) const CONTROLS: [&str; 3] = ["bbr", "cubic", "reno"];

/// The speed test of a server.
pub struct SpeedTest {
    admission: Admission,
    /// The sessions of clients by their addresses: all connections of a browser share one.
    sessions: Mutex<HashMap<IpAddr, Weak<Session>>>,
    content: Zeroes,
    program: String,
}

impl SpeedTest {
    /// Loads within an admission, and the page that runs them. `random`: makes content that cannot
    /// be compressed. `program`: version of this program.
    ///
    /// # Errors
    /// The host has no descriptors or no memory for the content.
    pub fn new(
        admission: Admission,
        random: impl FnOnce(&mut [u8]) -> io::Result<()>,
        program: &str,
    ) -> io::Result<Self> {
        let mut content = vec![0; CONTENT];
        random(&mut content)?;
        Ok(Self {
            admission,
            sessions: Mutex::default(),
            content: Zeroes::of(&content)?,
            program: program.to_owned(),
        })
    }

    /// A lease for a load of a client of at most this duration.
    fn lease(&self, peer: IpAddr, longest: Duration) -> Result<(Arc<Session>, Lease), Refused> {
        let session = self.session(peer)?;
        let most = self.admission.limits().time_s;
        let most = most.and_then(|s| Duration::try_from_secs_f64(s).ok());
        let lease = session.lease(&Need {
            amounts: LOAD,
            duration: Some(most.map_or(longest, |most| most.min(longest))),
            bytes: 0,
        })?;
        Ok((session, lease))
    }

    fn session(&self, peer: IpAddr) -> Result<Arc<Session>, Refused> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, session| session.strong_count() > 0);
        if let Some(session) = sessions.get(&peer).and_then(Weak::upgrade) {
            return Ok(session);
        }
        let session = Arc::new(self.admission.admit(peer)?);
        sessions.insert(peer, Arc::downgrade(&session));
        Ok(session)
    }
}

impl Service for SpeedTest {
    fn answer(&self, request: &Request) -> Response {
        if !matches!(request.method.as_str(), "GET" | "HEAD") {
            return Response::text(Status::MethodNotAllowed, "only GET\n");
        }
        match request.path.as_str() {
            "/" => Response::html(page::html(preferred(request), &self.program)),
            "/style.css" => Response::css(page::STYLE),
            "/speedtest.js" => Response::script(page::SCRIPT),
            _ => Response::text(Status::NotFound, "there is no such page\n"),
        }
    }

    fn sign_in(&self, request: &Request, wrong: bool) -> Response {
        if request.path == "/style.css" {
            return Response::css(page::STYLE);
        }
        let page = page::sign_in(preferred(request), wrong, &self.program);
        Response::html(page).status(Status::Unauthorized)
    }

    fn take(&self, request: &Request, connection: &mut Connection) -> Taken {
        let peer = connection.peer.ip().to_canonical();
        let result = match request.path.as_str() {
            "/ndt/v7/download" => ndt7::download(self, request, connection, peer),
            "/ndt/v7/upload" => ndt7::upload(self, request, connection, peer),
            "/probe" => echo::probes(self, request, connection, peer),
            path => match librespeed::endpoint(path) {
                Some(endpoint) => librespeed::serve(self, endpoint, request, connection, peer),
                None => Ok(Taken::Not),
            },
        };
        // A load that is cut off ends as requested.
        result.unwrap_or(Taken::Ended)
    }
}

/// Waits until a meter allows more, but never longer than a measurement may be late.
fn pause(until: sys::clock::Instant) {
    let ns = until.since(sys::clock::Instant::now());
    let left = Duration::from_nanos(u64::try_from(ns).unwrap_or(0));
    std::thread::sleep(left.min(Duration::from_millis(250)));
}

/// Notifies a client why it has no load.
fn refuse(connection: &mut Connection, refused: &Refused) -> io::Result<Taken> {
    let response = Response::text(Status::Unavailable, format!("{refused}\n"));
    answer(connection, &response)
}

/// Responds without reading the body of the request, and ends the connection.
fn answer(connection: &mut Connection, response: &Response) -> io::Result<Taken> {
    send(connection, response, true, true)?;
    Ok(Taken::Ended)
}
