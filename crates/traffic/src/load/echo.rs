//! Answers to probes and to datagrams whose size matters, on a socket whose address is proved.

use std::{
    io,
    net::UdpSocket,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use sys::{
    clock::{self, Instant},
    socket::{self, Batch},
};

use crate::{
    spawn,
    wire::datagram::{Datagram, GREETING, PROBE},
};

/// Largest payload of a UDP datagram over IPv4 (RFC 768, RFC 791).
const LARGEST: usize = 65_507;

/// Answers to large datagrams in one session, bytes; a search for a path's MTU needs far less.
const SIZED_BUDGET: usize = 8 << 20;

/// A thread that answers.
pub struct Echo {
    stopped: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Echo {
    /// Starts to answer on a connected socket.
    pub fn start(socket: UdpSocket) -> io::Result<Self> {
        socket.set_read_timeout(Some(Duration::from_millis(100)))?;
        let stopped = Arc::new(AtomicBool::new(false));
        let told = stopped.clone();
        let thread = spawn("echo", move || answer(&socket, &told))?;
        Ok(Self { stopped, thread })
    }

    /// Ends it.
    pub fn finish(self) {
        self.stopped.store(true, Ordering::Relaxed);
        let _ = self.thread.join();
    }
}

fn answer(socket: &UdpSocket, stopped: &AtomicBool) {
    // Large datagrams must arrive whole, but only their first bytes are looked at.
    let mut batch = Batch::new(1, GREETING);
    let mut large = vec![0; LARGEST];
    let mut budget = SIZED_BUDGET;
    let offset = clock::realtime_offset();
    // An error is word of an earlier answer that found nobody, or the end of the patience.
    while !stopped.load(Ordering::Relaxed) {
        let Ok(_) = batch.receive(socket) else {
            continue;
        };
        for (bytes, time) in batch.datagrams() {
            match Datagram::parse(bytes) {
                Some(Datagram::Probe { number }) => {
                    let mut out = [0; PROBE];
                    let held = Instant::now().0.saturating_sub(time.saturating_sub(offset));
                    let held_ns = u32::try_from(held).unwrap_or(u32::MAX);
                    Datagram::Answer { number, held_ns }.write(&mut out);
                    let _ = socket.send(&out);
                }
                // The answer to the first one was lost.
                Some(Datagram::Prove(token, _)) => {
                    let _ = socket.send(&Datagram::Proved(token).greeting());
                }
                Some(Datagram::SizedAsk { number, payload }) => {
                    let wanted = usize::from(payload).clamp(PROBE, LARGEST);
                    if wanted > budget {
                        continue;
                    }
                    budget -= wanted;
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
