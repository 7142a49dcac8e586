//! The Change: a transaction on a host, with all that is needed to go back.
//!
//! A Change is written to a journal before anything is changed. Its steps hold the old values as
//! read, so that another process, or the next start of the program, can undo it.

pub(crate) mod commands;
mod device;
mod error;
mod id;
pub mod parse;
mod process;
mod processors;
mod queue;
mod saved;
mod setting;
mod shaper;
pub mod snippet;
mod state;
mod words;

use serde::{Deserialize, Serialize};

use crate::{text, text::Text};

pub use error::SettingError;
pub use id::{ChangeId, IdError};
pub use process::ProcessId;
pub use processors::{processors, sending};
pub use queue::{Cake, Fq, FqCodel, Htb, Queue};
pub use saved::{Blob, LinkMtu, QueueNode, Saved};
pub use setting::{CONGESTION_CONTROL, Origin, Setting};
pub use shaper::{QueueOf, Shaper};
pub use state::State;

/// Latest version of [`Change`]. Schema 2 has states for files that are being written or removed.
pub const CHANGE_SCHEMA: u32 = 2;

/// A transaction on a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Oldest version that has its state ([`State::schema`]): programs of that version read it.
    pub schema: u32,
    /// Version of the program that wrote it.
    pub program: String,
    /// Its name; unguessable.
    pub id: ChangeId,
    /// Current state.
    pub state: State,
    /// Scope of the settings.
    pub scope: Scope,
    /// Planning time, seconds since 1970 by the host's clock, which may be wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_unix_s: Option<u64>,
    /// The process that applies it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<ProcessId>,
    /// The process that undoes it unless it is confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keeper: Option<ProcessId>,
    /// Deadline for confirmation, after which it is undone, nanoseconds of CLOCK_BOOTTIME.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_boottime_ns: Option<u64>,
    /// Targets, as `host:port` or `udp://host:port`, to which new connections must succeed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<String>,
    /// The steps, in the order in which they are applied.
    pub steps: Vec<Step>,
    /// Files that make it last beyond the next boot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<SettingFile>,
    /// Warnings to read before it is applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Text>,
    /// Events, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
    /// True while the old values of a pending change are set, to measure its effect in turns.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aside: bool,
    /// Reason for the rollback; absent if it is not rolled back, or if the user requested it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_because: Option<Text>,
}

/// The kernel and network namespace of a Change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// Identity of the boot.
    pub boot: String,
    /// Number of the network namespace.
    pub netns: u64,
    /// True if the host's first process is in this namespace, too; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<bool>,
    /// Name of the host.
    pub host: String,
}

impl Scope {
    /// Returns true if the other is the same namespace of the same boot.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.boot, self.netns) == (&other.boot, other.netns)
    }

    /// Returns true if `now`, of a later boot, is the same namespace; `None` if that is unknown.
    /// Only the one of the first process is there at each boot. For users who may not examine that
    /// process, its number is the same at each boot of a kernel (`NET_NS_INIT_INO`,
    /// include/uapi/linux/nsfs.h, Linux 6.18).
    pub fn continues_as(&self, now: &Self) -> Option<bool> {
        match (self.initial, now.initial) {
            (Some(true), Some(is_initial)) => Some(is_initial),
            (Some(false), _) | (_, Some(false)) => None,
            _ => (self.netns == now.netns).then_some(true),
        }
    }
}

/// One setting with its old value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The setting with its new value.
    pub setting: Setting,
    /// The value before, as read.
    pub old: Saved,
    /// The value after it was applied, as read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<Saved>,
    /// Index of its device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<u32>,
    /// Origin of the setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// A file of the system's configuration that a Change wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingFile {
    /// Its absolute path.
    pub path: String,
    /// Its contents, or the target of a symbolic link.
    pub text: String,
    /// True if it is a symbolic link.
    #[serde(default)]
    pub link: bool,
    /// True if it is executable.
    #[serde(default)]
    pub executable: bool,
    /// True if the text is a section at the end of a file that belongs to others too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub part: bool,
    /// Number of folders above it that did not exist before.
    #[serde(default, skip_serializing_if = "is_none")]
    pub made_folders: u32,
}

/// serde passes a reference.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn is_none(count: &u32) -> bool {
    *count == 0
}

/// Something that happened to a Change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Time, nanoseconds of CLOCK_BOOTTIME.
    pub boottime_ns: u64,
    /// Description.
    pub what: Text,
}

/// Error reading a Change document.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub enum ChangeError {
    /// It is not one.
    Malformed(#[from] serde_json::Error),
    /// It was written by a later program.
    Newer(u32),
    /// Its state names a step that it lacks.
    NoStep,
}

impl ChangeError {
    /// The error with its values, for reports in any language. Messages of a parser are English.
    pub fn text(&self) -> Text {
        match self {
            Self::Malformed(error) => text!("not a change: {error}", error = error),
            Self::Newer(schema) => text!(
                "a change of schema {schema}; this program reads up to {known}",
                schema = *schema,
                known = CHANGE_SCHEMA
            ),
            Self::NoStep => text!("an impossible change: its state names a step it lacks"),
        }
    }
}

impl Change {
    /// Reads a Change of any schema up to [`CHANGE_SCHEMA`] from JSON.
    ///
    /// # Errors
    /// The text is not a Change, its schema is newer than this program, or its state names a step
    /// that it does not have.
    pub fn parse(text: &[u8]) -> Result<Self, ChangeError> {
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
        }
        let version: Version = serde_json::from_slice(text)?;
        if version.schema > CHANGE_SCHEMA {
            return Err(ChangeError::Newer(version.schema));
        }
        let change: Change = serde_json::from_slice(text)?;
        let outside = |step: usize| step >= change.steps.len();
        if change.state.step().is_some_and(outside) {
            return Err(ChangeError::NoStep);
        }
        Ok(change)
    }

    /// Reads a list of Changes, each as by [`Self::parse`].
    ///
    /// # Errors
    /// The text is not a list, or as of [`Self::parse`] for one of it.
    pub fn parse_all(text: &[u8]) -> Result<Vec<Self>, ChangeError> {
        let all: Vec<serde_json::Value> = serde_json::from_slice(text)?;
        let all = all
            .iter()
            .map(|one| Self::parse(one.to_string().as_bytes()));
        all.collect()
    }

    /// Serializes it to JSON, with a line break at the end.
    ///
    /// # Errors
    /// None in practice: every field has a JSON form.
    pub fn to_json(&self) -> Result<Vec<u8>, ChangeError> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(text)
    }

    /// Returns true if its files are partly on the disk, as its process was interrupted. Schema 1
    /// had no state for that: a confirmed change with files.
    pub fn is_partly_in_files(&self) -> bool {
        match self.state {
            State::Persisting | State::Unpersisting => true,
            State::Confirmed => !self.files.is_empty(),
            _ => false,
        }
    }

    /// Returns true if it waits for a confirmation, or was interrupted before that.
    pub fn is_pending(&self) -> bool {
        self.state.is_pending()
    }
}

#[cfg(test)]
mod tests;
