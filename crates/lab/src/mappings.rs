//! Detection of guests whose programs need more memory mappings than the host allows a process.
//!
//! User Mode Linux maps every page of a guest's program into a process of the host, as a separate
//! mapping unless it is adjacent to another. Beyond `vm.max_map_count` the host refuses, the
//! guest's kernel retries the same page forever, and no time passes in it.

use std::time::{Duration, Instant};

use crate::LabError;

/// Interval of the checks of a guest.
const EVERY: Duration = Duration::from_secs(1);

/// A process this close below the limit is full: a mapping in the middle of another adds two.
const MARGIN: usize = 2;

/// Number of successive checks that must find a process at the limit: a brief peak is ignored.
const TIMES: u32 = 2;

/// The check of one guest.
#[derive(Debug)]
pub(crate) struct Mappings {
    limit: Option<usize>,
    next: Instant,
    full: u32,
}

impl Mappings {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            limit: sys::mappings::limit().ok(),
            next: now + EVERY,
            full: 0,
        }
    }

    /// Checks the guest whose kernel is the process `leader`, if a check is due.
    pub(crate) fn check(&mut self, now: Instant, leader: u32) -> Result<(), LabError> {
        let Some(limit) = self.limit.filter(|_| now >= self.next) else {
            return Ok(());
        };
        self.next = now + EVERY;
        let least = limit.saturating_sub(MARGIN);
        let full = sys::mappings::children(leader)
            .into_iter()
            .any(|pid| sys::mappings::at_least(pid, least).is_some());
        self.full = if full { self.full + 1 } else { 0 };
        match self.full {
            TIMES.. => Err(LabError::Mappings { limit }),
            _ => Ok(()),
        }
    }
}
