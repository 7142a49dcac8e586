//! Datagrams at a rate over sockets whose address is proved.

use std::{
    io,
    net::UdpSocket,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use sys::{
    clock::{self, Instant},
    socket::{self, Batch},
};

use super::{Stop, count::Counter};
use crate::{
    admission::{Amounts, Lease, Need},
    spawn,
    wire::{
        datagram::{DATA_HEADER, Datagram},
        message::{UdpOrder, UdpOutcome},
    },
};

/// Most datagrams one call sends: what a late wake-up may let out at once.
const BURST: usize = 32;

/// Bytes of the kernel's buffers of a receiver and of a sender.
const RECEIVE_BUFFER: usize = 8 << 20;
const SEND_BUFFER: usize = 1 << 20;

/// How long one call waits for datagrams.
const WAIT: Duration = Duration::from_millis(20);

/// How long after the time of a load datagrams may still be under way: slow lines have queues of
/// seconds.
const UNDER_WAY: Duration = Duration::from_secs(6);

/// What is agreed on of a load.
#[derive(Clone, Debug)]
pub struct Config {
    /// Bit/s of payload.
    pub rate_bps: u64,
    /// Payload bytes of a datagram.
    pub payload: usize,
    /// When it starts.
    pub zero: Instant,
    /// How long it is sent, and what bounds both ends.
    pub lease: Lease,
}

/// What a lease of a load must have been asked for.
pub fn need(order: &UdpOrder) -> Need {
    let duration = Duration::from_micros(order.duration_us);
    let bytes = order.rate_bps as f64 / 8.0 * duration.as_secs_f64();
    let (memory, send_bps, receive_bps) = if order.send {
        let datagrams = BURST * order.payload as usize;
        (SEND_BUFFER + datagrams, order.rate_bps, 0)
    } else {
        (RECEIVE_BUFFER, 0, order.rate_bps)
    };
    Need {
        amounts: Amounts {
            loads: 1,
            threads: 1,
            descriptors: 1,
            memory: memory as u64,
            send_bps,
            receive_bps,
            ..Amounts::NONE
        },
        duration: Some(duration),
        bytes: bytes as u64,
    }
}

/// This end's half of a running load. Dropping it ends it.
pub struct UdpLoad {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<UdpOutcome>>,
}

struct Shared {
    stop: Stop,
    count: AtomicU64,
}

impl UdpLoad {
    /// Starts to send.
    ///
    /// # Errors
    /// The host lacks a thread or memory for the socket.
    pub fn send(socket: UdpSocket, config: Config) -> io::Result<Self> {
        socket::set_buffers(&socket, SEND_BUFFER, SEND_BUFFER)?;
        Self::start(config, move |config, shared| send(&socket, config, shared))
    }

    /// Starts to count what comes. It ends by itself soon after its time, or when more has come
    /// than was agreed on.
    ///
    /// # Errors
    /// The host lacks a thread or memory for the socket.
    pub fn receive(socket: UdpSocket, config: Config) -> io::Result<Self> {
        socket::set_buffers(&socket, RECEIVE_BUFFER, SEND_BUFFER)?;
        socket.set_read_timeout(Some(WAIT))?;
        Self::start(config, move |config, shared| {
            receive(&socket, config, shared)
        })
    }

    fn start(
        config: Config,
        body: impl FnOnce(&Config, &Shared) -> UdpOutcome + Send + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            stop: Stop::new(config.lease.clone()),
            count: AtomicU64::new(0),
        });
        let told = shared.clone();
        let thread = spawn("udp", move || body(&config, &told))?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Payload bytes sent or received so far.
    pub fn bytes(&self) -> u64 {
        self.shared.count.load(Ordering::Relaxed)
    }

    /// Ends the half and says what it saw.
    pub fn finish(mut self) -> UdpOutcome {
        self.end()
    }

    fn end(&mut self) -> UdpOutcome {
        self.shared.stop.set();
        let joined = self.thread.take().map(JoinHandle::join);
        joined.and_then(Result::ok).unwrap_or_default()
    }
}

impl Drop for UdpLoad {
    fn drop(&mut self) {
        self.end();
    }
}

fn send(socket: &UdpSocket, config: &Config, shared: &Shared) -> UdpOutcome {
    let (stop, lease) = (&shared.stop, &config.lease);
    let payload = config.payload.max(DATA_HEADER);
    let every_ns = (payload as u128 * 8_000_000_000 / u128::from(config.rate_bps.max(1))).max(1);
    let total = lease.duration().as_nanos().div_ceil(every_ns) as u64;
    let due = |number: u64| (u128::from(number) * every_ns) as u64;
    let deadline = lease.deadline(config.zero);
    let mut datagrams = vec![vec![0; payload]; BURST];
    let mut outcome = UdpOutcome::default();
    while outcome.sent < total && !stop.is_set() {
        let next = config.zero.after(Duration::from_nanos(due(outcome.sent)));
        if every_ns > WAIT.as_nanos() {
            stop.pause(Some(next));
        }
        if stop.is_set() {
            break;
        }
        next.wait();
        let now = Instant::now();
        if now > deadline {
            break;
        }
        let late = now.since(config.zero).max(0) as u128;
        // All that is due by now, at least the one that was waited for.
        let ready = (late / every_ns + 1).saturating_sub(u128::from(outcome.sent)) as u64;
        let n = ready.clamp(1, BURST as u64).min(total - outcome.sent) as usize;
        let Ok(n) = lease.take_datagrams(payload, n) else {
            break;
        };
        for (datagram, number) in datagrams.iter_mut().zip(outcome.sent..).take(n) {
            let sent_ns = config.zero.0.wrapping_add(due(number));
            Datagram::Data { number, sent_ns }.write(datagram);
        }
        let went = match socket::send_batch(socket, &datagrams[..n]) {
            Ok(went) => went,
            // A full queue of the own device, or word that nobody listens: datagrams are lost here.
            Err(_) => {
                outcome.refused += n as u64;
                n
            }
        };
        outcome.sent += went as u64;
        shared
            .count
            .store(outcome.sent * payload as u64, Ordering::Relaxed);
        stop.pause(lease.sent(n * payload, went * payload));
    }
    outcome.span_ns = Instant::now().since(config.zero).max(0) as u64;
    outcome
}

/// What may come in all: what was agreed on, and a quarter more, as a path may duplicate some.
fn most_bytes(config: &Config) -> u64 {
    let agreed = config.rate_bps as f64 / 8.0 * config.lease.duration().as_secs_f64();
    (agreed * 1.25) as u64 + 65_536
}

fn receive(socket: &UdpSocket, config: &Config, shared: &Shared) -> UdpOutcome {
    let lease = &config.lease;
    let per_second = config.rate_bps / (config.payload.max(1) as u64 * 8);
    let mut batch = Batch::new((per_second / 100).clamp(1, 64) as usize, DATA_HEADER);
    let mut counter = Counter::default();
    let offset = clock::realtime_offset();
    let mut window = Window::new(lease.duration());
    let deadline = config
        .zero
        .after(lease.duration().saturating_add(UNDER_WAY));
    let mut bytes_left = most_bytes(config);
    while !shared.stop.is_set() {
        // Where datagrams come, the kernel has told the time with them.
        let mut now = None;
        match batch.receive(socket) {
            Ok(_) => {
                let came = batch.received();
                if lease.received(came).is_err() || came > bytes_left {
                    break;
                }
                bytes_left -= came;
                for (bytes, time) in batch.datagrams() {
                    let at = time.saturating_sub(offset);
                    now = Some(Instant(at));
                    if let Some(Datagram::Data { number, sent_ns }) = Datagram::parse(bytes) {
                        counter.count(number, at.wrapping_sub(sent_ns) as i64);
                        window.take(at);
                    }
                }
                shared
                    .count
                    .store(counter.received * config.payload as u64, Ordering::Relaxed);
            }
            Err(_) => now = Some(Instant::now()),
        }
        if now.is_some_and(|now| now > deadline) {
            break;
        }
    }
    outcome(counter, &window)
}

fn outcome(counter: Counter, window: &Window) -> UdpOutcome {
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
