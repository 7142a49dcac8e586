//! Stop signal of a load for its threads.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use sys::clock::Instant;

use crate::admission::Lease;

/// Longest sleep of a thread that is to see the end soon.
const NAP: Duration = Duration::from_millis(20);

/// Stop state of a load, which ends when it is stopped or when its session ends.
#[derive(Debug)]
pub(crate) struct Stop {
    stopped: AtomicBool,
    lease: Lease,
}

impl Stop {
    pub(crate) fn new(lease: Lease) -> Self {
        Self {
            stopped: AtomicBool::new(false),
            lease,
        }
    }

    /// The lease of the load.
    pub(crate) fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Ends all threads.
    pub(crate) fn set(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || self.lease.is_over()
    }

    /// Sleeps until `until`, or until the load ends. Does not read the clock if there is no wait.
    pub(crate) fn pause(&self, until: Option<Instant>) {
        let Some(until) = until else {
            return;
        };
        while !self.is_set() {
            let now = Instant::now();
            if now >= until {
                return;
            }
            now.after(NAP).min(until).wait();
        }
    }
}
