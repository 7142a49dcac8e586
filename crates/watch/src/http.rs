//! Web server of a watch: its metrics, and with the features `page` and `history` its pages.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    sync::{Arc, Mutex, PoisonError},
};

use web::{Access, Options, Request, Response, Service, response::Status};

use crate::watcher::PathStatus;

/// Maximum concurrent connections: browsers open six each.
const CONNECTIONS: usize = 32;

/// Current results of the watch loop, shared with readers.
#[derive(Clone, Debug)]
pub struct Live(Arc<Mutex<Snapshot>>);

/// A state of a watch.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Its metrics, as exported.
    pub metrics: String,
    /// Its paths.
    pub paths: Vec<PathStatus>,
    /// Bytes charged to this month, and those that it may cost.
    pub budget: (u64, u64),
}

impl Live {
    /// Starts with a state, so that none is ever served without.
    pub(crate) fn new(snapshot: Snapshot) -> Self {
        Self(Arc::new(Mutex::new(snapshot)))
    }

    /// Replaces the state.
    pub(crate) fn set(&self, snapshot: Snapshot) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = snapshot;
    }

    /// The state.
    pub fn read(&self) -> Snapshot {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Metrics alone.
#[derive(Debug)]
pub struct Metrics(pub Live);

impl Service for Metrics {
    fn answer(&self, request: &Request) -> Response {
        metrics(request, &self.0)
            .unwrap_or_else(|| Response::text(Status::NotFound, "there is /metrics\n"))
    }
}

/// Responds with the metrics, if requested. There are no requests that change anything.
pub(crate) fn metrics(request: &Request, live: &Live) -> Option<Response> {
    if !matches!(request.method.as_str(), "GET" | "HEAD") {
        return Some(Response::text(Status::MethodNotAllowed, "only GET\n"));
    }
    (request.path == "/metrics").then(|| Response::metrics(live.read().metrics))
}

/// Starts serving on an address, until the process ends. Returns the address, with the port that
/// the kernel chose for 0.
///
/// # Errors
/// The address cannot be used.
pub fn serve(
    address: SocketAddr,
    access: Access,
    service: Arc<dyn Service>,
) -> io::Result<SocketAddr> {
    let options = Options {
        access,
        connections: CONNECTIONS,
    };
    web::serve(TcpListener::bind(address)?, options, service)
}
