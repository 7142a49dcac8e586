//! Size of calls: large enough for few calls, small enough for regular progress on a slow path.

use sys::clock::Instant;

/// Fewest bytes of a call: as many as a segment that the kernel cuts up later may have
/// (`GSO_LEGACY_MAX_SIZE`, include/linux/netdevice.h).
const MIN: usize = 64 << 10;

/// Calls shorter than the first time are made larger, calls longer than the second smaller, ns.
const QUICK: i64 = 2_000_000;
const SLOW: i64 = 20_000_000;

/// The size of calls, as fits the pace of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stride {
    bytes: usize,
    most: usize,
    adaptive: bool,
}

impl Stride {
    /// From the fewest bytes to `most`, by the time that calls take.
    pub(super) fn adaptive(most: usize) -> Self {
        Self {
            bytes: MIN.min(most),
            most,
            adaptive: true,
        }
    }

    /// Always as many, so that the clock need not be read.
    pub(super) fn fixed(bytes: usize) -> Self {
        Self {
            bytes,
            most: bytes,
            adaptive: false,
        }
    }

    /// Bytes of the next call.
    pub(super) fn bytes(self) -> usize {
        self.bytes
    }

    /// Is notified that a call which began at `start` has ended, and returns its end time; where
    /// the clock is not read, `start`.
    pub(super) fn took(&mut self, start: Instant) -> Instant {
        if !self.adaptive {
            return start;
        }
        let now = Instant::now();
        self.adapt(now.since(start));
        now
    }

    fn adapt(&mut self, took_ns: i64) {
        if took_ns < QUICK {
            self.bytes = (self.bytes * 2).min(self.most);
        } else if took_ns > SLOW {
            self.bytes = (self.bytes / 2).max(MIN.min(self.most));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pace a connection has, in bytes a second, and the stride it leads to.
    fn settled(bytes_s: f64) -> usize {
        let mut stride = Stride::adaptive(1 << 20);
        for _ in 0..100 {
            stride.adapt((stride.bytes() as f64 / bytes_s * 1e9) as i64);
        }
        stride.bytes()
    }

    #[test]
    fn a_call_takes_as_long_as_it_should_at_every_pace_that_allows_it() {
        assert_eq!(settled(10e9), 1 << 20);
        assert_eq!(settled(1e3), MIN);
        for bytes_s in [4e6, 12.5e6, 125e6, 400e6] {
            let seconds = settled(bytes_s) as f64 / bytes_s;
            assert!((0.002..=0.02).contains(&seconds), "{bytes_s}: {seconds}");
        }
    }

    #[test]
    fn less_than_the_usual_least_is_never_exceeded() {
        let mut stride = Stride::adaptive(1000);
        stride.adapt(0);
        assert_eq!(stride.bytes(), 1000);
        stride.adapt(i64::MAX);
        assert_eq!(stride.bytes(), 1000);
    }
}
