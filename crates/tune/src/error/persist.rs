//! Errors of the files that make a change last beyond the next boot.

use std::io;

use model::{change::State, text, text::Text};

/// Reason why a change does not survive the next boot. The running kernel is unchanged.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub enum PersistError {
    /// It is pending, undone, or in files already.
    NotConfirmed(State),
    /// The files of the system of this name are made by something else.
    Managed(&'static str),
    /// Nothing is known of how this host is set up at boot.
    UnknownSystem,
    /// The file of this path exists.
    Exists(String),
    /// A file could not be written.
    Write {
        /// The file.
        file: String,
        /// The I/O error.
        #[source]
        error: io::Error,
    },
    /// Another file sets the same parameter later.
    Overridden {
        /// The parameter.
        name: String,
        /// Its value there.
        value: String,
        /// The file.
        file: String,
    },
    /// Somebody has changes of this configuration that are not committed.
    Uncommitted(&'static str),
    /// The file that sets the parameter of this name is not one that the system reads.
    NotRead(String),
}

impl PersistError {
    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::NotConfirmed(state) => text!(
                "only a confirmed change is written to files; this one is {state}",
                state = state.text()
            ),
            Self::Managed(system) => text!(
                "the files of {system} are made by other means; `tune apply --dry-run --snippet` \
                 prints what to put there",
                system = *system
            ),
            Self::UnknownSystem => text!(
                "the network configuration system of this host is unknown; `tune apply --dry-run --snippet` \
                 prints what to do"
            ),
            Self::Exists(file) => text!("{file} exists; move it away", file = file),
            Self::Write { file, error } => {
                text!("write {file}: {error}", file = file, error = error)
            }
            Self::Overridden { name, value, file } => text!(
                "at boot {file} sets {name} to {value} after all others; remove that line, and \
                 try again",
                file = file,
                name = name,
                value = value
            ),
            Self::Uncommitted(package) => text!(
                "`uci changes {package}` shows changes that are not committed; commit or revert \
                 them first",
                package = *package
            ),
            Self::NotRead(name) => {
                text!("no file that is read at boot sets {name}", name = name)
            }
        }
    }
}
