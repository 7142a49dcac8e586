//! Rate limit shared by threads.
//!
//! The generic cell rate algorithm (ITU-T I.371, annex A) in its form of virtual scheduling: a
//! single number, the time until which the transferred data is accounted for. It is as exact as a
//! token bucket and needs no lock.

use std::{
    num::NonZeroU64,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use sys::clock::Instant;

/// Maximum burst after a pause: the data of this time at the rate, or this many bytes if that is
/// more. A sender that is late by this time on a busy host still keeps its rate.
const BURST: Duration = Duration::from_millis(80);
const BURST_BYTES: u64 = 64 << 10;

/// Amount moved in one call: this much time of the rate, or this many bytes if that is more.
const CALL: Duration = Duration::from_millis(5);
const CALL_BYTES: u64 = 16 << 10;

/// Maximum bytes per call under a rate limit.
pub(super) fn chunk(bps: u64) -> usize {
    let bytes = u128::from(bps) * CALL.as_nanos() / 8_000_000_000;
    usize::try_from(bytes)
        .unwrap_or(usize::MAX)
        .max(CALL_BYTES as usize)
}

/// A rate limit. Copies share the same state.
#[derive(Clone, Debug)]
pub(super) struct Meter(Option<Arc<Metered>>);

#[derive(Debug)]
struct Metered {
    bps: NonZeroU64,
    /// Time until which all moved bytes are paid for, ns.
    paid_ns: AtomicU64,
}

impl Meter {
    /// `bps`: bit/s; `None` = without bound. A rate of 0 counts as 1 bit/s.
    pub(super) fn new(bps: Option<u64>) -> Self {
        Self(bps.map(|bps| {
            Arc::new(Metered {
                bps: NonZeroU64::new(bps).unwrap_or(NonZeroU64::MIN),
                paid_ns: AtomicU64::new(0),
            })
        }))
    }

    /// The bound.
    pub(super) fn rate_bps(&self) -> Option<u64> {
        self.0.as_ref().map(|metered| metered.bps.get())
    }

    /// Counts bytes at several meters; returns until when to pause, if at all. Reads the clock only
    /// if there is a limit.
    pub(super) fn charge(meters: &[Self; 2], bytes: u64) -> Option<Instant> {
        if meters.iter().all(|meter| meter.0.is_none()) {
            return None;
        }
        let now = Instant::now();
        let paid = meters.iter().filter_map(|m| m.charge_at(now, bytes)).max();
        paid.filter(|paid| *paid > now)
    }

    /// Returns true if one of several meters requires a pause now.
    pub(super) fn is_behind(meters: &[Self; 2]) -> bool {
        let paid = |m: &Self| Some(Instant(m.0.as_ref()?.paid_ns.load(Ordering::Relaxed)));
        let paid = meters.iter().filter_map(paid).max();
        paid.is_some_and(|paid| paid > Instant::now())
    }

    fn charge_at(&self, now: Instant, bytes: u64) -> Option<Instant> {
        let metered = self.0.as_ref()?;
        let span = |bytes: u64| {
            let ns = u128::from(bytes) * 8_000_000_000 / u128::from(metered.bps.get());
            u64::try_from(ns).unwrap_or(u64::MAX)
        };
        let burst = span(BURST_BYTES).max(BURST.as_nanos() as u64);
        let from = now.0.saturating_sub(burst);
        let cost = span(bytes);
        let mut paid = metered.paid_ns.load(Ordering::Relaxed);
        loop {
            let after = paid.max(from).saturating_add(cost);
            let (set, load) = (Ordering::Relaxed, Ordering::Relaxed);
            match metered
                .paid_ns
                .compare_exchange_weak(paid, after, set, load)
            {
                Ok(_) => return Some(Instant(after)),
                Err(now) => paid = now,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    /// A second in ns, and a rate that makes a byte 1 µs.
    const SECOND: u64 = 1_000_000_000;
    const BPS: u64 = 8_000_000;

    #[test]
    fn a_sum_of_bytes_takes_its_time_at_the_rate() {
        let meter = Meter::new(Some(BPS));
        let start = Instant(1000 * SECOND);
        let paid = meter.charge_at(start, 1_000_000).unwrap();
        // 10⁶ bytes are one second, of which 80 ms were saved before.
        assert_eq!(paid.since(start), (SECOND - 80_000_000) as i64);
        // A caller at the announced time pauses for the whole of the next amount.
        assert_eq!(meter.charge_at(paid, 1000).unwrap().since(paid), 1_000_000);
    }

    #[test]
    fn without_a_limit_no_load_pauses() {
        let none = || Meter::new(None);
        assert_eq!(Meter::charge(&[none(), none()], u64::MAX), None);
        assert!(!Meter::is_behind(&[none(), none()]));
    }

    #[test]
    fn the_slower_of_two_meters_counts_and_both_are_charged() {
        let (slow, fast) = (Meter::new(Some(BPS)), Meter::new(Some(10 * BPS)));
        let meters = [slow.clone(), fast.clone()];
        let until = Meter::charge(&meters, 10_000_000).unwrap();
        let left = until.since(Instant::now());
        assert!(
            (9 * SECOND as i64..10 * SECOND as i64).contains(&left),
            "{left}"
        );
        assert!(Meter::is_behind(&meters));
        assert!(Meter::is_behind(&[fast, Meter::new(None)]));
    }

    proptest! {
        /// For any sizes and delays of the pieces: never more than the rate and one burst, if
        /// everybody pauses as long as required.
        #[test]
        fn never_more_than_the_rate_and_a_burst(
            pieces in proptest::collection::vec((1u64..100_000, 0u64..50_000_000), 1..200),
        ) {
            let meter = Meter::new(Some(BPS));
            let start = Instant(1000 * SECOND);
            let (mut now, mut moved) = (start, 0);
            for (bytes, late) in pieces {
                now = now.after(Duration::from_nanos(late));
                let paid = meter.charge_at(now, bytes).unwrap();
                let allowed = now.since(start) as u64 / 1000 + 80_000 + bytes;
                moved += bytes;
                prop_assert!(moved <= allowed, "{} > {}", moved, allowed);
                now = now.max(paid);
            }
        }
    }
}
