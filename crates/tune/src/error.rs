//! Errors of transactions.

use std::{fmt, io};

use model::change::{ChangeId, Setting};

use crate::{journal::JournalError, observer::Interrupted, outcome::Rollback, remote::RemoteError};

/// A setting that could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// A request to the kernel.
    #[error(transparent)]
    Netlink(#[from] sys::NetlinkError),
    /// A kernel parameter.
    #[error(transparent)]
    Sysctl(#[from] sys::sysctl::SysctlError),
    /// A file of the kernel.
    #[error("{op}: {error}")]
    Io {
        /// The operation.
        op: String,
        /// The I/O error.
        #[source]
        error: io::Error,
    },
    /// The device does not exist.
    #[error("there is no device {0}")]
    NoDevice(String),
    /// The saved value is of another setting, or damaged.
    #[error("the journal's old value of {0} is not usable")]
    Unusable(String),
    /// The kernel did not take it.
    #[error("after it was set, the kernel has {0} instead")]
    NotTaken(String),
}

/// Reason for refusing to change a setting, found before anything is changed.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The setting.
    pub setting: Setting,
    /// The reason.
    pub why: String,
    /// Hint: the action that helps.
    pub hint: String,
}

impl Refusal {
    /// A refusal from its parts.
    pub fn new(setting: &Setting, why: impl fmt::Display, hint: impl fmt::Display) -> Self {
        Self {
            setting: setting.clone(),
            why: why.to_string(),
            hint: hint.to_string(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.setting, self.why, self.hint)
    }
}

impl std::error::Error for Refusal {}

/// Reason why a change does not survive the next boot. The running kernel is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum PersistError {
    /// It is pending, undone, or in files already.
    #[error("only a confirmed change is written to files; this one is {0}")]
    NotConfirmed(String),
    /// The system's files are made by something else.
    #[error(
        "the files of {0} are made by other means; `tune apply --dry-run --snippet` prints what to \
         put there"
    )]
    Managed(&'static str),
    /// Nothing is known of how this host is set up at boot.
    #[error(
        "it is not known what sets this host up at boot; `tune apply --dry-run --snippet` prints \
         what to do"
    )]
    UnknownSystem,
    /// A file of that name exists.
    #[error("{0} exists; move it away")]
    Exists(String),
    /// A file could not be written.
    #[error("write {file}: {error}")]
    Write {
        /// The file.
        file: String,
        /// The I/O error.
        #[source]
        error: io::Error,
    },
    /// Another file sets the same parameter later.
    #[error(
        "at boot {file} sets {name} to {value} after all others; remove that line, and try again"
    )]
    Overridden {
        /// The parameter.
        name: String,
        /// Its value there.
        value: String,
        /// The file.
        file: String,
    },
    /// The file is not one that the system reads.
    #[error("no file that is read at boot sets {0}")]
    NotRead(String),
}

/// Error of a command about changes.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// The plan has no steps.
    #[error("there is nothing to change")]
    Nothing,
    /// Nothing was changed: some settings cannot be.
    #[error("nothing was changed: {}", lines(.0))]
    Refused(Vec<Refusal>),
    /// Nothing was changed: privileges are missing.
    #[error("nothing was changed: {}; run it as root", missing(.0))]
    Privilege(Vec<(Setting, &'static str)>),
    /// Nothing was changed: another change waits.
    #[error(
        "change {} of this host waits for its confirmation; run `pathtwin tune confirm` or \
         `pathtwin tune undo` first", .0.short()
    )]
    Pending(ChangeId),
    /// Nothing was changed: a change waits in another namespace.
    #[error(
        "change {} was made in another network namespace of this boot; run this there, or name \
         another folder with --journal", .0.short()
    )]
    Elsewhere(ChangeId),
    /// Nothing was changed: the plan is out of date.
    #[error("nothing was changed: {0} is no longer as planned; plan again")]
    Stale(Setting),
    /// Nothing was changed: a connection that must work afterwards does not work now.
    #[error("nothing was changed: no connection to {target}: {error}")]
    ProbeBefore {
        /// The target.
        target: String,
        /// The I/O error.
        #[source]
        error: io::Error,
    },
    /// Nothing was changed: the keeper did not start.
    #[error("nothing was changed: the keeper did not start: {0}")]
    NoKeeper(#[source] io::Error),
    /// Nothing was changed: another command is at work.
    #[error("another command is changing this host; try again")]
    Busy,
    /// A step failed, and all was undone.
    #[error("step {} ({setting}) failed: {error}; {rollback}", step + 1)]
    Step {
        /// Index of the step.
        step: usize,
        /// Its setting.
        setting: Box<Setting>,
        /// The error.
        #[source]
        error: Box<TuneError>,
        /// Outcome of the rollback.
        rollback: Rollback,
    },
    /// A new connection failed after the change; it is still pending.
    #[error("no new connection to {target}: {error}; the change is undone at its deadline")]
    ProbeAfter {
        /// The target.
        target: String,
        /// The I/O error.
        #[source]
        error: io::Error,
    },
    /// It was confirmed too late.
    #[error("too late: change {} was undone", .0.short())]
    TooLate(ChangeId),
    /// No change with this id.
    #[error("no change {0}; `pathtwin tune list` shows those there are")]
    Unknown(String),
    /// Several changes fit.
    #[error("several changes begin with {0}; give more digits")]
    Ambiguous(String),
    /// Nothing to confirm or undo.
    #[error("no change waits for a confirmation")]
    NonePending,
    /// It is over.
    #[error("change {} is already {state}", id.short())]
    Over {
        /// Its id.
        id: ChangeId,
        /// Its state.
        state: String,
    },
    /// The host cannot be examined.
    #[error(transparent)]
    Host(#[from] HostError),
    /// It is not in files.
    #[error(transparent)]
    Persist(#[from] PersistError),
    /// A journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A far host.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The process is to stop, in tests.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

fn lines(refusals: &[Refusal]) -> String {
    let all: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    all.join("\n  ")
}

fn missing(needs: &[(Setting, &'static str)]) -> String {
    let all: Vec<String> = needs
        .iter()
        .map(|(setting, what)| format!("{setting} needs {what}"))
        .collect();
    all.join("; ")
}
