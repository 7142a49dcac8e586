//! Changes of a host's settings as transactions.
//!
//! A Change is applied to the running kernel only. Before the first write its journal is on disk,
//! with all old values, and the keeper runs: a separate process that undoes the Change at its
//! deadline, or as soon as the process that applies it dies. If all of them die, the next command
//! or a reboot undoes it. Only a confirmation before the deadline keeps it.

mod booted;
mod calibration;
mod confirm;
mod conflicts;
mod drift;
mod error;
mod holds;
mod host;
mod journal;
mod keeper;
mod kept;
mod live;
mod lookup;
mod managed;
mod observer;
mod offers;
mod part;
mod persist;
mod plan;
mod probe;
mod progress;
mod prove;
mod recover;
mod remedies;
mod remote;
mod reset;
mod rollback;
mod setting_files;
mod sites;
mod toggle;
mod transaction;
mod tries;
mod undoing;

use std::time::Duration;

use model::change::ChangeId;

pub use calibration::calibration;
pub use confirm::{Confirmed, confirm, confirm_or_undo, prolong, undo, undo_kept};
pub use conflicts::writers;
pub use drift::{Compared, drifted};
pub use error::{
    Drift, HostError, Left, Operation, PersistError, Refusal, RefusalReason, Rollback, TuneError,
};
pub use host::Host;
pub use journal::{Access, Folder, JournalError, Listed};
pub use keeper::{keep, start_keeper, start_keeper_service};
pub use kept::kept;
pub use live::{Live, without_effect_here};
pub use observer::{Interrupted, Observer, Point, Unobserved};
pub use offers::{Allowed, offers};
pub use persist::{System, networkd_text, persist};
pub use plan::{Request, plan};
pub use probe::{NewFlows, Prober};
pub use prove::{Criteria, MeasureError, PAIRS, ProveError, counted, room, whole};
pub use recover::{Pending, Recovery, pending, recover};
pub use remedies::{Place, Remedies, settings_of, settings_of_all};
pub use remote::{Remote, RemoteError};
pub use reset::{CONNECTIVITY, window};
pub use sites::{
    LocalHost, Machine, ManualHost, Measure, NotApplied, NotProved, NotSettled, Person, RemoteHost,
    Settled, Site, Sites, command_of, not_applied, until_changed,
};
pub use toggle::{set_again, set_aside};
pub use transaction::{Arm, apply, privileged};
pub use tries::{Tries, stored_as, until_kept};

/// Maximum wait of a command for another one that changes the same host.
pub const LOCK_LIMIT: Duration = Duration::from_secs(10);

/// Environment of a transaction: the host and its tools.
pub struct Env<'a> {
    /// The journals.
    pub folder: &'a Folder,
    /// The settings.
    pub host: &'a mut dyn Host,
    /// Time since boot.
    pub clock: &'a dyn Clock,
    /// Sees every step.
    pub observer: &'a mut dyn Observer,
}

/// Time since boot, suspended time included.
pub trait Clock {
    /// Nanoseconds.
    fn boottime_ns(&self) -> u64;
    /// Waits.
    fn sleep(&self, span: Duration);
}

/// The kernel's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct BootClock;

impl Clock for BootClock {
    fn boottime_ns(&self) -> u64 {
        sys::clock::boottime_ns()
    }

    fn sleep(&self, span: Duration) {
        std::thread::sleep(span);
    }
}

/// A new id from the kernel's random numbers.
///
/// # Errors
/// The kernel provides none.
pub fn fresh_id() -> std::io::Result<ChangeId> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|e| std::io::Error::other(e.to_string()))?;
    Ok(ChangeId::from_random(bytes))
}

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;
