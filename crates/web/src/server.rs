//! HTTP server: one thread per connection, with limits on number, size and time.

use std::{
    collections::HashMap,
    io::{self, Read, Write},
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    Access, Request, Response,
    access::{Admitted, COOKIE},
    request::{self, BadRequest, LARGEST_BODY},
    response::Status,
};

/// Time for a request to arrive as a whole, and for each piece of its response to be taken.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum time for sending a response: pages have some 500 kB.
const LONGEST: Duration = Duration::from_secs(30);
/// Maximum requests per connection.
const REQUESTS: u32 = 1000;
/// Lifetime of a token's cookie in a browser, s.
const REMEMBERED_S: u32 = 30 * 86_400;

/// Handler of requests.
pub trait Service: Send + Sync + 'static {
    /// The response to a request that may be answered.
    fn answer(&self, request: &Request) -> Response;

    /// Takes over the connection of a request, for a load or a WebSocket. The body of the request
    /// has not been read.
    fn take(&self, request: &Request, connection: &mut Connection) -> Taken {
        let _ = (request, connection);
        Taken::Not
    }

    /// The sign-in page. `wrong`: the submitted token was wrong.
    fn sign_in(&self, request: &Request, wrong: bool) -> Response {
        let _ = (request, wrong);
        Response::text(Status::Unauthorized, "a token is needed\n")
    }
}

/// State of a connection after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Not taken: the request is answered as any other.
    Not,
    /// The request is answered, and the next may follow.
    Done,
    /// It has ended.
    Ended,
}

/// A connection of a client.
#[derive(Debug)]
pub struct Connection {
    /// The socket.
    pub stream: TcpStream,
    /// Bytes that were read beyond the head of the request.
    pub ahead: Vec<u8>,
    /// The client.
    pub peer: SocketAddr,
}

/// Limits of a server.
#[derive(Clone, Debug)]
pub struct Options {
    /// Permitted readers.
    pub access: Access,
    /// Maximum concurrent connections; half of them from one address.
    pub connections: usize,
}

/// Starts serving on a bound socket, until the process ends.
///
/// # Errors
/// No thread can be started.
pub fn serve(
    listener: TcpListener,
    options: Options,
    service: Arc<dyn Service>,
) -> io::Result<SocketAddr> {
    let bound = listener.local_addr()?;
    let places = Places::new(options.connections);
    let access = Arc::new(options.access);
    let accept = move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // Descriptors may be short for a while.
                std::thread::sleep(Duration::from_millis(200));
                continue;
            };
            let Ok(peer) = stream.peer_addr() else {
                continue;
            };
            let Some(place) = places.take(peer.ip().to_canonical()) else {
                refuse(stream);
                continue;
            };
            let (access, service) = (access.clone(), service.clone());
            let started = std::thread::Builder::new()
                .name("web".to_owned())
                .stack_size(512 << 10)
                .spawn(move || {
                    let _place = place;
                    let connection = Connection {
                        stream,
                        ahead: Vec::new(),
                        peer,
                    };
                    // A slow or disconnected client only affects its own response.
                    let _ = converse(connection, &access, service.as_ref());
                });
            // Without a thread, the socket is closed.
            drop(started);
        }
    };
    std::thread::Builder::new()
        .name("web-accept".to_owned())
        .spawn(accept)?;
    Ok(bound)
}

fn refuse(mut stream: TcpStream) {
    let response = Response::text(
        Status::Unavailable,
        "too many connections: try again soon\n",
    );
    let _ = stream.set_write_timeout(Some(Duration::from_millis(100)));
    let _ = stream.write_all(response.head(true).as_bytes());
    let _ = stream.write_all(&response.body);
}

/// Answers the requests of one connection.
fn converse(mut connection: Connection, access: &Access, service: &dyn Service) -> io::Result<()> {
    connection.stream.set_nodelay(true)?;
    for count in 1..=REQUESTS {
        connection.stream.set_read_timeout(Some(TIMEOUT))?;
        connection.stream.set_write_timeout(Some(TIMEOUT))?;
        let mut request = match head(&mut connection)? {
            Some(Ok(request)) => request,
            Some(Err(bad)) => return send(&mut connection, &bad_request(bad), true, true),
            None => return Ok(()),
        };
        let admitted = access.admits(&request);
        if admitted == Admitted::Yes {
            match service.take(&request, &mut connection) {
                Taken::Not => {}
                Taken::Done if !request.close => continue,
                Taken::Done | Taken::Ended => return Ok(()),
            }
        }
        if !body(&mut connection, &mut request)? {
            let response = Response::text(Status::ContentTooLarge, "the body is too long\n");
            return send(&mut connection, &response, true, true);
        }
        let response = respond(&request, admitted, access, service);
        let close = request.close || count == REQUESTS;
        send(&mut connection, &response, request.method != "HEAD", close)?;
        if close {
            return Ok(());
        }
    }
    Ok(())
}

fn respond(
    request: &Request,
    admitted: Admitted,
    access: &Access,
    service: &dyn Service,
) -> Response {
    if admitted == Admitted::OtherHost {
        let text = "this name is not served here: use localhost or an address\n";
        return Response::text(Status::MisdirectedRequest, text);
    }
    if let Some(token) = access.token.as_ref().filter(|_| is_sign_in(request)) {
        let given = request.form("token").unwrap_or_default();
        let given = given.trim();
        if !token.is(given) {
            return service.sign_in(request, true);
        }
        let cookie =
            format!("{COOKIE}={given}; Path=/; HttpOnly; SameSite=Strict; Max-Age={REMEMBERED_S}");
        return Response::see_other("/").field("Set-Cookie", cookie);
    }
    if admitted == Admitted::NoToken {
        return service.sign_in(request, false);
    }
    service.answer(request)
}

/// Returns true if a request brings a token from the form of [`Service::sign_in`].
fn is_sign_in(request: &Request) -> bool {
    request.method == "POST" && request.path == "/token"
}

fn bad_request(bad: BadRequest) -> Response {
    Response::text(Status::BadRequest, format!("{bad}\n"))
}

/// Reads a head; `None` if the client has ended.
fn head(connection: &mut Connection) -> io::Result<Option<Result<Request, BadRequest>>> {
    let until = Instant::now() + TIMEOUT;
    loop {
        match request::parse(&connection.ahead) {
            Ok(Some((request, length))) => {
                connection.ahead.drain(..length);
                return Ok(Some(Ok(request)));
            }
            Ok(None) => {}
            Err(bad) => return Ok(Some(Err(bad))),
        }
        if Instant::now() > until || !more(connection)? {
            return Ok(None);
        }
    }
}

/// Reads the body of a request; false if it is longer than that of a form.
fn body(connection: &mut Connection, request: &mut Request) -> io::Result<bool> {
    if request.length > LARGEST_BODY {
        return Ok(false);
    }
    let length = request.length as usize;
    let until = Instant::now() + TIMEOUT;
    while connection.ahead.len() < length {
        if Instant::now() > until || !more(connection)? {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
    request.body = connection.ahead.drain(..length).collect();
    Ok(true)
}

fn more(connection: &mut Connection) -> io::Result<bool> {
    let mut piece = [0; 2048];
    let n = connection.stream.read(&mut piece)?;
    connection.ahead.extend_from_slice(&piece[..n]);
    Ok(n > 0)
}

pub(crate) fn send(
    connection: &mut Connection,
    response: &Response,
    with_body: bool,
    close: bool,
) -> io::Result<()> {
    let mut bytes = response.head(close).into_bytes();
    if with_body {
        bytes.extend_from_slice(&response.body);
    }
    let until = Instant::now() + LONGEST;
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        let n = connection.stream.write(rest)?;
        if n == 0 || Instant::now() > until {
            return Err(io::ErrorKind::TimedOut.into());
        }
        rest = &rest[n..];
    }
    Ok(())
}

/// Places for connections.
#[derive(Clone, Debug)]
struct Places(Arc<(usize, Mutex<HashMap<IpAddr, usize>>)>);

/// A place that is taken until it is dropped.
struct Place {
    places: Places,
    peer: IpAddr,
}

impl Places {
    fn new(all: usize) -> Self {
        Self(Arc::new((all, Mutex::default())))
    }

    fn take(&self, peer: IpAddr) -> Option<Place> {
        let (all, held) = &*self.0;
        let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
        let own = held.get(&peer).copied().unwrap_or(0);
        if held.values().sum::<usize>() >= *all || own >= all.div_ceil(2) {
            return None;
        }
        held.insert(peer, own + 1);
        Some(Place {
            places: self.clone(),
            peer,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let (_, held) = &*self.places.0;
        let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = held.get_mut(&self.peer) {
            *own -= 1;
            if *own == 0 {
                held.remove(&self.peer);
            }
        }
    }
}

#[cfg(test)]
mod tests;
