//! Answers to probes and to datagrams whose size matters, on a socket whose address is proved.

use std::{io, net::UdpSocket, sync::Arc, thread::JoinHandle, time::Duration};

use sys::{
    clock::{self, Instant},
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

/// What a lease of it must have been asked for.
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

/// A thread that answers, until it is dropped.
pub struct Echo {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
}

impl Echo {
    /// Starts to answer on a connected socket. Answers larger than what asked for them draw from a
    /// budget of the whole session.
    ///
    /// # Errors
    /// The host lacks a thread.
    pub fn start(socket: UdpSocket, lease: Lease) -> io::Result<Self> {
        socket.set_read_timeout(Some(Duration::from_millis(100)))?;
        let stop = Arc::new(Stop::new(lease));
        let told = stop.clone();
        let thread = Some(spawn("echo", move || answer(&socket, &told))?);
        Ok(Self { stop, thread })
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.stop.set();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn answer(socket: &UdpSocket, stop: &Stop) {
    // Large datagrams must arrive whole, but only their first bytes are looked at.
    let mut batch = Batch::new(1, GREETING);
    let mut large = vec![0; LARGEST];
    let offset = clock::realtime_offset();
    let lease = stop.lease();
    // An error is word of an earlier answer that found nobody, or the end of the timeout.
    while !stop.is_set() {
        if batch.receive(socket).is_err() {
            continue;
        }
        if lease.received(batch.received()).is_err() {
            return;
        }
        let asked = batch.received() as usize;
        for (bytes, time) in batch.datagrams() {
            match Datagram::parse(bytes) {
                Some(Datagram::Probe { number }) if lease.may_answer(asked, PROBE) => {
                    let mut out = [0; PROBE];
                    let held = Instant::now().0.saturating_sub(time.saturating_sub(offset));
                    let held_ns = u32::try_from(held).unwrap_or(u32::MAX);
                    Datagram::Answer { number, held_ns }.write(&mut out);
                    let _ = socket.send(&out);
                }
                // The answer to the first one was lost.
                Some(Datagram::Prove(token, _)) if lease.may_answer(asked, GREETING) => {
                    let _ = socket.send(&Datagram::Proved(token).greeting());
                }
                Some(Datagram::SizedAsk { number, payload }) => {
                    let wanted = usize::from(payload).clamp(PROBE, LARGEST);
                    if !lease.may_answer(asked, wanted) {
                        continue;
                    }
                    let out = &mut large[..wanted];
                    Datagram::Sized { number, payload }.write(out);
                    let _ = socket::set_mtu_discovery(socket, socket::MtuDiscovery::Probe);
                    let _ = socket.send(out);
                }
                _ => {}
            }
        }
    }
}
