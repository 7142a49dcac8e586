//! Folder of journals: one file per change, replaced atomically and synced at each state.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use model::{
    change::{Change, ChangeError, ChangeId},
    text,
    text::Text,
};
use sys::{
    files::{self, Existing, Readers},
    lock::Lock,
};

/// Largest journal that is read, bytes.
const LARGEST: u64 = 4 << 20;

/// Extension of journals.
const EXTENSION: &str = "json";

/// Operations on journals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages are the documentation")]
pub enum Access {
    Create,
    Lock,
    Read,
    Write,
}

impl Access {
    fn text(self) -> Text {
        match self {
            Self::Create => text!("create"),
            Self::Lock => text!("lock"),
            Self::Read => text!("read"),
            Self::Write => text!("write"),
        }
    }
}

/// A journal that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub enum JournalError {
    /// The folder.
    Folder {
        /// The operation.
        op: Access,
        /// The folder.
        folder: PathBuf,
        /// The I/O error.
        #[source]
        error: io::Error,
    },
    /// A file.
    File {
        /// The operation.
        op: Access,
        /// The file.
        file: PathBuf,
        /// The I/O error.
        #[source]
        error: io::Error,
    },
    /// Its contents.
    Damaged {
        /// The file.
        file: PathBuf,
        /// The error.
        #[source]
        error: ChangeError,
    },
}

impl JournalError {
    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        let path = |path: &Path| path.display().to_string();
        match self {
            Self::Folder { op, folder, error } => text!(
                "{operation} the folder of journals {folder}: {error}",
                operation = op.text(),
                folder = path(folder),
                error = error
            ),
            Self::File { op, file, error } => text!(
                "{operation} the journal {file}: {error}",
                operation = op.text(),
                file = path(file),
                error = error
            ),
            Self::Damaged { file, error } => text!(
                "the journal {file} cannot be read: {error}; move it away if its change is over",
                file = path(file),
                error = error.text()
            ),
        }
    }
}

/// A folder of journals.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

/// A journal in a listing.
#[derive(Debug)]
pub struct Listed {
    /// Its id.
    pub id: ChangeId,
    /// The change, or why it cannot be read.
    pub change: Result<Change, JournalError>,
}

/// Creates the folder above the journals, if it is missing: the copy in it is for others, who must
/// get there, also where the umask closes new folders.
fn open_to_others(above: &Path) -> io::Result<()> {
    if above.exists() {
        return Ok(());
    }
    fs::create_dir_all(above)?;
    fs::set_permissions(above, fs::Permissions::from_mode(0o755))
}

impl Folder {
    /// Opens a folder, which is created with mode 0700 if it does not exist.
    ///
    /// # Errors
    /// It cannot be created.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        // Absolute: the keeper may run elsewhere.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let above = path.parent().map_or(Ok(()), open_to_others);
        let made = above.and_then(|()| files::make_private_folder(&path));
        made.map_err(|error| JournalError::Folder {
            op: Access::Create,
            folder: path.clone(),
            error,
        })?;
        Ok(Self { path })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the lock of the folder, which permits changing the host. `None` if another process
    /// holds it longer than `limit`.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn lock(&self, limit: Duration) -> Result<Option<Lock>, JournalError> {
        Lock::exclusive(&self.path.join("lock"), limit).map_err(|error| JournalError::Folder {
            op: Access::Lock,
            folder: self.path.clone(),
            error,
        })
    }

    /// Writes a change to its journal; when this returns, it survives a power loss.
    ///
    /// # Errors
    /// The disk is full, read-only, or failed; the old journal then remains.
    pub fn write(&self, change: &Change) -> Result<(), JournalError> {
        let file = self.file(&change.id);
        let text = change.to_json().map_err(|error| JournalError::Damaged {
            file: file.clone(),
            error,
        })?;
        files::write(&file, Readers::Owner, Existing::Replace, &text).map_err(|error| {
            JournalError::File {
                op: Access::Write,
                file,
                error,
            }
        })
    }

    /// Reads a journal.
    ///
    /// # Errors
    /// It does not exist, cannot be read, or is damaged.
    pub fn read(&self, id: &ChangeId) -> Result<Change, JournalError> {
        let file = self.file(id);
        let text = files::read_untrusted(&file, LARGEST).map_err(|error| JournalError::File {
            op: Access::Read,
            file: file.clone(),
            error,
        })?;
        Change::parse(&text).map_err(|error| JournalError::Damaged { file, error })
    }

    /// All journals, the oldest first.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn list(&self) -> Result<Vec<Listed>, JournalError> {
        let failed = |error| JournalError::Folder {
            op: Access::Read,
            folder: self.path.clone(),
            error,
        };
        let mut all = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let is_journal = path.extension().is_some_and(|e| e == EXTENSION);
            let stem = path.file_stem().and_then(|s| s.to_str());
            if let Some(id) = stem.filter(|_| is_journal).and_then(|s| s.parse().ok()) {
                let change = self.read(&id);
                all.push(Listed { id, change });
            }
        }
        let age = |listed: &Listed| {
            let change = listed.change.as_ref().ok();
            change.and_then(|c| c.created_unix_s)
        };
        all.sort_by(|a, b| (age(a), &a.id).cmp(&(age(b), &b.id)));
        Ok(all)
    }

    fn file(&self, id: &ChangeId) -> PathBuf {
        self.path.join(file_name(id))
    }
}

/// Name of a change's journal in its folder.
pub(crate) fn file_name(id: &ChangeId) -> String {
    format!("{id}.{EXTENSION}")
}
