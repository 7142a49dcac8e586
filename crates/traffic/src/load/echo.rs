//! Echo service on a connected socket: replies to probes and to sized datagrams.

use std::{io, net::UdpSocket, sync::Arc, thread::JoinHandle, time::Duration};

use sys::{
    clock,
    ring::Reflector,
    socket::{self, Batch},
};

use super::Stop;
use crate::{
    admission::{Amounts, Lease, Need},
    spawn,
    wire::datagram::{Datagram, GREETING, PROBE},
};

/// Largest payload of a UDP datagram over IPv4 (RFC 768, RFC 791).
const LARGEST: usize = 65_507;

/// Resources that its lease must cover.
pub const NEED: Need = Need {
    amounts: Amounts {
        loads: 1,
        threads: 1,
        descriptors: 1,
        ..Amounts::NONE
    },
    duration: None,
    bytes: 0,
};

/// A thread that replies until it is dropped.
pub struct Echo {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
}

impl Echo {
    /// Starts to reply on a connected socket. Replies larger than their requests use a budget of
    /// the whole session.
    ///
    /// # Errors
    /// The host lacks a thread.
    pub fn start(socket: UdpSocket, lease: Lease) -> io::Result<Self> {
        socket.set_read_timeout(Some(Duration::from_millis(100)))?;
        let stop = Arc::new(Stop::new(lease));
        let ending = stop.clone();
        let body = move || Answering::new(&socket, &ending).run();
        let thread = Some(spawn("echo", body)?);
        Ok(Self { stop, thread })
    }
}

/// Returns the probes of the peer of a connected socket until the process ends, without limits and
/// without the holding time: for a lab, whose sockets others cannot reach. Shorter datagrams are
/// returned with the size of a probe, if the kernel does so by itself.
///
/// # Errors
/// The host lacks a thread.
pub fn reflect(socket: UdpSocket) -> io::Result<()> {
    spawn("echo", move || {
        if let Ok(mut by_the_kernel) = Reflector::new(&socket, PROBE) {
            while by_the_kernel.serve().is_ok() {}
        }
        let mut probe = [0; PROBE];
        // An ICMP error for a reply is reported by the next read; the next probe is still answered.
        loop {
            if let Ok(length) = socket.recv(&mut probe) {
                let _ = socket.send(&probe[..length]);
            }
        }
    })?;
    Ok(())
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.stop.set();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Answering<'a> {
    socket: &'a UdpSocket,
    stop: &'a Stop,
    /// Buffer for a sized reply.
    large: Vec<u8>,
}

impl<'a> Answering<'a> {
    fn new(socket: &'a UdpSocket, stop: &'a Stop) -> Self {
        Self {
            socket,
            stop,
            large: Vec::new(),
        }
    }

    fn run(&mut self) {
        // Large datagrams must arrive whole, but only their first bytes are parsed.
        let mut batch = Batch::new(1, GREETING);
        // An error is the ICMP error of an earlier reply, or the timeout.
        while !self.stop.is_set() {
            if batch.receive(self.socket).is_err() {
                continue;
            }
            if self.stop.lease().received(batch.received()).is_err() {
                return;
            }
            for (bytes, time) in batch.datagrams() {
                self.answer(bytes, batch.received() as usize, time);
            }
        }
    }

    /// Replies to a datagram of `asked` bytes that arrived at `time` (CLOCK_REALTIME, ns).
    fn answer(&mut self, bytes: &[u8], asked: usize, time: u64) {
        let lease = self.stop.lease();
        match Datagram::parse(bytes) {
            Some(Datagram::Probe { number }) => {
                // Truncated, so that a reply is not longer than its probe.
                let size = asked.min(PROBE);
                if !lease.may_answer(asked, size) {
                    return;
                }
                let mut out = [0; PROBE];
                let held_ns = held_ns(time);
                Datagram::Answer { number, held_ns }.write(&mut out);
                let _ = self.socket.send(&out[..size]);
            }
            // The reply to the first one was lost.
            Some(Datagram::Prove(token, _)) if lease.may_answer(asked, GREETING) => {
                let _ = self.socket.send(&Datagram::Proved(token).greeting());
            }
            Some(Datagram::SizedAsk { number, payload }) => {
                let wanted = usize::from(payload).clamp(PROBE, LARGEST);
                if !lease.may_answer(asked, wanted) {
                    return;
                }
                self.large.resize(LARGEST, 0);
                let out = &mut self.large[..wanted];
                Datagram::Sized { number, payload }.write(out);
                let _ = socket::set_mtu_discovery(self.socket, socket::MtuDiscovery::Probe);
                let _ = self.socket.send(out);
            }
            _ => {}
        }
    }
}

/// Returns the time since a datagram arrived at `time` (CLOCK_REALTIME, ns), by the same clock: one
/// that is set in between, which other clocks are not, is 0 or the longest.
fn held_ns(time: u64) -> u32 {
    let held = clock::realtime_ns().saturating_sub(time);
    u32::try_from(held).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn pair() -> (UdpSocket, UdpSocket) {
        let [near, far] = [0; 2].map(|_| UdpSocket::bind("127.0.0.1:0").unwrap());
        near.connect(far.local_addr().unwrap()).unwrap();
        far.connect(near.local_addr().unwrap()).unwrap();
        near.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        (near, far)
    }

    /// Bug: the time was the difference of two clocks, whose distance had been read when the
    /// service began: an hour by which the far host's clock was set since then was subtracted from
    /// each round trip, which became 0.
    #[test]
    fn the_time_at_the_far_end_is_that_of_one_clock() {
        let held = |ago_ns: u64| held_ns(clock::realtime_ns() - ago_ns);
        assert!((1_000_000..1_000_000_000).contains(&held(1_000_000)));
        let ahead = clock::realtime_ns() + 3_600_000_000_000;
        assert_eq!(held_ns(ahead), 0, "set back in between");
    }

    #[test]
    fn a_reply_is_not_longer_than_its_probe() {
        let (near, far) = pair();
        let _echo = Echo::start(far, Lease::own(Duration::MAX, None, None)).unwrap();
        for size in [5, 8, PROBE, 100] {
            let mut probe = vec![0; size];
            Datagram::Probe { number: 7 }.write(&mut probe);
            near.send(&probe).unwrap();
            let mut answer = [0; 200];
            let n = near.recv(&mut answer).unwrap();
            assert_eq!(n, size.min(PROBE));
            if size >= PROBE {
                let answer = Datagram::parse(&answer[..n]);
                assert!(matches!(answer, Some(Datagram::Answer { number: 7, .. })));
            }
        }
    }
}
