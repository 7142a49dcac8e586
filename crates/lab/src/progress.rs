//! Progress of a list of jobs.

use std::time::{Duration, Instant};

/// Progress of a list of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Jobs that have ended, successfully or not.
    pub done: usize,
    /// All jobs.
    pub total: usize,
    /// Real time since the start.
    pub elapsed: Duration,
    /// Real time left, at the rate of the jobs that were run; absent until one was.
    pub left: Option<Duration>,
}

/// Counts jobs that end.
#[derive(Debug)]
pub struct Pace {
    started: Instant,
    total: usize,
    done: usize,
    /// Jobs that were run, not taken from the cache.
    ran: u32,
}

impl Pace {
    /// Progress of `total` jobs, none of which has ended.
    pub fn new(total: usize) -> Self {
        Self {
            started: Instant::now(),
            total,
            done: 0,
            ran: 0,
        }
    }

    /// Counts one.
    pub fn ended(&mut self, cached: bool) -> Progress {
        self.done += 1;
        self.ran += u32::from(!cached);
        self.after(self.started.elapsed())
    }

    fn after(&self, elapsed: Duration) -> Progress {
        let open = self.total.saturating_sub(self.done);
        let open = u32::try_from(open).unwrap_or(u32::MAX);
        let each = elapsed.checked_div(self.ran);
        let left = match open {
            0 => Some(Duration::ZERO),
            _ => each.map(|each| each.saturating_mul(open)),
        };
        Progress {
            done: self.done,
            total: self.total,
            elapsed,
            left,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_at_the_pace_of_those_that_ran() {
        let mut pace = Pace::new(10);
        assert_eq!(pace.ended(true).left, None);
        let _ = (pace.ended(false), pace.ended(false));
        let seconds = Duration::from_secs;
        // Two ran in 6 s, side by side or not; seven are open.
        let progress = pace.after(seconds(6));
        assert_eq!((progress.done, progress.total), (3, 10));
        assert_eq!(progress.left, Some(seconds(21)));
    }

    #[test]
    fn at_the_end_nothing_is_left() {
        let mut pace = Pace::new(1);
        assert_eq!(pace.ended(true).left, Some(Duration::ZERO));
    }
}
