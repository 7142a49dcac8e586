//! Folder of results: the user's own, or the read-only one of a team.
//!
//! Files are created under another name and renamed, so that a reader, also on NFS, finds a
//! complete result or none. Nothing is locked or mapped.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use sys::files::{Existing, Readers};

use super::{entry::Damage, note::CacheNote};
use crate::LabError;

/// Accuracy of the time of last use: it is not updated at every use of a result.
const ACCURACY: Duration = Duration::from_secs(60);

/// A folder of results.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Largest size, bytes; absent = it is only read.
    pub(super) most: Option<u64>,
}

impl Folder {
    /// The user's own folder, of at most `most` bytes.
    pub(super) fn own(path: PathBuf, most: u64) -> Self {
        let most = Some(most);
        Self { path, most }
    }

    /// A read-only folder.
    pub(super) fn read_only(path: PathBuf) -> Self {
        Self { path, most: None }
    }

    /// Returns true if it belongs to the user.
    pub(super) fn is_own(&self) -> bool {
        self.most.is_some()
    }

    /// The file of a key.
    pub(super) fn file(&self, key: &blake3::Hash) -> PathBuf {
        let hex = key.to_hex();
        self.path.join(&hex[..2]).join(&hex[2..])
    }

    /// Reads the file of a key; `None` if it does not exist.
    pub(super) fn read(&self, key: &blake3::Hash) -> Result<Option<Vec<u8>>, Damage> {
        let file = self.file(key);
        // A file on NFS that another host replaces while it is open becomes stale (ESTALE);
        // reopening gives the new one.
        let read = match whole(&file) {
            Err(error) if error.kind() == io::ErrorKind::StaleNetworkFileHandle => whole(&file),
            other => other,
        };
        match read {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            // A folder of a team that does not exist (not mounted) has no results.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
            Err(error) => Err(Damage::Io(error.kind())),
        }
    }

    /// Notes that a result was used.
    pub(super) fn touch(&self, key: &blake3::Hash) {
        let Ok(file) = fs::File::open(self.file(key)) else {
            return;
        };
        let changed = file.metadata().and_then(|metadata| metadata.modified());
        let age = changed.map(|time| time.elapsed().unwrap_or_default());
        if age.is_ok_and(|age| age > ACCURACY) {
            let _ = file.set_modified(SystemTime::now());
        }
    }

    /// Removes a damaged result, if the folder is the user's own.
    pub(super) fn discard(&self, key: &blake3::Hash, why: Damage) -> CacheNote {
        let file = self.file(key);
        if self.is_own() {
            remove(&file);
        }
        let place = file.display().to_string();
        CacheNote::Damaged { place, why }
    }

    /// Writes the file of a key.
    pub(super) fn write(&self, key: &blake3::Hash, text: &[u8]) -> Result<(), LabError> {
        if self.most.is_none_or(|most| text.len() as u64 > most) {
            return Ok(());
        }
        let file = self.file(key);
        let folder = file.parent().unwrap_or(&self.path);
        fs::create_dir_all(folder).map_err(LabError::file("create", folder))?;
        // Permissions by umask: if the user's folder is the team's, others can read it.
        sys::files::write(&file, Readers::ByUmask, Existing::Replace, text)
            .map_err(LabError::file("write", &file))
    }

    /// Evicts the results that were not used for the longest time, above the size limit; files of
    /// killed writers are among them.
    pub(super) fn trim(&self) {
        let Some(most) = self.most else { return };
        let mut all: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for shelf in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            for entry in fs::read_dir(shelf.path()).into_iter().flatten().flatten() {
                let Ok(metadata) = entry.metadata() else {
                    continue;
                };
                let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                let size = match metadata.is_dir() {
                    true => folder_size(&entry.path()),
                    false => metadata.len(),
                };
                all.push((used, size, entry.path()));
            }
        }
        all.sort_by_key(|(used, ..)| std::cmp::Reverse(*used));
        let mut sum = 0;
        for (_, size, path) in all {
            sum += size;
            if sum > most {
                remove(&path);
            }
        }
    }
}

fn whole(file: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    fs::File::open(file)?.read_to_end(&mut text)?;
    Ok(text)
}

/// The first version had a folder for each result.
fn folder_size(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files
        .filter_map(|f| f.metadata().ok())
        .map(|m| m.len())
        .sum()
}

fn remove(path: &Path) {
    if fs::remove_file(path).is_err() {
        let _ = fs::remove_dir_all(path);
    }
}
