//! Leases and content of a speed test's loads, and the responses to requests that get none.

use std::{
    collections::HashMap,
    io,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use sys::zeroes::Zeroes;
use traffic::admission::{Admission, Amounts, Lease, Need, Refused, Session};

use crate::{
    Connection, Response,
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

/// The loads of all clients.
pub(super) struct Loads {
    admission: Admission,
    /// The sessions of clients by their addresses: all connections of a browser share one.
    sessions: Mutex<HashMap<IpAddr, Weak<Session>>>,
    /// The content that they send.
    pub(super) content: Zeroes,
}

impl Loads {
    /// Loads within an admission; `random` fills their content.
    pub(super) fn new(
        admission: Admission,
        random: impl FnOnce(&mut [u8]) -> io::Result<()>,
    ) -> io::Result<Self> {
        let mut content = vec![0; CONTENT];
        random(&mut content)?;
        Ok(Self {
            admission,
            sessions: Mutex::default(),
            content: Zeroes::of(&content)?,
        })
    }

    /// A lease for a load of a client of at most this duration.
    pub(super) fn lease(
        &self,
        peer: IpAddr,
        longest: Duration,
    ) -> Result<(Arc<Session>, Lease), Refused> {
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

/// Waits until a meter allows more, but never longer than a measurement may be late.
pub(super) fn pause(until: sys::clock::Instant) {
    let ns = until.since(sys::clock::Instant::now());
    let left = Duration::from_nanos(u64::try_from(ns).unwrap_or(0));
    std::thread::sleep(left.min(Duration::from_millis(250)));
}

/// Notifies a client why it has no load.
pub(super) fn refuse(connection: &mut Connection, refused: &Refused) -> io::Result<Taken> {
    let response = Response::text(Status::Unavailable, format!("{refused}\n"));
    answer(connection, &response)
}

/// Responds without reading the body of the request, and ends the connection.
pub(super) fn answer(connection: &mut Connection, response: &Response) -> io::Result<Taken> {
    send(connection, response, true, true)?;
    Ok(Taken::Ended)
}
