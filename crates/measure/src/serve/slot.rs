//! The slot: only one watching client at a time may load the server's line, so that watches do not
//! measure each other. Other clients need no slot.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use sys::clock::Instant;

/// Maximum time for which a session holds the slot. Longer than any plan, but short enough that a
/// client that never leaves does not exclude others.
const LONGEST: Duration = Duration::from_secs(2 * 3600);

/// The slot of a server.
#[derive(Debug, Default)]
pub(super) struct Slot(Mutex<Holder>);

#[derive(Debug, Default)]
struct Holder {
    /// Number of the session that has it, and until when.
    held: Option<(u64, Instant)>,
    last: u64,
}

/// The slot of a session; free when dropped.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Number(u64);

impl Slot {
    fn holder(&self) -> MutexGuard<'_, Holder> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the slot; `None` if another session has it.
    pub(super) fn take(&self, now: Instant) -> Option<Number> {
        let mut holder = self.holder();
        if holder.held.is_some_and(|(_, until)| now < until) {
            return None;
        }
        holder.last += 1;
        let number = holder.last;
        holder.held = Some((number, now.after(LONGEST)));
        Some(Number(number))
    }

    /// Frees it, unless another session has taken it over.
    pub(super) fn free(&self, number: &Number) {
        let mut holder = self.holder();
        if holder.held.is_some_and(|(held, _)| held == number.0) {
            holder.held = None;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn one_session_at_a_time_has_the_slot_for_a_limited_time() {
        let slot = Slot::default();
        let now = Instant(0);
        let first = slot.take(now).unwrap();
        assert_eq!(slot.take(now), None);
        slot.free(&first);
        let second = slot.take(now).unwrap();
        // A duplicate free does not take it from its next holder.
        slot.free(&first);
        assert_eq!(slot.take(now), None);
        let third = slot.take(now.after(LONGEST)).unwrap();
        slot.free(&second);
        assert_eq!(slot.take(now.after(LONGEST)), None);
        slot.free(&third);
        assert!(slot.take(now).is_some());
    }
}
