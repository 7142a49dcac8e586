//! Latency probes over a connected socket: small datagrams at fixed intervals, answered by the far
//! end; ICMP echo requests, answered by any host; or connections.

pub mod connect;
mod format;
mod receive;
mod schedule;
mod send;
mod shared;

use std::{
    io,
    net::UdpSocket,
    sync::{Arc, atomic::Ordering},
    thread::JoinHandle,
    time::Duration,
};

use model::text;
use sys::{clock::Instant, socket::icmp::Echo};

use crate::{
    spawn,
    wire::datagram::{Datagram, PROBE},
};
use format::Format;
use shared::Shared;

pub use schedule::{Schedule, Timing};
pub use shared::Probe;

/// Running probes. Dropping it ends them.
pub struct Probing {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Probing {
    /// Starts to probe every `every`, from now until finished.
    ///
    /// # Errors
    /// The host lacks threads or descriptors.
    pub fn start(socket: UdpSocket, every: Duration) -> io::Result<Self> {
        let schedule = Schedule {
            first: Instant::now(),
            every,
            end: None,
            timing: Timing::Kernel,
        };
        Self::scheduled(socket, schedule)
    }

    /// Starts to probe with ICMP echo requests every `every`, from now until finished; socket and
    /// echo are those of [`sys::socket::icmp::echo_socket`].
    ///
    /// # Errors
    /// The host lacks threads or descriptors.
    pub fn icmp((socket, echo): (UdpSocket, Echo), every: Duration) -> io::Result<Self> {
        let schedule = Schedule {
            first: Instant::now(),
            every,
            end: None,
            timing: Timing::Kernel,
        };
        Self::formatted(socket, schedule, Format::Icmp(echo))
    }

    /// Starts to probe.
    ///
    /// # Errors
    /// The host lacks threads or descriptors.
    pub fn scheduled(socket: UdpSocket, schedule: Schedule) -> io::Result<Self> {
        Self::formatted(socket, schedule, Format::Own)
    }

    fn formatted(socket: UdpSocket, schedule: Schedule, format: Format) -> io::Result<Self> {
        // From here on, dropping it ends the started threads.
        let mut probing = Self {
            shared: Arc::new(Shared::new(format)),
            threads: Vec::new(),
        };
        if schedule.timing == Timing::Kernel {
            probing.shared.offset();
        }
        let mut reader = receive::Reader::new(socket.try_clone()?, schedule)?;
        let shared = probing.shared.clone();
        let receiver = move || receive::run(&mut reader, &shared);
        probing.threads.push(spawn("answers", receiver)?);
        let shared = probing.shared.clone();
        let sender = move || {
            send::run(socket, schedule, &shared);
            shared.all_sent.store(true, Ordering::Relaxed);
        };
        probing.threads.push(spawn("probe", sender)?);
        Ok(probing)
    }

    /// The probes so far.
    pub fn so_far(&self) -> Vec<Probe> {
        self.shared.probes()
    }

    /// Ends it, waits for late replies, and returns all probes.
    pub fn finish(mut self) -> Vec<Probe> {
        self.end();
        self.shared.probes()
    }

    fn end(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Drop for Probing {
    fn drop(&mut self) {
        self.shared.dropped.store(true, Ordering::Relaxed);
        self.end();
    }
}

/// Waits for the first reply on a connected `socket`, after which routes, neighbours and tunnels
/// are up. Sends a datagram per second, up to `tries`.
///
/// # Errors
/// No reply arrived.
pub fn await_path(socket: &UdpSocket, tries: u32) -> io::Result<()> {
    socket.set_read_timeout(Some(Duration::from_secs(1)))?;
    let mut ask = [0; 8];
    Datagram::Probe { number: u32::MAX }.write(&mut ask);
    let mut answer = [0; PROBE];
    for _ in 0..tries {
        let _ = socket.send(&ask);
        if socket.recv(&mut answer).is_ok() {
            return Ok(());
        }
    }
    Err(io::Error::new(
        io::ErrorKind::TimedOut,
        text!(
            "no answer to {tries} datagrams over the path",
            tries = tries
        ),
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::load::echo;

    /// Loopback replies to echo requests by itself. If no socket for them is permitted, nothing is
    /// tested.
    #[test]
    fn echo_requests_are_answered_in_order() {
        let local = "127.0.0.1".parse().unwrap();
        let Ok(echo) = sys::socket::icmp::echo_socket(local, 4711) else {
            return;
        };
        let probing = Probing::icmp(echo, Duration::from_millis(5)).unwrap();
        Instant::now().after(Duration::from_millis(100)).wait();
        let probes = probing.finish();
        assert!(probes.len() >= 2, "{}", probes.len());
        assert!(probes.iter().all(|probe| probe.rtt_ns.is_some()));
        assert!(probes.is_sorted_by_key(|probe| probe.sent));
    }

    #[test]
    fn probes_of_a_schedule_are_sent_on_its_grid_and_answered() {
        for timing in [Timing::Kernel, Timing::Virtual] {
            let any = "127.0.0.1:0".parse().unwrap();
            let far = sys::socket::udp(any).unwrap();
            let near = sys::socket::udp(any).unwrap();
            near.connect(far.local_addr().unwrap()).unwrap();
            far.connect(near.local_addr().unwrap()).unwrap();
            echo::reflect(far).unwrap();
            await_path(&near, 3).unwrap();
            let first = Instant::now().after(Duration::from_millis(20));
            let every = Duration::from_millis(5);
            let schedule = Schedule {
                first,
                every,
                end: Some(first.after(every * 10)),
                timing,
            };
            let probing = Probing::scheduled(near, schedule).unwrap();
            schedule.end.unwrap().after(every).wait();
            let probes = probing.finish();
            // A busy host may skip probes, virtual time does not.
            let most = if timing == Timing::Virtual { 10 } else { 1 };
            assert!((most..=10).contains(&probes.len()), "{}", probes.len());
            assert!(probes.iter().all(|probe| probe.rtt_ns.is_some()));
            let on_grid = |probe: &Probe| probe.sent.since(first) % 5_000_000 == 0;
            assert!(timing == Timing::Kernel || probes.iter().all(on_grid));
        }
    }
}
