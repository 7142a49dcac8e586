//! The sender of probes.

use std::{net::UdpSocket, sync::atomic::Ordering};

use sys::{
    clock::Instant,
    socket::icmp::HEADER,
    timestamp::{Stage, Stamped},
};

use super::{
    schedule::{Schedule, Timing},
    shared::{Shared, Slot},
};
use crate::wire::datagram::PROBE;

pub(super) fn run(socket: UdpSocket, schedule: Schedule, shared: &Shared) {
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
        let number = {
            let mut slots = shared.slots();
            slots.push(Slot {
                called_ns: next.0,
                ..Slot::default()
            });
            slots.len() - 1
        };
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
