//! The halves of a UDP stream.

use std::{io, net::UdpSocket, sync::atomic::Ordering::Relaxed, time::Duration};

use model::text;
use sys::{
    clock::{self, Instant},
    socket::Batch,
};
use traffic::load::{
    transfer::{self, Arrivals, Datagrams},
    udp::is_loss,
};

use super::{Counts, Load, Phase, is_passing};
use crate::{
    datagram::{HEAD, HELLO, Head, REPLY},
    limits::WORK,
};

/// Datagrams of one call.
const BATCH: usize = 64;
/// ICMP messages of a closed port after which no more datagrams are sent. A stream's port
/// is open as long as its test runs; a host reports it once a second at most (net/ipv4/icmp.c).
const CLOSED: u32 = 3;
/// `ECONNREFUSED` (include/uapi/asm-generic/errno.h).
const REFUSED: i32 = 111;
/// Maximum lead of arriving datagrams over the rate: an interrupted path delivers its queue in a
/// burst.
const AHEAD: Duration = Duration::from_secs(3);

/// Sends datagrams.
pub(crate) fn send_udp(socket: &UdpSocket, load: &Load, counts: &Counts) -> io::Result<()> {
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
    /// Bytes reserved for the next call, of those that may still be sent.
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
            // The far end's port is closed or this host's queue is full: equivalent to a line that
            // loses everything.
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
pub(crate) fn receive_udp(socket: &UdpSocket, load: &Load, counts: &Counts) -> io::Result<()> {
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
    /// Lead of CLOCK_REALTIME over CLOCK_MONOTONIC, ns.
    offset: u64,
}

impl Arrivals for UdpReceiver<'_> {
    fn goes_on(&mut self) -> bool {
        !self.load.is(Phase::Ended)
    }

    fn take(&mut self, batch: &Batch, until: Option<Instant>) -> io::Result<()> {
        if until.is_some_and(|until| until > Instant::now().after(AHEAD)) {
            return Err(io::Error::other(text!(
                "more datagrams than the rate allows"
            )));
        }
        if !self.load.counts() {
            return Ok(());
        }
        take_in(batch, self.load, self.counts, self.offset);
        if batch.datagrams().any(|(bytes, _)| bytes == HELLO) {
            // The reply that opens the stream was lost.
            let _ = self.socket.send(&REPLY);
        }
        Ok(())
    }

    fn failed(&mut self, error: io::Error) -> io::Result<bool> {
        match is_passing(&error) {
            true => Ok(!self.load.is(Phase::Emptying)),
            // A closed port is reported once and is not a reason to end.
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
