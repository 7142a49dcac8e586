//! Latency probes over a socket whose address is proved: sent on a grid of time, answered by the
//! far end, timed by the kernel where it says when a datagram left and came in.

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
    timestamp::{self, Stage, Stamped},
};

use crate::{
    spawn,
    wire::datagram::{Datagram, PROBE},
};

/// Bounds of how long late answers are waited for: three times the longest round trip seen lately.
const TIMEOUT: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];

/// Probes that count as late ones.
const LATE: usize = 512;

/// Running probes. Dropping it ends them.
pub struct Probing {
    stopped: Arc<AtomicBool>,
    /// Set when nobody wants late answers any more.
    dropped: Arc<AtomicBool>,
    shared: Arc<Mutex<Vec<Slot>>>,
    threads: Vec<JoinHandle<()>>,
}

/// A probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// When it was sent.
    pub sent: Instant,
    /// Round trip without the time at the far end, ns; absent = no answer so far.
    pub rtt_ns: Option<u64>,
    /// Whether the kernel said when it was sent; else this program's clock did.
    pub stamped: bool,
}

/// What is known of a probe so far.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// By this program's clock, right before the call, ns.
    called_ns: u64,
    /// By the kernel, when the datagram left for the device's queue, ns.
    queued_ns: Option<u64>,
    /// When the answer came in, by the kernel, ns.
    came_ns: Option<u64>,
    /// How long the far end had it, ns.
    held_ns: u64,
}

impl Slot {
    fn probe(&self) -> Probe {
        let sent_ns = self.queued_ns.unwrap_or(self.called_ns);
        Probe {
            sent: Instant(sent_ns),
            rtt_ns: self
                .came_ns
                .map(|came| came.saturating_sub(sent_ns).saturating_sub(self.held_ns)),
            stamped: self.queued_ns.is_some(),
        }
    }
}

impl Probing {
    /// Starts to probe every `every`, until finished.
    pub fn start(socket: UdpSocket, every: Duration) -> io::Result<Self> {
        socket.set_read_timeout(Some(Duration::from_millis(100)))?;
        let ended = Arc::new(AtomicBool::new(false));
        // From here on, dropping it ends what has started.
        let mut probing = Self {
            stopped: Arc::default(),
            dropped: Arc::default(),
            shared: Arc::default(),
            threads: Vec::new(),
        };
        let receiving = socket.try_clone()?;
        let (probes, done, dropped) = (
            probing.shared.clone(),
            ended.clone(),
            probing.dropped.clone(),
        );
        let receiver = move || receive(&receiving, &done, &dropped, &probes);
        probing.threads.push(spawn("answers", receiver)?);
        let (told, probes) = (probing.stopped.clone(), probing.shared.clone());
        let sender = move || {
            send(socket, every, &told, &probes);
            ended.store(true, Ordering::Relaxed);
        };
        probing.threads.push(spawn("probe", sender)?);
        Ok(probing)
    }

    /// The probes so far.
    pub fn so_far(&self) -> Vec<Probe> {
        lock(&self.shared).iter().map(Slot::probe).collect()
    }

    /// Ends it, waits for late answers, and returns all probes.
    pub fn finish(mut self) -> Vec<Probe> {
        self.end();
        lock(&self.shared).iter().map(Slot::probe).collect()
    }

    fn end(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Drop for Probing {
    fn drop(&mut self) {
        self.dropped.store(true, Ordering::Relaxed);
        self.end();
    }
}

fn lock(probes: &Mutex<Vec<Slot>>) -> std::sync::MutexGuard<'_, Vec<Slot>> {
    probes.lock().unwrap_or_else(PoisonError::into_inner)
}

fn send(socket: UdpSocket, every: Duration, stopped: &AtomicBool, probes: &Mutex<Vec<Slot>>) {
    let mut stamped = Stamped::new(socket);
    let offset = clock::realtime_offset();
    // Numbers of the probes by the numbers of the kernel's stamps: one that could not be sent has
    // none.
    let mut numbers = Vec::new();
    let mut next = Instant::now();
    while !stopped.load(Ordering::Relaxed) {
        next.wait();
        let mut bytes = [0; PROBE];
        let number = {
            let mut probes = lock(probes);
            probes.push(Slot::default());
            probes.len() - 1
        };
        Datagram::Probe {
            number: number as u32,
        }
        .write(&mut bytes);
        let called = Instant::now();
        // A full queue of the own device loses the probe, as it would lose any datagram.
        if stamped.send(&bytes).is_ok() {
            numbers.push(number);
        }
        lock(probes)[number].called_ns = called.0;
        take_stamps(&mut stamped, &numbers, offset, probes);
        let missed = Instant::now().since(next).max(0) as u128 / every.as_nanos().max(1);
        next = next.after(every * (missed as u32 + 1));
    }
    take_stamps(&mut stamped, &numbers, offset, probes);
}

fn take_stamps(stamped: &mut Stamped, numbers: &[usize], offset: u64, probes: &Mutex<Vec<Slot>>) {
    let mut stamps = Vec::new();
    if stamped.transmitted(&mut stamps).is_err() {
        return;
    }
    let mut probes = lock(probes);
    for stamp in stamps.iter().filter(|s| s.stage == Stage::Queued) {
        let number = numbers.get(stamp.id as usize);
        if let Some(slot) = number.and_then(|n| probes.get_mut(*n)) {
            slot.queued_ns = Some(stamp.at_ns.saturating_sub(offset));
        }
    }
}

fn receive(
    socket: &UdpSocket,
    ended: &AtomicBool,
    dropped: &AtomicBool,
    probes: &Mutex<Vec<Slot>>,
) {
    let mut bytes = [0; PROBE];
    let offset = clock::realtime_offset();
    let mut deadline = None;
    loop {
        if let Ok(received) = timestamp::receive(socket, &mut bytes)
            && let Some(Datagram::Answer { number, held_ns }) =
                Datagram::parse(&bytes[..received.len.min(PROBE)])
        {
            let now = || Instant::now().0;
            let at_ns = received
                .at_ns
                .map_or_else(now, |at| at.saturating_sub(offset));
            take(&mut lock(probes), number, at_ns, held_ns);
        }
        if dropped.load(Ordering::Relaxed) {
            return;
        }
        if ended.load(Ordering::Relaxed) {
            let now = Instant::now();
            let probes = lock(probes);
            let until = *deadline.get_or_insert_with(|| now.after(timeout(&probes)));
            if now >= until || late(&probes).all(|s| s.came_ns.is_some()) {
                return;
            }
        }
    }
}

fn late(probes: &[Slot]) -> impl Iterator<Item = &Slot> {
    probes.iter().rev().take(LATE)
}

fn timeout(probes: &[Slot]) -> Duration {
    let longest = late(probes).filter_map(|s| s.probe().rtt_ns).max();
    Duration::from_nanos(3 * longest.unwrap_or(0)).clamp(TIMEOUT[0], TIMEOUT[1])
}

/// The first answer to a number counts.
fn take(probes: &mut [Slot], number: u32, at_ns: u64, held_ns: u32) {
    if let Some(slot) = probes.get_mut(number as usize)
        && slot.came_ns.is_none()
    {
        slot.came_ns = Some(at_ns);
        slot.held_ns = u64::from(held_ns);
    }
}
