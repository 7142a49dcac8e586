//! Latency probes over a socket whose address is proved: sent on a grid of time, answered by the
//! far end, timed by the kernel where it says when a datagram came in.

use std::{
    io,
    net::UdpSocket,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use sys::{
    clock::{self, Instant},
    socket::Batch,
};

use crate::{
    spawn,
    wire::datagram::{Datagram, PROBE},
};

/// Bounds of how long late answers are waited for: three times the longest round trip seen lately.
const PATIENCE: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];

/// Probes that count as late ones.
const LATE: usize = 512;

/// Running probes.
pub struct Probing {
    stopped: Arc<AtomicBool>,
    shared: Arc<Mutex<Vec<Probe>>>,
    sender: JoinHandle<()>,
    receiver: JoinHandle<()>,
}

/// A probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// When it was sent.
    pub sent: Instant,
    /// Round trip without the time at the far end, ns; absent = no answer so far.
    pub rtt_ns: Option<u64>,
}

impl Probing {
    /// Starts to probe every `every`, until finished.
    pub fn start(socket: UdpSocket, every: Duration) -> io::Result<Self> {
        socket.set_read_timeout(Some(Duration::from_millis(100)))?;
        let stopped = Arc::new(AtomicBool::new(false));
        let shared = Arc::new(Mutex::new(Vec::new()));
        let ended = Arc::new(AtomicBool::new(false));
        let receiving = socket.try_clone()?;
        let (told, probes, done) = (stopped.clone(), shared.clone(), ended.clone());
        let sender = spawn("probe", move || {
            send(&socket, every, &told, &probes);
            done.store(true, Ordering::Relaxed);
        })?;
        let probes = shared.clone();
        let receiver = spawn("answers", move || receive(&receiving, &ended, &probes))?;
        Ok(Self {
            stopped,
            shared,
            sender,
            receiver,
        })
    }

    /// The probes so far.
    pub fn so_far(&self) -> Vec<Probe> {
        lock(&self.shared).clone()
    }

    /// Ends it, waits for late answers, and returns all probes.
    pub fn finish(self) -> Vec<Probe> {
        self.stopped.store(true, Ordering::Relaxed);
        let _ = self.sender.join();
        let _ = self.receiver.join();
        std::mem::take(&mut *lock(&self.shared))
    }
}

fn lock(probes: &Mutex<Vec<Probe>>) -> std::sync::MutexGuard<'_, Vec<Probe>> {
    probes.lock().unwrap_or_else(PoisonError::into_inner)
}

fn send(socket: &UdpSocket, every: Duration, stopped: &AtomicBool, probes: &Mutex<Vec<Probe>>) {
    let mut next = Instant::now();
    while !stopped.load(Ordering::Relaxed) {
        next.wait();
        let mut bytes = [0; PROBE];
        let number = {
            let mut probes = lock(probes);
            probes.push(Probe {
                sent: Instant::now(),
                rtt_ns: None,
            });
            probes.len() as u32 - 1
        };
        Datagram::Probe { number }.write(&mut bytes);
        // Read after the work and right before the call.
        let sent = Instant::now();
        lock(probes)[number as usize].sent = sent;
        // A full queue of the own device loses the probe, as it would lose any datagram.
        let _ = socket.send(&bytes);
        let missed = Instant::now().since(next).max(0) as u128 / every.as_nanos().max(1);
        next = next.after(every * (missed as u32 + 1));
    }
}

fn receive(socket: &UdpSocket, ended: &AtomicBool, probes: &Mutex<Vec<Probe>>) {
    let mut batch = Batch::new(1, PROBE);
    let offset = clock::realtime_offset();
    let mut deadline = None;
    loop {
        if batch.receive(socket).is_ok() {
            for (bytes, time) in batch.datagrams() {
                if let Some(Datagram::Answer { number, held_ns }) = Datagram::parse(bytes) {
                    take(
                        &mut lock(probes),
                        number,
                        time.saturating_sub(offset),
                        held_ns,
                    );
                }
            }
        }
        if ended.load(Ordering::Relaxed) {
            let now = Instant::now();
            let probes = lock(probes);
            let until = *deadline.get_or_insert_with(|| now.after(patience(&probes)));
            if now >= until || late(&probes).all(|p| p.rtt_ns.is_some()) {
                return;
            }
        }
    }
}

fn late(probes: &[Probe]) -> impl Iterator<Item = &Probe> {
    probes.iter().rev().take(LATE)
}

fn patience(probes: &[Probe]) -> Duration {
    let longest = late(probes).filter_map(|p| p.rtt_ns).max().unwrap_or(0);
    Duration::from_nanos(3 * longest).clamp(PATIENCE[0], PATIENCE[1])
}

/// The first answer to a number counts.
fn take(probes: &mut [Probe], number: u32, at_ns: u64, held_ns: u32) {
    if let Some(probe) = probes.get_mut(number as usize)
        && probe.rtt_ns.is_none()
    {
        let whole = at_ns.saturating_sub(probe.sent.0);
        probe.rtt_ns = Some(whole.saturating_sub(u64::from(held_ns)));
    }
}
