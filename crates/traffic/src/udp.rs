//! UDP at a constant rate: numbered datagrams, and a receiver that counts what became of them.

use std::{io, net::UdpSocket, sync::Arc, time::Duration};

use model::record::{Kind, Stream, UdpSample};
use sys::{
    clock::{self, Instant},
    socket::{self, Batch},
};

use crate::{
    flow::{Ended, Flow, Halves},
    spawn,
};

/// Bytes of the number and the sending time in front of each datagram.
pub const HEADER: usize = 16;

/// How a UDP flow sends.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Payload bytes of a datagram, at least [`HEADER`].
    pub payload: usize,
    /// From one datagram to the next.
    pub every: Duration,
    /// Let the `fq` queue of the own device space the datagrams, in place of one sleep each.
    pub by_queue: bool,
    /// When the first is sent.
    pub start: Instant,
    /// Zero of the times in the records.
    pub zero: Instant,
    /// From one record to the next.
    pub sample: Duration,
}

/// Starts a flow from the connected `sender` to `receiver`.
pub fn constant(sender: UdpSocket, receiver: UdpSocket, id: u16, pace: Pace) -> io::Result<Flow> {
    let halves = Arc::new(Halves::default());
    receiver.set_read_timeout(Some(Duration::from_millis(200)))?;
    socket::set_buffers(&receiver, 8 << 20, 1 << 20)?;
    let (near, far) = (halves.clone(), halves.clone());
    let sending = spawn("udp", move || {
        let sent = match send(&near, &sender, pace) {
            Ok(sent) => sent,
            Err((sent, error)) => {
                near.fail("send", &error);
                sent
            }
        };
        Ended {
            records: Stream::default(),
            sent,
        }
    })?;
    let receiving = spawn("udp", move || Ended {
        records: receive(&far, &receiver, id, pace),
        sent: 0,
    })?;
    Ok(Flow {
        halves,
        threads: vec![sending, receiving],
    })
}

fn send(halves: &Halves, socket: &UdpSocket, pace: Pace) -> Result<u64, (u64, io::Error)> {
    let per_call = if pace.by_queue { 32 } else { 1 };
    if pace.by_queue {
        // Headers: UDP, IP and Ethernet, which fq counts as well.
        let wire = pace.payload as u64 + 8 + 20 + 14;
        let rate = wire as u128 * 1_000_000_000 / pace.every.as_nanos().max(1);
        socket::set_max_pacing(socket, rate as u64).map_err(|e| (0, e))?;
        socket::set_buffers(socket, 64 << 10, 64 << 10).map_err(|e| (0, e))?;
    }
    let mut datagrams = vec![vec![0; pace.payload]; per_call];
    let mut next = pace.start;
    let mut sent = 0;
    while !halves.stopped() {
        next.wait();
        for (datagram, number) in datagrams.iter_mut().zip(sent..) {
            datagram[..8].copy_from_slice(&u64::to_le_bytes(number));
            let at = pace.start.0 + number * pace.every.as_nanos() as u64;
            datagram[8..HEADER].copy_from_slice(&at.to_le_bytes());
        }
        match socket::send_batch(socket, &datagrams) {
            Ok(n) => sent += n as u64,
            // The own device's queue was full, or the far end is not there: datagrams are lost.
            Err(e) if e.raw_os_error().is_some_and(is_loss) => sent += per_call as u64,
            Err(e) => return Err((sent, e)),
        }
        next = pace
            .start
            .after(Duration::from_nanos(sent * pace.every.as_nanos() as u64));
    }
    Ok(sent)
}

/// Whether an error of sending a datagram counts as its loss.
pub fn is_loss(errno: i32) -> bool {
    const ECONNREFUSED: i32 = 111;
    const ENOBUFS: i32 = 105;
    matches!(errno, ECONNREFUSED | ENOBUFS)
}

fn receive(halves: &Halves, socket: &UdpSocket, id: u16, pace: Pace) -> Stream {
    let count = (pace.sample.as_nanos() / pace.every.as_nanos().max(1)).clamp(1, 64) as usize;
    let mut batch = Batch::new(count, HEADER);
    let mut counter = Counter::default();
    let mut records = Stream::default();
    let offset = clock::realtime_offset();
    let mut due = 0;
    loop {
        let Ok(_) = batch.receive(socket) else {
            if halves.stopped() {
                return records;
            }
            continue;
        };
        let mut last = 0;
        for (bytes, time) in batch.datagrams() {
            let Some((number, sent)) = header(bytes) else {
                continue;
            };
            last = time - offset;
            counter.count(number, last as i64 - sent as i64, pace.payload as u64);
        }
        if last >= due {
            let at = Instant(last).since(pace.zero);
            records.push_words(Kind::Udp, id, at, &counter.sample.words());
            due = last + pace.sample.as_nanos() as u64;
        }
    }
}

fn header(bytes: &[u8]) -> Option<(u64, u64)> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((
        u64::from_le_bytes(*number),
        u64::from_le_bytes(*rest.first_chunk()?),
    ))
}

/// Counts what became of numbered datagrams.
#[derive(Debug, Default)]
pub struct Counter {
    /// The counts so far.
    pub sample: UdpSample,
    seen: std::collections::HashSet<u64>,
    transit: Option<i64>,
}

impl Counter {
    /// Datagrams this far behind the highest are no longer told apart from duplicates.
    const WINDOW: u64 = 1 << 16;

    /// Takes in one datagram: its number, its transit time (any clock offset) and its size.
    pub fn count(&mut self, number: u64, transit_ns: i64, bytes: u64) {
        if number.saturating_add(Self::WINDOW) < self.sample.highest || !self.seen.insert(number) {
            self.sample.duplicates += 1;
            return;
        }
        self.sample.received += 1;
        self.sample.bytes += bytes;
        if number < self.sample.highest {
            self.sample.reordered += 1;
        }
        self.sample.highest = self.sample.highest.max(number.saturating_add(1));
        if let Some(before) = self.transit.replace(transit_ns) {
            // RFC 3550 section 6.4.1: J += (|D| - J) / 16.
            let difference = i128::from(transit_ns.abs_diff(before));
            let jitter = i128::from(self.sample.jitter_ns);
            self.sample.jitter_ns = (jitter + (difference - jitter) / 16).max(0) as u64;
        }
        if self.seen.len() as u64 > 2 * Self::WINDOW {
            let floor = self.sample.highest.saturating_sub(Self::WINDOW);
            self.seen.retain(|&n| n >= floor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_loss_order_and_copies() {
        let mut counter = Counter::default();
        for number in [0, 1, 3, 2, 2, 5] {
            counter.count(number, 1000, 100);
        }
        let s = counter.sample;
        assert_eq!(
            (s.received, s.highest, s.reordered, s.duplicates),
            (5, 6, 1, 1)
        );
        assert_eq!(s.bytes, 500);
    }

    #[test]
    fn numbers_at_the_end_of_the_range_are_counted() {
        let mut counter = Counter::default();
        for (number, transit) in [(u64::MAX, i64::MIN), (u64::MAX - 1, i64::MAX)] {
            counter.count(number, transit, 100);
        }
        assert_eq!(counter.sample.received, 2);
        assert_eq!(counter.sample.highest, u64::MAX);
    }

    #[test]
    fn jitter_follows_rfc_3550() {
        let mut counter = Counter::default();
        // A transit time that alternates by D makes J converge to D.
        for number in 0..2000 {
            counter.count(number, (number % 2) as i64 * 16_000, 100);
        }
        assert!((15_900..=16_000).contains(&counter.sample.jitter_ns));
    }
}
