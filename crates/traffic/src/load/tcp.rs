//! Bulk TCP over connections that exist: one end always has something to send, the other reads.

use std::{
    fs::File,
    io,
    net::{Shutdown, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use sys::{clock::Instant, socket};

use super::looks::Looker;
use crate::{spawn, tcp::Role, wire::message::TcpOutcome};

/// Bytes of the file that is sent over and over. It is small, so that it stays in the processor's
/// cache and a server's memory, and a call still moves many packets.
const CHUNK: u64 = 1 << 20;

/// Bytes of the receiver's buffer.
const BUFFER: usize = 256 << 10;

/// What is agreed on of a load.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Whether this end sends.
    pub role: Role,
    /// When it starts: zero of all times.
    pub zero: Instant,
    /// How long the sender sends.
    pub duration: Duration,
    /// From one look to the next.
    pub look: Duration,
    /// Highest rate of each connection, bit/s, if there is one.
    pub rate_bps: Option<u64>,
    /// Most bytes to send or take, all connections together, if there is a bound.
    pub bytes: Option<u64>,
}

/// This end's half of a running load.
pub struct TcpLoad {
    streams: Vec<Arc<TcpStream>>,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    looker: Looker,
    cc_used: Vec<String>,
}

#[derive(Default)]
struct Shared {
    stopped: AtomicBool,
    bytes: AtomicU64,
    errors: Mutex<Vec<String>>,
}

impl Shared {
    fn add(&self, n: usize, terms: &Terms) -> io::Result<()> {
        let sum = self.bytes.fetch_add(n as u64, Ordering::Relaxed) + n as u64;
        match terms.bytes {
            Some(most) if sum > most => Err(io::Error::other("the limit of bytes is reached")),
            _ => Ok(()),
        }
    }
}

impl TcpLoad {
    /// Starts this end's half.
    pub fn start(streams: Vec<TcpStream>, terms: Terms) -> io::Result<Self> {
        let streams: Vec<_> = streams.into_iter().map(Arc::new).collect();
        let shared = Arc::new(Shared::default());
        let file = Arc::new(socket::zeroes(CHUNK)?);
        let mut threads = Vec::new();
        for stream in &streams {
            if let (Role::Sender, Some(bps)) = (terms.role, terms.rate_bps) {
                socket::set_max_pacing(&**stream, bps / 8)?;
            }
            threads.push(half(stream.clone(), terms, shared.clone(), file.clone())?);
        }
        let looker = Looker::start(streams.clone(), terms.zero, terms.look, terms.duration)?;
        let cc_used = streams
            .iter()
            .filter_map(|stream| socket::congestion(stream).ok())
            .collect();
        Ok(Self {
            streams,
            shared,
            threads,
            looker,
            cc_used,
        })
    }

    /// Payload bytes that this end has sent (given to its kernel) or read so far.
    pub fn bytes(&self) -> u64 {
        self.shared.bytes.load(Ordering::Relaxed)
    }

    /// Ends the half: what is still queued is thrown away, not sent.
    pub fn finish(self) -> TcpOutcome {
        // The last look must come before the sockets are shut.
        let flows = self.looker.finish();
        self.shared.stopped.store(true, Ordering::Relaxed);
        for stream in &self.streams {
            let _ = socket::set_abort(stream);
            let _ = stream.shutdown(Shutdown::Both);
        }
        for thread in self.threads {
            let _ = thread.join();
        }
        let errors = std::mem::take(
            &mut *self
                .shared
                .errors
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
        TcpOutcome {
            flows,
            cc_used: self.cc_used,
            errors,
        }
    }
}

fn half(
    stream: Arc<TcpStream>,
    terms: Terms,
    shared: Arc<Shared>,
    file: Arc<File>,
) -> io::Result<JoinHandle<()>> {
    spawn("bulk", move || {
        terms.zero.wait();
        let result = match terms.role {
            Role::Sender => send(&stream, &terms, &shared, &file),
            Role::Receiver => receive(&stream, &terms, &shared),
        };
        if let Err(error) = result
            && !shared.stopped.load(Ordering::Relaxed)
            && Instant::now() < terms.zero.after(terms.duration)
        {
            shared
                .errors
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(error.to_string());
        }
    })
}

/// Sends until the time is over. The connection stays open: closing is up to `finish`, once the
/// last look has been taken.
fn send(stream: &TcpStream, terms: &Terms, shared: &Shared, file: &File) -> io::Result<()> {
    let end = terms.zero.after(terms.duration);
    while !shared.stopped.load(Ordering::Relaxed) && Instant::now() < end {
        let n = socket::send_file(stream, file, CHUNK as usize)?;
        shared.add(n, terms)?;
    }
    Ok(())
}

fn receive(stream: &TcpStream, terms: &Terms, shared: &Shared) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    while !shared.stopped.load(Ordering::Relaxed) {
        match socket::receive_whole(stream, &mut buffer)? {
            0 => return Ok(()),
            n => shared.add(n, terms)?,
        }
    }
    Ok(())
}
