//! The kept changes of a host: from its journals, or from the copy for those who may not read them.
//!
//! Journals are their owner's alone, because they decide what an undo restores. A watch runs as
//! another user and only compares: it gets a copy, beside the folder, of what everybody can see on
//! the host anyway.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use model::change::Change;
use sys::files::{self, Existing, Readers};

use crate::journal::{Access, Folder, JournalError};

/// Largest copy that is read, bytes.
const LARGEST: u64 = 16 << 20;

/// The kept changes of the journals in a folder, the oldest first; from the copy if the folder may
/// not be read. Empty if the folder does not exist.
///
/// # Errors
/// Neither can be read. Journals that cannot be read are skipped.
pub fn kept(folder: &Path) -> Result<Vec<Change>, JournalError> {
    let failed = |error| JournalError::Folder {
        op: Access::Read,
        folder: folder.to_owned(),
        error,
    };
    match fs::read_dir(folder) {
        Ok(_) => of(&Folder::open(folder)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => copy(&beside(folder)).unwrap_or_else(|| Err(failed(error))),
    }
}

/// Renews the copy. Its errors are not those of the change, whose journal is written: whoever reads
/// an old copy compares with what was kept before.
pub(crate) fn publish(folder: &Folder) {
    let written = of(folder).map(|kept| {
        let public: Vec<Change> = kept.into_iter().map(public).collect();
        let text = serde_json::to_vec(&public).map_err(io::Error::other)?;
        let file = beside(folder.path());
        files::write(&file, Readers::Mode(0o644), Existing::Replace, &text)
    });
    drop(written);
}

fn of(folder: &Folder) -> Result<Vec<Change>, JournalError> {
    let listed = folder.list()?.into_iter();
    let changes = listed.filter_map(|listed| listed.change.ok());
    Ok(changes.filter(|change| change.state.is_kept()).collect())
}

/// What a comparison with the host needs: neither files nor targets of connections.
fn public(change: Change) -> Change {
    Change {
        controller: None,
        keeper: None,
        probes: Vec::new(),
        files: Vec::new(),
        warnings: Vec::new(),
        events: Vec::new(),
        ..change
    }
}

/// The content of a copy; `None` if it does not exist.
fn copy(file: &Path) -> Option<Result<Vec<Change>, JournalError>> {
    let text = match files::read_untrusted(file, LARGEST) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        read => read.map_err(|error| JournalError::File {
            op: Access::Read,
            file: file.to_owned(),
            error,
        }),
    };
    let parsed = |text: Vec<u8>| {
        Change::parse_all(&text).map_err(|error| JournalError::Damaged {
            file: file.to_owned(),
            error,
        })
    };
    Some(text.and_then(parsed))
}

/// The copy of a folder: `tune-kept.json` beside `tune`.
fn beside(folder: &Path) -> PathBuf {
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push("-kept.json");
    folder.with_file_name(name)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_copy_is_beside_the_folder() {
        let file = beside(Path::new("/var/lib/pathtwin/tune"));
        assert_eq!(file, Path::new("/var/lib/pathtwin/tune-kept.json"));
    }

    #[test]
    fn no_folder_has_no_changes_and_a_copy_of_something_else_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("tune");
        assert!(kept(&folder).unwrap().is_empty());
        assert!(copy(&beside(&folder)).is_none());
        fs::write(beside(&folder), "{}").unwrap();
        assert!(copy(&beside(&folder)).unwrap().is_err());
    }
}
