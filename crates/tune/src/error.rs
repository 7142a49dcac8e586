//! Errors of transactions. Each has a text with values, for reports in any language.

mod host;
mod outcome;
mod persist;
mod refusal;

use std::io;

use model::{
    change::{ChangeId, Setting, State, snippet::Form},
    text,
    text::Text,
};

use crate::{
    journal::{self, JournalError},
    observer::Interrupted,
    remote::RemoteError,
};

pub use host::{HostError, Operation};
pub use outcome::{Drift, Left, Rollback};
pub use persist::PersistError;
pub use refusal::{Refusal, RefusalReason};

/// Error of a command about changes.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub enum TuneError {
    /// The plan has no steps.
    Nothing,
    /// Nothing was changed: some settings cannot be changed.
    Refused(Vec<Refusal>),
    /// Nothing was changed: privileges are missing; each setting with the privilege it needs.
    Privilege(Vec<(Setting, &'static str)>),
    /// Nothing was changed: another change is pending.
    Pending(ChangeId),
    /// Nothing was changed: a change is pending in another namespace.
    Elsewhere(ChangeId),
    /// Nothing was changed: the plan is out of date.
    Stale(Box<Setting>),
    /// Nothing was changed: a connection that must work afterwards already fails.
    ProbeBefore {
        /// The target.
        target: String,
        /// The I/O error.
        #[source]
        error: io::Error,
    },
    /// Nothing was changed: the keeper did not start.
    NoKeeper(#[source] io::Error),
    /// The keeper died while the change was applied.
    KeeperDied,
    /// Nothing was changed: another command is running.
    Busy,
    /// A step failed, and all was undone.
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
    ProbeAfter {
        /// The target.
        target: String,
        /// The I/O error.
        #[source]
        error: io::Error,
    },
    /// It was confirmed too late.
    TooLate(ChangeId),
    /// Its old values are set at present, to measure its effect.
    Aside(ChangeId),
    /// No change with this id.
    Unknown(String),
    /// Several changes fit.
    Ambiguous(String),
    /// Nothing to confirm or undo.
    NonePending,
    /// Nothing waits; this one is the last that was confirmed.
    OnlyConfirmed(ChangeId),
    /// It is not undone: a later kept change has one of its settings.
    Overlaid {
        /// Its id.
        id: ChangeId,
        /// The later one.
        by: ChangeId,
    },
    /// It has ended.
    Over {
        /// Its id.
        id: ChangeId,
        /// Its state.
        state: State,
    },
    /// The host cannot be examined.
    Host(#[from] HostError),
    /// It is not in files.
    Persist(#[from] PersistError),
    /// A journal.
    Journal(#[from] JournalError),
    /// A far host.
    Remote(#[from] RemoteError),
    /// The process is to stop, in tests.
    Interrupted(#[from] Interrupted),
}

impl TuneError {
    /// The form of the settings for other means, by which the files of this system are managed.
    pub fn snippet(&self) -> Option<Form> {
        match self {
            Self::Persist(error) => error.snippet(),
            _ => None,
        }
    }

    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::Nothing => text!("there is nothing to change"),
            Self::Refused(all) => unchanged(Text::list(all.iter().map(Refusal::text))),
            Self::Privilege(all) => {
                let needs = all.iter().map(|(setting, capability)| {
                    text!(
                        "{setting} needs {capability}",
                        setting = setting,
                        capability = *capability
                    )
                });
                unchanged(text!("{needs}; run it as root", needs = Text::list(needs)))
            }
            Self::Stale(setting) => unchanged(text!(
                "{setting} is no longer as planned; plan again",
                setting = setting.as_ref()
            )),
            Self::ProbeBefore { target, error } => unchanged(text!(
                "no connection to {target}: {error}",
                target = target,
                error = error
            )),
            Self::NoKeeper(error) => {
                unchanged(text!("the keeper did not start: {error}", error = error))
            }
            Self::KeeperDied => text!("its keeper died"),
            Self::Step {
                step,
                setting,
                error,
                rollback,
            } => text!(
                "step {step} ({setting}) failed: {error}; {rollback}",
                step = step + 1,
                setting = setting.as_ref(),
                error = error.text(),
                rollback = rollback.text()
            ),
            Self::ProbeAfter { target, error } => text!(
                "no new connection to {target}: {error}; the change is undone at its deadline",
                target = target,
                error = error
            ),
            Self::Host(error) => error.text(),
            Self::Persist(error) => error.text(),
            Self::Journal(error) => error.text(),
            Self::Remote(error) => error.text(),
            Self::Interrupted(_) => text!("interrupted"),
            of_changes => of_changes.text_of_change(),
        }
    }

    /// The text of an error about the id or the state of a change.
    fn text_of_change(&self) -> Text {
        match self {
            Self::Pending(id) => text!(
                "change {id} of this host waits for its confirmation; run `pathtwin tune confirm` \
                 or `pathtwin tune undo` first",
                id = id.short()
            ),
            Self::Elsewhere(id) => text!(
                "change {id} was made in another network namespace: run this there, or name another \
                 folder with --journal; if that namespace is gone, so are its settings: delete {file}",
                id = id.short(),
                file = Text::name(journal::file_name(id))
            ),
            Self::Aside(id) => text!(
                "the old values of change {id} are set at present, to measure its effect: wait for the end of \
                 that, or undo the change with `pathtwin tune undo`",
                id = id.short()
            ),
            Self::TooLate(id) => text!("too late: change {id} was undone", id = id.short()),
            Self::Unknown(prefix) => text!(
                "no change {id}; `pathtwin tune list` shows those there are",
                id = prefix
            ),
            Self::Ambiguous(prefix) => text!(
                "several changes begin with {id}; give more digits",
                id = prefix
            ),
            Self::Over { id, state } => text!(
                "change {id} is already {state}",
                id = id.short(),
                state = state.text()
            ),
            Self::NonePending => text!("no change waits for a confirmation"),
            Self::Overlaid { id, by } => text!(
                "change {id} is not undone: the later change {by} has one of its settings; undo that first",
                id = id.short(),
                by = by.short()
            ),
            Self::OnlyConfirmed(id) => text!(
                "no change waits for a confirmation; `pathtwin tune undo {id}` undoes the last confirmed one",
                id = id.short()
            ),
            _ => text!("another command is changing this host; try again"),
        }
    }
}

/// An error before anything was changed.
fn unchanged(why: Text) -> Text {
    text!("nothing was changed: {why}", why = why)
}
