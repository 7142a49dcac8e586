//! The protocol's part of the loops that move data ([`traffic::load::transfer`]).

use std::{
    io::{self, Read, Write},
    net::{TcpStream, UdpSocket},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU8, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use sys::{
    clock::{self, Instant},
    socket::Batch,
};

use traffic::{
    admission::Lease,
    load::{
        count::Counter,
        transfer::{self, Arrivals, Datagrams, Flow},
        udp::is_loss,
    },
};

use super::{
    datagram::{HEAD, HELLO, Head, REPLY},
    limits::WORK,
};

/// Longest that a blocked call keeps a half from seeing that the test ended.
pub(super) const WAIT: Duration = Duration::from_millis(20);
/// Datagrams of one call.
const BATCH: usize = 64;
/// Bytes of a call that receives TCP.
const READ: usize = 128 << 10;
/// ICMP messages of a closed port after which no more datagrams are sent. A stream's port
/// is open as long as its test runs; a host reports it once a second at most (net/ipv4/icmp.c).
const CLOSED: u32 = 3;
/// `ECONNREFUSED` (include/uapi/asm-generic/errno.h).
const REFUSED: i32 = 111;
/// How far the datagrams that arrive may be ahead of the rate: a path that was interrupted delivers
/// at once what it has queued.
const AHEAD: Duration = Duration::from_secs(3);

/// How far a test is, as its halves need to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Phase {
    /// Data flows and counts.
    Running,
    /// Nothing is sent any more; what has arrived still counts.
    Emptying,
    /// Nothing is sent any more; what arrives is read, so that the sender does not block, and does
    /// not count.
    Draining,
    /// Over.
    Ended,
}

/// What the halves of one test share.
#[derive(Debug)]
pub(super) struct Load {
    phase: AtomicU8,
    /// When the test began.
    pub(super) start: Instant,
    /// Bytes of a write or of a datagram's payload.
    pub(super) len: usize,
    /// Rate of a stream, bit/s; absent = unlimited.
    pub(super) rate_bps: Option<u64>,
    /// Datagrams have numbers of 64 bits.
    pub(super) wide: bool,
    /// What is sent.
    payload: Vec<u8>,
    /// Bytes still to be sent over all streams, if they are limited.
    budget: Option<AtomicU64>,
    /// What all streams draw from.
    pub(super) lease: Lease,
}

impl Load {
    pub(super) fn new(
        len: usize,
        rate_bps: Option<u64>,
        wide: bool,
        budget: Option<u64>,
        lease: Lease,
    ) -> Self {
        Self {
            phase: AtomicU8::new(Phase::Running as u8),
            start: Instant::now(),
            len,
            rate_bps,
            wide,
            payload: noise(len),
            budget: budget.map(AtomicU64::new),
            lease,
        }
    }

    /// Sleeps until the rate lets more move, or the test ends.
    fn pause(&self, until: Instant) {
        while !self.is(Phase::Ended) {
            let now = Instant::now();
            if now >= until {
                return;
            }
            now.after(WAIT).min(until).wait();
        }
    }

    pub(super) fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Relaxed);
    }

    fn is(&self, phase: Phase) -> bool {
        let now = if self.lease.is_over() {
            Phase::Ended as u8
        } else {
            self.phase.load(Relaxed)
        };
        now == phase as u8
    }

    fn counts(&self) -> bool {
        self.is(Phase::Running) || self.is(Phase::Emptying)
    }

    /// Takes up to `bytes` from what may still be sent.
    fn take(&self, bytes: usize) -> usize {
        let Some(budget) = &self.budget else {
            return bytes;
        };
        let wanted = bytes as u64;
        let mut left = budget.load(Relaxed);
        while let Err(now) =
            budget.compare_exchange_weak(left, left.saturating_sub(wanted), Relaxed, Relaxed)
        {
            left = now;
        }
        left.min(wanted) as usize
    }

    fn give_back(&self, bytes: usize) {
        if let Some(budget) = &self.budget {
            budget.fetch_add(bytes as u64, Relaxed);
        }
    }

    /// How many bytes of a stream are due now at its rate, of which it has sent `sent`; waits a
    /// while if none are.
    fn due(&self, sent: u64) -> u64 {
        let Some(rate) = self.rate_bps else {
            return u64::MAX;
        };
        let now = Instant::now();
        let gone = u128::try_from(now.since(self.start)).unwrap_or(0);
        let allowed = u64::try_from(gone * u128::from(rate) / 8_000_000_000).unwrap_or(u64::MAX);
        // A block is due when the ones before it have had their time.
        if allowed >= sent {
            return allowed - sent + 1;
        }
        let wait = u128::from(sent - allowed) * 8_000_000_000 / u128::from(rate.max(1));
        let wait = Duration::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX));
        now.after(wait.min(WAIT)).wait();
        0
    }
}

/// Bytes that compress badly: a tunnel that compresses would else seem faster than it is.
fn noise(len: usize) -> Vec<u8> {
    // xorshift64, Marsaglia 2003.
    let mut x = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        bytes.extend(x.to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// What a half has counted so far.
#[derive(Debug, Default)]
pub(super) struct Counts {
    bytes: AtomicU64,
    /// Datagrams sent.
    packets: AtomicU64,
    received: Mutex<Counter>,
    /// When something arrived last, ns.
    last: AtomicU64,
    failed: Mutex<Option<io::Error>>,
}

impl Counts {
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    pub(super) fn sent_packets(&self) -> u64 {
        self.packets.load(Relaxed)
    }

    pub(super) fn received(&self) -> MutexGuard<'_, Counter> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn last(&self) -> Instant {
        Instant(self.last.load(Relaxed))
    }

    pub(super) fn fail(&self, error: io::Error) {
        let mut slot = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        slot.get_or_insert(error);
    }

    pub(super) fn failure(&self) -> Option<io::Error> {
        self.failed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Relaxed);
        self.last.store(Instant::now().0, Relaxed);
    }
}

/// The call did nothing, and may do something the next time.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

/// Sends blocks on a connection.
pub(super) fn send_tcp(mut stream: &TcpStream, load: &Load, counts: &Counts) -> io::Result<()> {
    let mut half = TcpSender { load, counts };
    transfer::send(&load.lease, &mut half, |most| {
        stream.write(&load.payload[..most])
    })
}

struct TcpSender<'a> {
    load: &'a Load,
    counts: &'a Counts,
}

impl Flow for TcpSender<'_> {
    fn next(&mut self) -> Option<usize> {
        if !self.load.is(Phase::Running) {
            return None;
        }
        if self.load.due(self.counts.bytes()) == 0 {
            return Some(0);
        }
        Some(self.load.take(self.load.len)).filter(|most| *most > 0)
    }

    fn moved(&mut self, most: usize, bytes: usize) {
        self.load.give_back(most - bytes);
        self.counts.add(bytes);
    }

    fn pause(&mut self, until: Instant) {
        self.load.pause(until);
    }

    fn failed(&mut self, error: io::Error) -> io::Result<bool> {
        match is_passing(&error) {
            true => Ok(true),
            false => Err(error),
        }
    }
}

/// Receives what comes on a connection.
pub(super) fn receive_tcp(mut stream: &TcpStream, load: &Load, counts: &Counts) -> io::Result<()> {
    let mut bytes = vec![0; READ];
    let mut half = TcpReceiver { load, counts };
    transfer::receive(&load.lease, &mut half, |most| {
        stream.read(&mut bytes[..most])
    })
}

struct TcpReceiver<'a> {
    load: &'a Load,
    counts: &'a Counts,
}

impl Flow for TcpReceiver<'_> {
    fn next(&mut self) -> Option<usize> {
        (!self.load.is(Phase::Ended)).then_some(READ)
    }

    fn moved(&mut self, _: usize, bytes: usize) {
        if self.load.counts() {
            self.counts.add(bytes);
        }
    }

    fn pause(&mut self, until: Instant) {
        self.load.pause(until);
    }

    fn failed(&mut self, error: io::Error) -> io::Result<bool> {
        match is_passing(&error) {
            true => Ok(!self.load.is(Phase::Emptying)),
            false => Err(error),
        }
    }
}

/// Sends datagrams.
pub(super) fn send_udp(socket: &UdpSocket, load: &Load, counts: &Counts) -> io::Result<()> {
    let batch = (WORK / load.len.max(1)).clamp(1, BATCH);
    let mut half = UdpSender {
        load,
        counts,
        datagrams: vec![load.payload.clone(); batch],
        taken: 0,
        closed: 0,
    };
    transfer::send_datagrams(socket, &load.lease, &mut half)
}

struct UdpSender<'a> {
    load: &'a Load,
    counts: &'a Counts,
    datagrams: Vec<Vec<u8>>,
    /// Bytes that were taken from what may still be sent, for the call to come.
    taken: usize,
    /// ICMP messages of a closed port so far.
    closed: u32,
}

impl Datagrams for UdpSender<'_> {
    fn size(&self) -> usize {
        self.load.len
    }

    fn next(&mut self) -> Option<usize> {
        if !self.load.is(Phase::Running) {
            return None;
        }
        let (len, batch) = (self.load.len, self.datagrams.len());
        let due = self.load.due(self.counts.bytes()).div_ceil(len as u64);
        let due = usize::try_from(due).unwrap_or(batch).min(batch);
        if due == 0 {
            return Some(0);
        }
        // The last datagram is as long as the others.
        self.taken = self.load.take(due * len);
        Some(self.taken.div_ceil(len)).filter(|count| *count > 0)
    }

    fn label(&mut self, count: usize) -> &[Vec<u8>] {
        let datagrams = &mut self.datagrams[..count];
        label(datagrams, self.counts.sent_packets(), self.load.wide);
        datagrams
    }

    fn sent(&mut self, _: usize, _: usize, result: io::Result<usize>) -> io::Result<usize> {
        let sent = match result {
            Ok(sent) => sent,
            // The far end's port closed or the own queue is full: as a line that loses everything.
            Err(e) if is_loss(&e) => {
                self.closed += u32::from(e.raw_os_error() == Some(REFUSED));
                if self.closed >= CLOSED {
                    return Err(e);
                }
                Instant::now().after(Duration::from_millis(1)).wait();
                0
            }
            Err(e) if is_passing(&e) => 0,
            Err(e) => return Err(e),
        };
        let bytes = sent * self.load.len;
        self.load.give_back(self.taken.saturating_sub(bytes));
        self.counts.packets.fetch_add(sent as u64, Relaxed);
        self.counts.add(bytes);
        Ok(sent)
    }

    fn pause(&mut self, until: Instant) {
        self.load.pause(until);
    }
}

/// Writes heads with the numbers after `before` and the time now.
fn label(datagrams: &mut [Vec<u8>], before: u64, wide: bool) {
    let now = Instant::now().0;
    for (datagram, number) in datagrams.iter_mut().zip(before + 1..) {
        let head = Head {
            seconds: (now / 1_000_000_000) as u32,
            micros: (now % 1_000_000_000 / 1000) as u32,
            number,
        };
        let bytes = head.encode(wide);
        let len = if wide { HEAD } else { HEAD - 4 };
        datagram[..len].copy_from_slice(&bytes[..len]);
    }
}

/// Receives datagrams.
pub(super) fn receive_udp(socket: &UdpSocket, load: &Load, counts: &Counts) -> io::Result<()> {
    let mut half = UdpReceiver {
        socket,
        load,
        counts,
        offset: clock::realtime_offset(),
    };
    let mut batch = Batch::new(BATCH, HEAD);
    transfer::receive_datagrams(&load.lease, &mut half, &mut batch, |batch| {
        batch.receive_ready(socket)
    })
}

struct UdpReceiver<'a> {
    socket: &'a UdpSocket,
    load: &'a Load,
    counts: &'a Counts,
    /// What CLOCK_REALTIME is ahead of CLOCK_MONOTONIC, ns.
    offset: u64,
}

impl Arrivals for UdpReceiver<'_> {
    fn goes_on(&mut self) -> bool {
        !self.load.is(Phase::Ended)
    }

    fn take(&mut self, batch: &Batch, until: Option<Instant>) -> io::Result<()> {
        if until.is_some_and(|until| until > Instant::now().after(AHEAD)) {
            return Err(io::Error::other("more datagrams than the rate allows"));
        }
        if !self.load.counts() {
            return Ok(());
        }
        take_in(batch, self.load, self.counts, self.offset);
        if batch.datagrams().any(|(bytes, _)| bytes == HELLO) {
            // The answer that opens the stream was lost.
            let _ = self.socket.send(&REPLY);
        }
        Ok(())
    }

    fn failed(&mut self, error: io::Error) -> io::Result<bool> {
        match is_passing(&error) {
            true => Ok(!self.load.is(Phase::Emptying)),
            // A closed port is reported once and is no reason to end.
            false if is_loss(&error) => Ok(true),
            false => Err(error),
        }
    }
}

fn take_in(batch: &Batch, load: &Load, counts: &Counts, offset: u64) {
    let mut received = counts.received();
    for ((bytes, time), size) in batch.datagrams().zip(batch.sizes()) {
        let Some(head) = Head::decode(load.wide, bytes) else {
            continue;
        };
        // Numbers start at 1.
        let Some(number) = head.number.checked_sub(1) else {
            continue;
        };
        let arrived = time.wrapping_sub(offset).cast_signed();
        let transit = arrived.wrapping_sub(head.sent_ns());
        received.count(number, transit);
        counts.add(size);
    }
}
