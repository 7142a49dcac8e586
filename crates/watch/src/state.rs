//! Stored state of a watch: two files, each replaced atomically, so that a crash leaves either the
//! old or the new content.
//!
//! With a folder in memory they are written there, and the folder of the state, which may be on
//! flash, gets a copy once a day. A power failure then loses a day of values, but no charge: the
//! copy has the bytes of the coming day charged already (`OnDisk`).

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use model::{change::ChangeId, text, text::Text};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sys::{
    files::{self, Existing, Readers},
    lock::Lock,
};

use crate::{
    budget::Ledger, calendar::Calendar, figures::Figure, lasting::Track, message::Message,
    path_state::PathState, useless::Useful,
};

/// Version of the files.
const STATE_SCHEMA: u32 = 1;
/// Account, schedule and messages: small, and written before each run.
const STATE: &str = "watch.json";
/// The values of weeks: written once an hour, and after each load.
const TRACKS: &str = "watch-values.json";
const LOCK: &str = "watch.lock";

/// Error reading or writing the state.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub enum StateError {
    /// The folder or a file cannot be used.
    Io {
        /// The file.
        path: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
    /// A file of a newer program.
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// Another watch uses the folder.
    Busy(PathBuf),
}

impl StateError {
    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::Io { path, source } => text!(
                "{file}: {error}; name a folder that this user may write: state = \"FOLDER\"",
                file = path,
                error = source
            ),
            Self::Newer { path, found } => text!(
                "{file} is of a newer program (version {found}): update pathtwin",
                file = path,
                found = *found
            ),
            Self::Busy(folder) => text!(
                "another pathtwin watch uses {folder}: end it, or give this one a separate folder",
                folder = folder
            ),
        }
    }

    /// Whether a file could not be written because the disk, or the user's share of it, is full.
    pub fn is_full(&self) -> bool {
        let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
        matches!(self, Self::Io { source, .. } if full.contains(&source.kind()))
    }
}

/// What the copy of the state on disk says, in the boot in which it was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OnDisk {
    /// When it was made, ns of CLOCK_BOOTTIME.
    pub(crate) boot_ns: u64,
    /// Its account, in which the bytes of the coming day are spent.
    pub(crate) ledger: Ledger,
}

/// All but the values.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Saved {
    /// How often it was written: of two copies, the one with more is newer.
    #[serde(default)]
    pub(crate) writes: u64,
    /// The copy on disk, if this one is in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) on_disk: Option<OnDisk>,
    /// Identity of the boot in which due times count.
    pub(crate) boot: String,
    /// The calendar of all times but those of the account.
    #[serde(default)]
    pub(crate) calendar: Calendar,
    /// The account.
    pub(crate) ledger: Ledger,
    /// Number of the next message.
    pub(crate) next_message: u64,
    /// Messages that are to be sent.
    pub(crate) outbox: Vec<Message>,
    /// Changes of `tune` that have drifted and were reported, by id, with their settings.
    #[serde(default)]
    pub(crate) drifted: BTreeMap<String, Vec<Text>>,
    /// Changes of `tune` that may be undone, by id.
    #[serde(default)]
    pub(crate) useful: BTreeMap<ChangeId, Useful>,
    /// Paths by name.
    pub(crate) paths: BTreeMap<String, PathState>,
}

/// The values by path and figure.
pub(crate) type Tracks = BTreeMap<String, Vec<(Figure, Track)>>;

/// A file with its version.
#[derive(Serialize)]
struct Versioned<T> {
    schema: u32,
    #[serde(flatten)]
    content: T,
}

#[derive(Default, Serialize, Deserialize)]
struct Values {
    paths: Tracks,
}

/// The folder of a state, held by this process alone.
pub struct Folder {
    path: PathBuf,
    /// The folder in memory.
    runtime: Option<PathBuf>,
    _lock: Lock,
}

impl Folder {
    /// Opens a folder and creates it if it does not exist.
    ///
    /// # Errors
    /// It cannot be created or written, or another process uses it.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        let cannot = |source| StateError::Io {
            path: path.to_owned(),
            source,
        };
        files::make_private_folder(path).map_err(cannot)?;
        let lock = Lock::exclusive(&path.join(LOCK), Duration::from_secs(2)).map_err(cannot)?;
        Ok(Self {
            path: path.to_owned(),
            runtime: None,
            _lock: lock.ok_or_else(|| StateError::Busy(path.to_owned()))?,
        })
    }

    /// The same with a folder in memory, which is created if it does not exist.
    ///
    /// # Errors
    /// It cannot be created.
    pub fn with_runtime(self, runtime: &Path) -> Result<Self, StateError> {
        files::make_private_folder(runtime).map_err(|source| StateError::Io {
            path: runtime.to_owned(),
            source,
        })?;
        Ok(Self {
            runtime: Some(runtime.to_owned()),
            ..self
        })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder in memory, if there is one.
    pub fn runtime(&self) -> Option<&Path> {
        self.runtime.as_deref()
    }

    /// The newer one of the states in memory and on disk.
    pub(crate) fn read(&self) -> Result<(Saved, Tracks), StateError> {
        let on_disk = read_at(&self.path)?;
        let Some(runtime) = &self.runtime else {
            return Ok(on_disk);
        };
        let in_memory = read_at(runtime)?;
        let writes = in_memory.0.writes;
        match writes > 0 && writes >= on_disk.0.writes {
            true => Ok(in_memory),
            false => Ok(on_disk),
        }
    }

    /// Files that could not be read and are kept for inspection: what was in them is forgotten, and
    /// the bytes of the month are counted anew.
    pub(crate) fn damaged(&self) -> Vec<PathBuf> {
        let folders = [Some(self.path.as_path()), self.runtime()];
        let files = folders
            .into_iter()
            .flatten()
            .flat_map(|folder| [STATE, TRACKS].map(|name| damaged(&folder.join(name))));
        files.filter(|file| file.exists()).collect()
    }

    /// Writes the state, in memory if there is such a folder.
    pub(crate) fn write(&self, saved: &Saved) -> Result<(), StateError> {
        replace(self.fast(), STATE, saved)
    }

    /// Writes the values, likewise.
    pub(crate) fn write_tracks(&self, tracks: &Tracks) -> Result<(), StateError> {
        write_tracks_at(self.fast(), tracks)
    }

    /// Writes both to disk, the values first: the state says how new they are.
    pub(crate) fn write_to_disk(&self, saved: &Saved, tracks: &Tracks) -> Result<(), StateError> {
        write_tracks_at(&self.path, tracks)?;
        replace(&self.path, STATE, saved)
    }

    fn fast(&self) -> &Path {
        self.runtime.as_deref().unwrap_or(&self.path)
    }
}

fn read_at(folder: &Path) -> Result<(Saved, Tracks), StateError> {
    let values: Values = file(folder, TRACKS)?;
    Ok((file(folder, STATE)?, values.paths))
}

/// A file's content; the default if it does not exist. A damaged file, which an atomic replacement
/// cannot cause, is renamed for inspection and not used.
fn file<T: Default + DeserializeOwned>(folder: &Path, name: &str) -> Result<T, StateError> {
    let path = folder.join(name);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(T::default()),
        Err(source) => return Err(StateError::Io { path, source }),
    };
    #[derive(Deserialize)]
    struct Version {
        schema: u32,
    }
    if let Ok(Version { schema }) = serde_json::from_slice(&text)
        && schema > STATE_SCHEMA
    {
        let found = schema;
        return Err(StateError::Newer { path, found });
    }
    // Not through a flattened field, which would not read the numbers that are keys.
    match serde_json::from_slice::<T>(&text) {
        Ok(content) => Ok(content),
        Err(_) => {
            fs::rename(&path, damaged(&path)).map_err(|source| StateError::Io { path, source })?;
            Ok(T::default())
        }
    }
}

/// The name that a file gets which cannot be read.
fn damaged(file: &Path) -> PathBuf {
    file.with_extension("damaged")
}

fn write_tracks_at(folder: &Path, tracks: &Tracks) -> Result<(), StateError> {
    #[derive(Serialize)]
    struct Borrowed<'a> {
        paths: &'a Tracks,
    }
    replace(folder, TRACKS, Borrowed { paths: tracks })
}

fn replace(folder: &Path, name: &str, content: impl Serialize) -> Result<(), StateError> {
    let path = folder.join(name);
    let file = Versioned {
        schema: STATE_SCHEMA,
        content,
    };
    let text = serde_json::to_vec(&file).map_err(io::Error::other);
    text.and_then(|text| files::write(&path, Readers::Owner, Existing::Replace, &text))
        .map_err(|source| StateError::Io { path, source })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_folder_is_for_one_watch_and_its_state_round_trips() {
        let folder = tempfile::tempdir().unwrap();
        let open = Folder::open(folder.path()).unwrap();
        assert!(matches!(
            Folder::open(folder.path()),
            Err(StateError::Busy(_))
        ));
        assert!(open.read().unwrap().1.is_empty());
        let mut saved = Saved {
            next_message: 7,
            ..Saved::default()
        };
        let month = crate::moment::Month(24_322);
        let _charged = saved
            .ledger
            .reserve(&[month], "a", 60, (None, 100))
            .unwrap();
        open.write(&saved).unwrap();
        let read = open.read().unwrap().0;
        assert_eq!(read.next_message, 7);
        assert_eq!(read.ledger, saved.ledger);
        assert!(!folder.path().join("watch.damaged").exists());
    }

    #[test]
    fn a_damaged_file_is_renamed_and_a_newer_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let open = Folder::open(folder.path()).unwrap();
        fs::write(folder.path().join(STATE), "{\"schema\":1,\"boo").unwrap();
        assert!(open.damaged().is_empty());
        assert_eq!(open.read().unwrap().0.next_message, 0);
        assert_eq!(open.damaged(), [folder.path().join("watch.damaged")]);
        fs::write(folder.path().join(STATE), "{\"schema\":9}").unwrap();
        assert!(matches!(
            open.read(),
            Err(StateError::Newer { found: 9, .. })
        ));
    }

    #[test]
    fn of_two_copies_the_newer_one_is_read() {
        let (disk, memory) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let open = Folder::open(disk.path()).unwrap();
        let saved = |writes, next_message| Saved {
            writes,
            next_message,
            ..Saved::default()
        };
        // Of an earlier version, which did not count.
        open.write(&saved(0, 1)).unwrap();
        let open = open.with_runtime(memory.path()).unwrap();
        assert_eq!(open.read().unwrap().0.next_message, 1);
        open.write(&saved(1, 2)).unwrap();
        assert_eq!(open.read().unwrap().0.next_message, 2);
        open.write_to_disk(&saved(3, 3), &Tracks::new()).unwrap();
        assert_eq!(open.read().unwrap().0.next_message, 3);
    }
}
