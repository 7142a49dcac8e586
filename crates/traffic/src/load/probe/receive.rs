//! Receiver of replies.

use std::{io, net::UdpSocket, sync::atomic::Ordering, time::Duration};

use sys::{
    clock::{self, Instant},
    socket::Batch,
    timestamp,
};

use super::{
    format::ANSWER,
    schedule::{Schedule, Timing},
    shared::{Shared, Slot},
};
use crate::wire::datagram::PROBE;

/// Bounds of the wait for late replies, which is three times the longest recent round trip.
const TIMEOUT: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];

/// Probes that count as late ones.
const LATE: usize = 512;

/// Idle time in virtual time after which late replies are no longer awaited.
const QUIET: Duration = Duration::from_millis(500);

/// Replies of a read in virtual time.
const MANY: usize = 64;

/// Reader of replies.
pub(super) enum Reader {
    /// Each reply immediately.
    Each(UdpSocket),
    /// Many a call.
    Many(UdpSocket, Batch),
}

impl Reader {
    pub(super) fn new(socket: UdpSocket, schedule: Schedule) -> io::Result<Self> {
        let timeout = match schedule.timing {
            Timing::Kernel => TIMEOUT[0],
            Timing::Virtual => QUIET,
        };
        socket.set_read_timeout(Some(timeout))?;
        Ok(match schedule.timing {
            Timing::Kernel => Self::Each(socket),
            Timing::Virtual => Self::Many(socket, Batch::new(MANY, PROBE)),
        })
    }

    /// Waits for replies and records them; returns whether any datagram arrived.
    fn next(&mut self, shared: &Shared) -> bool {
        match self {
            Self::Each(socket) => {
                let mut bytes = [0; ANSWER];
                let Ok(received) = timestamp::receive(socket, &mut bytes) else {
                    return false;
                };
                let bytes = &bytes[..received.len.min(ANSWER)];
                take(shared, bytes, received.at_ns);
            }
            Self::Many(socket, batch) => {
                if batch.receive(socket).is_err() {
                    return false;
                }
                for (bytes, time) in batch.datagrams() {
                    take(shared, bytes, Some(time));
                }
            }
        }
        true
    }
}

/// Records a reply that arrived at a time (CLOCK_REALTIME, ns). The first reply to a number counts.
fn take(shared: &Shared, bytes: &[u8], at_ns: Option<u64>) {
    let Some((number, held_ns)) = shared.format.read(bytes) else {
        return;
    };
    let at_ns = at_ns.unwrap_or_else(clock::realtime_ns);
    if let Some(slot) = shared.slots().get_mut(number as usize)
        && slot.came_ns.is_none()
    {
        slot.came_ns = Some(at_ns);
        slot.held_ns = u64::from(held_ns);
    }
}

/// Records replies until all have arrived or late ones are no longer awaited.
pub(super) fn run(reader: &mut Reader, shared: &Shared) {
    let mut deadline = None;
    loop {
        let came = reader.next(shared);
        if shared.dropped.load(Ordering::Relaxed) {
            return;
        }
        if !shared.all_sent.load(Ordering::Relaxed) {
            continue;
        }
        if let Reader::Many(..) = reader {
            match came {
                true => continue,
                false => return,
            }
        }
        let now = Instant::now();
        let offset = shared.offset();
        let slots = shared.slots();
        let until = *deadline.get_or_insert_with(|| now.after(timeout(&slots, offset)));
        if now >= until || late(&slots).all(|s| s.came_ns.is_some()) {
            return;
        }
    }
}

fn late(slots: &[Slot]) -> impl Iterator<Item = &Slot> {
    slots.iter().rev().take(LATE)
}

fn timeout(slots: &[Slot], offset: u64) -> Duration {
    let longest = late(slots).filter_map(|s| s.probe(offset).rtt_ns).max();
    Duration::from_nanos(3 * longest.unwrap_or(0)).clamp(TIMEOUT[0], TIMEOUT[1])
}
