//! A watch over guests whose programs need more pieces of memory than the host lets a process map.
//!
//! User Mode Linux maps every page of a guest's program into a process of the host, as a piece of
//! its own unless it lies beside its neighbour. Past `vm.max_map_count` the host refuses, the
//! guest's kernel tries the same page for ever, and no time passes in it.

use std::time::{Duration, Instant};

use crate::LabError;

/// How often a guest is looked at.
const EVERY: Duration = Duration::from_secs(1);

/// So close below the limit a process is full: a mapping in the middle of another makes two more of
/// it.
const MARGIN: usize = 2;

/// How often in succession a process must be found full: one that only passes through goes on.
const TIMES: u32 = 2;

/// The watch over one guest.
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

    /// Looks at the guest whose kernel is the process `leader`, if it is time for it.
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
