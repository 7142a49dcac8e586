//! The sender of probes.

use std::{net::UdpSocket, sync::atomic::Ordering, time::Duration};

use sys::{
    clock::Instant,
    ring::TimedSender,
    socket::icmp::HEADER,
    timestamp::{Stage, Stamped},
};

use super::{
    schedule::{Schedule, Timing},
    shared::{Shared, Slot},
};
use crate::wire::datagram::PROBE;

/// Most probes of a call in virtual time.
const MANY: usize = 64;

/// Longest time of such a call, if probes have no end.
const LONGEST: Duration = Duration::from_millis(100);

pub(super) fn run(socket: UdpSocket, schedule: Schedule, shared: &Shared) {
    if schedule.timing == Timing::Virtual
        && let Ok(sender) = TimedSender::new(&socket, MANY, schedule.first, schedule.every)
    {
        return by_the_kernel(sender, schedule, shared);
    }
    let mut sender = match schedule.timing {
        Timing::Kernel => Sender::Stamped(Stamped::new(socket), Vec::new()),
        Timing::Virtual => Sender::Exact(socket),
    };
    let mut next = schedule.first;
    let is_over = |next| schedule.end.is_some_and(|end| next >= end);
    while !shared.stopped.load(Ordering::Relaxed) && !is_over(next) {
        next.wait();
        sender.send(next, shared);
        // Late, because the processor was busy: missed slots are not made up for.
        let late_ns = match schedule.timing {
            Timing::Kernel => Instant::now().since(next).max(0) as u128,
            Timing::Virtual => 0,
        };
        let missed = late_ns / schedule.every.as_nanos().max(1);
        next = next.after(schedule.every.saturating_mul(missed as u32 + 1));
    }
    sender.take_stamps(shared);
}

/// Has the kernel send many probes a call, each at its time. One that a full queue of this host's
/// device refuses is lost.
fn by_the_kernel(mut sender: TimedSender, schedule: Schedule, shared: &Shared) {
    let every = schedule.every.as_nanos().max(1);
    let mut next = schedule.first;
    while !shared.stopped.load(Ordering::Relaxed) {
        let left = match schedule.end {
            Some(end) => (end.since(next).max(0) as u128).div_ceil(every),
            None => (LONGEST.as_nanos() / every).max(1),
        };
        let count = left.min(MANY as u128) as u32;
        if count == 0 {
            return;
        }
        let probes: Vec<_> = (0..count)
            .map(|i| {
                let number = begin(next.after(schedule.every * i), shared);
                let mut bytes = [0; HEADER + PROBE];
                shared.format.write(number as u32, &mut bytes).to_vec()
            })
            .collect();
        next = next.after(schedule.every * count);
        // All were refused, perhaps at once, as they are if the kernel takes no more requests.
        if sender.send(&probes).is_err() {
            next.wait();
        }
    }
}

/// Notes a probe that is due at a time; its number.
fn begin(due: Instant, shared: &Shared) -> usize {
    let mut slots = shared.slots();
    slots.push(Slot {
        called_ns: due.0,
        ..Slot::default()
    });
    slots.len() - 1
}

enum Sender {
    /// The kernel reports transmit times. Holds the probe number of each timestamp, since probes
    /// that could not be sent have none.
    Stamped(Stamped, Vec<usize>),
    /// A probe leaves at the time that was waited for.
    Exact(UdpSocket),
}

impl Sender {
    /// Sends the probe that is due at `next`. A full queue of this host's device loses it, as it
    /// would lose any datagram.
    fn send(&mut self, next: Instant, shared: &Shared) {
        let number = begin(next, shared);
        let mut bytes = [0; HEADER + PROBE];
        let bytes = shared.format.write(number as u32, &mut bytes);
        match self {
            Self::Stamped(stamped, numbers) => {
                let called = Instant::now();
                if stamped.send(bytes).is_ok() {
                    numbers.push(number);
                }
                shared.slots()[number].called_ns = called.0;
                self.take_stamps(shared);
            }
            Self::Exact(socket) => {
                let _ = socket.send(bytes);
            }
        }
    }

    fn take_stamps(&mut self, shared: &Shared) {
        let Self::Stamped(stamped, numbers) = self else {
            return;
        };
        let mut stamps = Vec::new();
        if stamped.transmitted(&mut stamps).is_err() {
            return;
        }
        let mut slots = shared.slots();
        for stamp in stamps.iter().filter(|s| s.stage == Stage::Queued) {
            let number = numbers.get(stamp.id as usize);
            if let Some(slot) = number.and_then(|n| slots.get_mut(*n)) {
                slot.queued_ns = Some(stamp.at_ns);
            }
        }
    }
}
