//! The sender of datagrams: numbered, on a grid of time.

use std::{io, net::UdpSocket, sync::atomic::Ordering, time::Duration};

use model::text::Text;
use sys::{clock::Instant, ring::TimedSender, socket};

use super::{
    config::{Config, WAIT, interval_ns},
    half::{Half, Shared},
};
use crate::{
    load::transfer::{self, Datagrams},
    wire::datagram::{DATA_HEADER, Datagram},
};

/// Maximum datagrams of one call: the burst after a late wake-up.
pub(super) const BURST: usize = 32;

/// Maximum datagrams that the kernel holds until their time.
const AT_ONCE: u128 = 256;

/// Pacing of a sender's datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// The sender by its timer: all datagrams due by now go in one call.
    Timer,
    /// The sender by its timer, each in a separate call, without reading the clock.
    Single,
    /// The `fq` queue of this host's device; many go in one call.
    Queue,
    /// The kernel by its timer, many in one call. The stop signal is seen between calls.
    Kernel,
}

/// The rate at which `fq` spaces the datagrams, bytes/s. It counts the headers of UDP, IPv4 and
/// Ethernet as well.
pub(super) fn paced_rate(config: &Config) -> u64 {
    let wire = config.payload as u128 + 8 + 20 + 14;
    (wire * 1_000_000_000 / interval_ns(config, config.payload)) as u64
}

pub(super) fn run(socket: &UdpSocket, config: &Config, spacing: Spacing, shared: &Shared) -> Half {
    let mut sender = Sender::new(config, spacing, shared);
    if spacing == Spacing::Kernel {
        let (most, every) = (sender.datagrams.len(), sender.every());
        match TimedSender::new(socket, most, config.zero, every) {
            Ok(timed) => sender.timed = Some(timed),
            Err(_) => sender = Sender::new(config, Spacing::Timer, shared),
        }
    }
    // Its only error is that nothing more may be sent.
    let _ = transfer::send_datagrams(socket, &config.lease, &mut sender);
    let outcome = &mut sender.half.outcome;
    let planned = (u128::from(outcome.sent) * sender.every_ns) as u64;
    let took = || Instant::now().since(config.zero).max(0) as u64;
    outcome.span_ns = match sender.spacing {
        Spacing::Timer => took(),
        Spacing::Single | Spacing::Queue => planned,
        Spacing::Kernel => planned.max(took()),
    };
    sender.half
}

struct Sender<'a> {
    config: &'a Config,
    spacing: Spacing,
    shared: &'a Shared,
    payload: usize,
    every_ns: u128,
    /// Datagrams of the whole load.
    total: u64,
    deadline: Instant,
    datagrams: Vec<Vec<u8>>,
    /// With [`Spacing::Kernel`].
    timed: Option<TimedSender>,
    /// True if the next datagrams are overdue, with [`Spacing::Kernel`].
    late: bool,
    half: Half,
}

impl<'a> Sender<'a> {
    fn new(config: &'a Config, spacing: Spacing, shared: &'a Shared) -> Self {
        let payload = config.payload.max(DATA_HEADER);
        let every_ns = interval_ns(config, payload);
        let total = config.lease.duration().as_nanos().div_ceil(every_ns);
        let burst = match spacing {
            Spacing::Single => 1,
            Spacing::Timer | Spacing::Queue => BURST,
            Spacing::Kernel => (WAIT.as_nanos() / every_ns).clamp(1, AT_ONCE) as usize,
        };
        Self {
            config,
            spacing,
            shared,
            payload,
            every_ns,
            total: u64::try_from(total).unwrap_or(u64::MAX),
            deadline: config.lease.deadline(config.zero),
            datagrams: vec![vec![0; payload]; burst],
            timed: None,
            late: false,
            half: Half::default(),
        }
    }

    /// Returns the due time of a datagram, ns after zero.
    fn due_ns(&self, number: u64) -> u64 {
        (u128::from(number) * self.every_ns) as u64
    }

    /// From one datagram to the next.
    fn every(&self) -> Duration {
        Duration::from_nanos(self.every_ns as u64)
    }

    /// Returns how many datagrams are due at a time and not sent yet.
    fn overdue(&self, now: Instant) -> u64 {
        let late = now.since(self.config.zero).max(0) as u128;
        (late / self.every_ns + 1).saturating_sub(u128::from(self.half.outcome.sent)) as u64
    }

    /// Waits until the next datagram is due, and returns how many are then.
    fn wait(&mut self) -> Option<u64> {
        let sent = self.half.outcome.sent;
        let next = self.config.zero;
        let next = next.after(Duration::from_nanos(self.due_ns(sent)));
        match self.spacing {
            Spacing::Timer => {}
            Spacing::Single | Spacing::Queue => {
                next.wait();
                return Some(self.datagrams.len() as u64);
            }
            Spacing::Kernel => {
                let now = Instant::now();
                let (overdue, most) = (self.overdue(now), self.datagrams.len() as u64);
                // Those that waited for room in the socket's buffer are made up for at once.
                self.late = overdue > 1;
                let count = if self.late { overdue.min(most) } else { most };
                return (now <= self.deadline).then_some(count);
            }
        }
        if self.every_ns > WAIT.as_nanos() {
            self.shared.stop.pause(Some(next));
        }
        if self.shared.stop.is_set() {
            return None;
        }
        next.wait();
        let now = Instant::now();
        if now > self.deadline {
            return None;
        }
        // All datagrams due by now, at least the awaited one.
        Some(self.overdue(now).clamp(1, BURST as u64))
    }
}

impl Datagrams for Sender<'_> {
    fn size(&self) -> usize {
        self.payload
    }

    fn next(&mut self) -> Option<usize> {
        let sent = self.half.outcome.sent;
        if sent >= self.total || self.shared.stop.is_set() {
            return None;
        }
        Some(self.wait()?.min(self.total - sent) as usize)
    }

    /// Writes numbers and sending times.
    fn label(&mut self, count: usize) -> &[Vec<u8>] {
        let sent = self.half.outcome.sent;
        for (i, number) in (sent..).take(count).enumerate() {
            let sent_ns = self.config.zero.0.wrapping_add(self.due_ns(number));
            Datagram::Data { number, sent_ns }.write(&mut self.datagrams[i]);
        }
        &self.datagrams[..count]
    }

    fn transmit(&mut self, socket: &UdpSocket, count: usize) -> io::Result<usize> {
        self.label(count);
        let next = self.half.outcome.sent + count as u64;
        let next = Duration::from_nanos(self.due_ns(next));
        let (next, every) = (self.config.zero.after(next), self.every());
        let datagrams = &self.datagrams[..count];
        match &mut self.timed {
            None => socket::send_batch(socket, datagrams),
            Some(timed) if self.late => {
                let sent = socket::send_batch(socket, datagrams);
                timed.restart(next, every)?;
                sent
            }
            Some(timed) => {
                let sent = timed.send(datagrams)?;
                self.half.outcome.refused += (count - sent) as u64;
                Ok(count)
            }
        }
    }

    /// Datagrams refused by this host count as sent and lost: its device's queue is full, or the
    /// far end's port is closed.
    fn sent(&mut self, _: usize, count: usize, result: io::Result<usize>) -> io::Result<usize> {
        let sent = match result {
            Ok(sent) => sent,
            Err(error) => {
                if !is_loss(&error) {
                    self.half.error.get_or_insert_with(|| Text::from(&error));
                }
                self.half.outcome.refused += count as u64;
                count
            }
        };
        let outcome = &mut self.half.outcome;
        outcome.sent += sent as u64;
        let bytes = outcome.sent * self.payload as u64;
        self.shared.count.store(bytes, Ordering::Relaxed);
        Ok(sent)
    }

    fn pause(&mut self, until: Instant) {
        self.shared.stop.pause(Some(until));
    }
}

/// Returns true if an error of sending a datagram counts as loss of it, as anywhere on the path: a
/// closed port or a full queue of this host's device (`ECONNREFUSED`, `ENOBUFS`,
/// include/uapi/asm-generic/errno.h).
pub fn is_loss(error: &io::Error) -> bool {
    const ECONNREFUSED: i32 = 111;
    const ENOBUFS: i32 = 105;
    matches!(error.raw_os_error(), Some(ECONNREFUSED | ENOBUFS))
}
