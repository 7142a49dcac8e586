//! Probes by connections: the round trip of a SYN and its reply, for hosts that do not answer
//! pings.

use std::{
    io,
    net::{SocketAddr, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use sys::clock::Instant;

use super::shared::Probe;
use crate::spawn;

/// Time after which an unanswered connection counts as lost: before a SYN is retransmitted (1 s,
/// RFC 6298 section 2), so that each probe is one packet.
const TIMEOUT: Duration = Duration::from_millis(900);

/// Running probes by connections, one at a time. Dropping it ends them.
pub struct Connecting {
    stopped: Arc<AtomicBool>,
    probes: Arc<Mutex<Vec<Probe>>>,
    thread: Option<JoinHandle<()>>,
}

impl Connecting {
    /// Starts to probe a port every `every`, or later if a reply takes longer, until finished. A
    /// refused connection is a reply, too.
    ///
    /// # Errors
    /// The host lacks threads.
    pub fn start(address: SocketAddr, every: Duration) -> io::Result<Self> {
        let stopped = Arc::new(AtomicBool::new(false));
        let probes = Arc::new(Mutex::new(Vec::new()));
        let (stop, seen) = (stopped.clone(), probes.clone());
        let run = move || {
            while !stop.load(Ordering::Relaxed) {
                let sent = Instant::now();
                let probe = probe(address, sent);
                seen.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(probe);
                sent.after(every).wait();
            }
        };
        Ok(Self {
            stopped,
            probes,
            thread: Some(spawn("connect", run)?),
        })
    }

    /// The probes so far.
    pub fn so_far(&self) -> Vec<Probe> {
        let probes = self.probes.lock();
        probes.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends it, waits for the last reply, and returns all probes.
    pub fn finish(mut self) -> Vec<Probe> {
        self.end();
        self.so_far()
    }

    fn end(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Connecting {
    fn drop(&mut self) {
        self.end();
    }
}

fn probe(address: SocketAddr, sent: Instant) -> Probe {
    let answered = match TcpStream::connect_timeout(&address, TIMEOUT) {
        Ok(stream) => {
            let took = Instant::now().since(sent);
            // A reset leaves no state on either host.
            let _ = sys::socket::set_abort(&stream);
            Some(took)
        }
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            Some(Instant::now().since(sent))
        }
        Err(_) => None,
    };
    Probe {
        sent,
        rtt_ns: answered.map(|ns| ns.max(0) as u64),
        stamped: false,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::net::TcpListener;

    use super::*;

    #[test]
    fn an_open_and_a_closed_port_both_answer() {
        let open = TcpListener::bind("127.0.0.1:0").unwrap();
        let closed = TcpListener::bind("127.0.0.1:0").unwrap();
        let addresses = [&open, &closed].map(|l| l.local_addr().unwrap());
        drop(closed);
        for address in addresses {
            let probing = Connecting::start(address, Duration::from_millis(2)).unwrap();
            Instant::now().after(Duration::from_millis(50)).wait();
            let probes = probing.finish();
            assert!(probes.len() >= 2, "{address}: {}", probes.len());
            assert!(probes.iter().all(|p| p.rtt_ns.is_some()), "{address}");
        }
    }
}
