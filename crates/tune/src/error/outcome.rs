//! Outcome of undoing a Change, and settings that another program has changed.

use std::{fmt, io};

use model::{change::Setting, text, text::Text};

use super::host::HostError;
use crate::journal::JournalError;

/// Outcome of a rollback.
#[derive(Debug, Default)]
pub struct Rollback {
    /// Steps whose old value could not be set, by index, with the reason.
    pub failed: Vec<(usize, HostError)>,
    /// Settings left unchanged.
    pub left: Vec<Left>,
    /// Error writing the journal, if any; the old values are restored nevertheless.
    pub journal: Option<JournalError>,
}

/// A setting that no longer has the value set by a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    /// The setting.
    pub setting: Setting,
    /// Its value now.
    pub now: Text,
}

/// A setting or file that a rollback leaves unchanged.
#[derive(Debug)]
pub enum Left {
    /// A setting of a device that no longer exists.
    NoDevice(Setting),
    /// A setting of a device whose name now belongs to another one.
    OtherDevice(Setting),
    /// A module that is in use now.
    InUse(Setting),
    /// A setting that another program has changed since.
    Drifted(Drift),
    /// The file of this path, which has been edited.
    Edited(String),
    /// A file that could not be read or removed.
    File {
        /// Its path.
        file: String,
        /// The I/O error.
        error: io::Error,
    },
}

impl Rollback {
    /// Returns true if every old value is restored.
    pub fn is_complete(&self) -> bool {
        self.failed.is_empty()
    }

    /// The outcome with its values, for reports in any language.
    pub fn text(&self) -> Text {
        let failed = self.failed.iter().map(|(step, error)| {
            text!(
                "step {step}: {error}",
                step = step + 1,
                error = error.text()
            )
        });
        let done = match self.is_complete() {
            true => text!("everything was undone"),
            false => text!("undone except {steps}", steps = Text::list(failed)),
        };
        let left = |done, left: &Left| {
            let left = left.text();
            text!("{done}; left as it is: {left}", done = done, left = left)
        };
        self.left.iter().fold(done, left)
    }
}

impl Drift {
    /// The drift with its values, for reports in any language.
    pub fn text(&self) -> Text {
        text!(
            "{setting}: somebody else has set it to {value}",
            setting = &self.setting,
            value = self.now.clone()
        )
    }
}

impl Left {
    /// Returns the item and the reason, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::NoDevice(setting) => {
                text!("{setting}: the device is gone", setting = setting)
            }
            Self::OtherDevice(setting) => {
                text!("{setting}: it is another device by now", setting = setting)
            }
            Self::InUse(setting) => text!(
                "{setting}: something uses it by now; the next boot removes it",
                setting = setting
            ),
            Self::Drifted(drift) => drift.text(),
            Self::Edited(file) => text!("{file}: somebody has edited it", file = file),
            Self::File { file, error } => {
                text!("{file}: {error}", file = file, error = error)
            }
        }
    }
}

impl fmt::Display for Rollback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}
