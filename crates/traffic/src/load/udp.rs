//! Datagrams at a rate over sockets whose address is proved.

use std::{
    io,
    net::UdpSocket,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use sys::{
    clock::{self, Instant},
    socket::{self, Batch},
};

use super::{budget::Budget, count::Counter};
use crate::{
    spawn,
    wire::{
        datagram::{DATA_HEADER, Datagram},
        message::UdpOutcome,
    },
};

/// Most datagrams one call sends: what a late wake-up may let out at once.
const BURST: usize = 32;

/// What is agreed on of a load.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Bit/s of payload.
    pub rate_bps: u64,
    /// Payload bytes of a datagram.
    pub payload: usize,
    /// When it starts.
    pub zero: Instant,
    /// How long it is sent.
    pub duration: Duration,
    /// Bytes to send or take at most; the load ends with it.
    pub budget: Budget,
}

/// This end's half of a running load.
pub struct UdpLoad {
    stopped: Arc<AtomicBool>,
    count: Arc<AtomicU64>,
    thread: JoinHandle<UdpOutcome>,
}

impl UdpLoad {
    /// Starts to send.
    pub fn send(socket: UdpSocket, terms: Terms) -> io::Result<Self> {
        socket::set_buffers(&socket, 1 << 20, 1 << 20)?;
        Self::start("udp", move |stopped, count| {
            send(&socket, &terms, stopped, count)
        })
    }

    /// Starts to count what comes.
    pub fn receive(socket: UdpSocket, terms: Terms) -> io::Result<Self> {
        socket::set_buffers(&socket, 8 << 20, 1 << 20)?;
        socket.set_read_timeout(Some(Duration::from_millis(20)))?;
        Self::start("udp", move |stopped, count| {
            receive(&socket, &terms, stopped, count)
        })
    }

    fn start(
        name: &str,
        body: impl FnOnce(&AtomicBool, &AtomicU64) -> UdpOutcome + Send + 'static,
    ) -> io::Result<Self> {
        let (stopped, count) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicU64::new(0)),
        );
        let (told, counted) = (stopped.clone(), count.clone());
        let thread = spawn(name, move || body(&told, &counted))?;
        Ok(Self {
            stopped,
            count,
            thread,
        })
    }

    /// Payload bytes sent or received so far.
    pub fn bytes(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Ends the half and says what it saw.
    pub fn finish(self) -> UdpOutcome {
        self.stopped.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_default()
    }
}

fn send(socket: &UdpSocket, terms: &Terms, stopped: &AtomicBool, count: &AtomicU64) -> UdpOutcome {
    let payload = terms.payload.max(DATA_HEADER);
    let every_ns = (payload as u128 * 8_000_000_000 / u128::from(terms.rate_bps.max(1))).max(1);
    let total = terms.duration.as_nanos().div_ceil(every_ns) as u64;
    let due = |number: u64| (u128::from(number) * every_ns) as u64;
    let mut datagrams = vec![vec![0; payload]; BURST];
    let mut outcome = UdpOutcome::default();
    while outcome.sent < total && !stopped.load(Ordering::Relaxed) {
        terms
            .zero
            .after(Duration::from_nanos(due(outcome.sent)))
            .wait();
        let late = Instant::now().since(terms.zero).max(0) as u128;
        // All that is due by now, at least the one that was waited for.
        let ready = (late / every_ns + 1).saturating_sub(u128::from(outcome.sent)) as u64;
        let n = ready.clamp(1, BURST as u64).min(total - outcome.sent) as usize;
        for (datagram, number) in datagrams.iter_mut().zip(outcome.sent..).take(n) {
            let sent_ns = terms.zero.0.wrapping_add(due(number));
            Datagram::Data { number, sent_ns }.write(datagram);
        }
        if terms.budget.reserve((n * payload) as u64).is_err() {
            break;
        }
        match socket::send_batch(socket, &datagrams[..n]) {
            Ok(sent) => outcome.sent += sent as u64,
            // A full queue of the own device, or word that nobody listens: datagrams are lost here.
            Err(_) => {
                outcome.refused += n as u64;
                outcome.sent += n as u64;
            }
        }
        count.store(outcome.sent * payload as u64, Ordering::Relaxed);
    }
    outcome.span_ns = Instant::now().since(terms.zero).max(0) as u64;
    outcome
}

fn receive(
    socket: &UdpSocket,
    terms: &Terms,
    stopped: &AtomicBool,
    count: &AtomicU64,
) -> UdpOutcome {
    let per_second = terms.rate_bps / (terms.payload.max(1) as u64 * 8);
    let mut batch = Batch::new((per_second / 100).clamp(1, 64) as usize, DATA_HEADER);
    let mut counter = Counter::default();
    let offset = clock::realtime_offset();
    let mut window = Window::new(terms.duration);
    loop {
        match batch.receive(socket) {
            Ok(n) => {
                if terms.budget.spend((n * terms.payload) as u64).is_err() {
                    break;
                }
                for (bytes, time) in batch.datagrams() {
                    if let Some(Datagram::Data { number, sent_ns }) = Datagram::parse(bytes) {
                        let at = time.saturating_sub(offset);
                        counter.count(number, at.wrapping_sub(sent_ns) as i64);
                        window.take(at);
                    }
                }
                count.store(counter.received * terms.payload as u64, Ordering::Relaxed);
            }
            Err(_) if stopped.load(Ordering::Relaxed) => break,
            Err(_) => {}
        }
    }
    let (received, highest) = (counter.received, counter.highest);
    let (reordered, duplicates, jitter_ns) =
        (counter.reordered, counter.duplicates, counter.jitter_ns());
    let runs = counter.runs(highest);
    UdpOutcome {
        sent: 0,
        refused: 0,
        span_ns: window
            .last
            .saturating_sub(window.first.unwrap_or(window.last)),
        received,
        highest,
        reordered,
        duplicates,
        jitter_ns,
        loss_runs: runs.count,
        longest_loss: runs.longest,
        late_received: window.late.saturating_sub(1),
        late_span_ns: window
            .last
            .saturating_sub(window.late_first.unwrap_or(window.last)),
    }
}

/// First and last arrival, of all and of the second half of the time.
struct Window {
    half_ns: u64,
    first: Option<u64>,
    last: u64,
    late_first: Option<u64>,
    late: u64,
}

impl Window {
    fn new(duration: Duration) -> Self {
        Self {
            half_ns: duration.as_nanos() as u64 / 2,
            first: None,
            last: 0,
            late_first: None,
            late: 0,
        }
    }

    fn take(&mut self, at: u64) {
        let first = *self.first.get_or_insert(at);
        self.last = self.last.max(at);
        if at >= first + self.half_ns {
            self.late_first.get_or_insert(at);
            self.late += 1;
        }
    }
}
