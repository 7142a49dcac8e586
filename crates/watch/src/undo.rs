//! A request of the watch to undo a change of `tune` that no longer helps.
//!
//! The watch has no privilege. It leaves the request in the folder of its state; `pathtwin tune
//! recheck`, which root's timer runs, takes it as a hint from somebody less trusted: whoever
//! controls the folder can at most have a change undone that the config, which is root's, permits
//! to undo.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use model::{change::ChangeId, text, text::Text};
use serde::{Deserialize, Serialize};
use sys::files::{self, Existing, Readers};

use crate::message::FigureChange;

/// Version of [`Request`].
pub const REQUEST_SCHEMA: u32 = 1;
/// Its name in the folder of the state.
pub const REQUEST: &str = "undo-request.json";
/// Largest request that is read, bytes.
const LARGEST: u64 = 1 << 16;
/// Time after which a request that the watch has not renewed is refused. It renews it each hour.
const VALID: Duration = Duration::from_secs(24 * 3600);

/// A request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// [`REQUEST_SCHEMA`] of the writer.
    pub schema: u32,
    /// The change.
    pub change: ChangeId,
    /// When it was made, µs since 1970.
    pub asked_us: u64,
    /// The reason in one sentence.
    pub reason: Text,
    /// The figures without the change and in the last week.
    pub figures: Vec<FigureChange>,
}

/// A request that is not followed.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub enum RequestError {
    /// It cannot be read, or is not a regular file.
    Read(PathBuf, io::Error),
    /// Others than the owner of the folder may have written it.
    Open(PathBuf),
    /// Its watch has not renewed it, so that it may be wrong by now.
    Old(PathBuf),
    /// It is not a request of this version.
    Format(PathBuf),
}

impl RequestError {
    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::Read(file, error) => text!("read {file}: {error}", file = file, error = error),
            Self::Open(file) => text!(
                "{file} is refused: it must belong to the owner of its folder, have one name, and \
                 not be accessible to others",
                file = file
            ),
            Self::Old(file) => text!(
                "{file} is refused: pathtwin watch has not renewed it for a day; does it run?",
                file = file
            ),
            Self::Format(file) => text!(
                "{file} is refused: it is not a request of this version of pathtwin watch",
                file = file
            ),
        }
    }
}

/// Writes or removes the request in the folder of a state.
///
/// # Errors
/// The folder cannot be written.
pub(crate) fn write(folder: &Path, request: Option<&Request>) -> io::Result<()> {
    let file = folder.join(REQUEST);
    let Some(request) = request else {
        return match fs::remove_file(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        };
    };
    let text = serde_json::to_vec(request).map_err(io::Error::other)?;
    if fs::read(&file).is_ok_and(|old| old == text) {
        let old = fs::File::options().write(true).open(&file)?;
        return old.set_modified(SystemTime::now());
    }
    files::write(&file, Readers::Owner, Existing::Replace, &text)
}

/// Reads the request in a folder of a less trusted user; `None` if there is none.
///
/// # Errors
/// It is a link, others may have written it, or it is not a request.
pub fn read(folder: &Path) -> Result<Option<Request>, RequestError> {
    let file = folder.join(REQUEST);
    let cannot = |error| RequestError::Read(file.clone(), error);
    let above = match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        above => above.map_err(cannot)?,
    };
    let (bytes, meta) = match files::read_untrusted_with(&file, LARGEST) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read.map_err(cannot)?,
    };
    let is_owners = above.is_dir()
        && above.mode() & 0o022 == 0
        && (meta.uid(), meta.nlink()) == (above.uid(), 1)
        && meta.mode() & 0o077 == 0;
    if !is_owners {
        return Err(RequestError::Open(file));
    }
    // A time in the future has no age either.
    let age = meta.modified().ok().and_then(|at| at.elapsed().ok());
    if age.is_none_or(|age| age > VALID) {
        return Err(RequestError::Old(file));
    }
    match serde_json::from_slice::<Request>(&bytes) {
        Ok(request) if request.schema == REQUEST_SCHEMA => Ok(Some(request)),
        _ => Err(RequestError::Format(file)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn request() -> Request {
        Request {
            schema: REQUEST_SCHEMA,
            change: ChangeId::from_random([7; 16]),
            asked_us: 1,
            reason: text!("none"),
            figures: Vec::new(),
        }
    }

    /// A folder as a watch makes it. One by the umask of an ordinary user of Debian may be written
    /// by that user's group, and is refused.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        folder
    }

    #[test]
    fn a_request_round_trips_and_can_be_withdrawn() {
        let folder = folder();
        assert_eq!(read(folder.path()).unwrap(), None);
        assert_eq!(read(&folder.path().join("none")).unwrap(), None);
        write(folder.path(), Some(&request())).unwrap();
        assert_eq!(read(folder.path()).unwrap(), Some(request()));
        write(folder.path(), None).unwrap();
        write(folder.path(), None).unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
    }

    #[test]
    fn a_request_of_others_is_refused() {
        let folder = folder();
        let file = folder.path().join(REQUEST);
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        let is_open = || matches!(read(folder.path()), Err(RequestError::Open(_)));
        write(folder.path(), Some(&request())).unwrap();
        mode(&file, 0o620);
        assert!(is_open());
        mode(&file, 0o600);
        assert!(!is_open());
        // A second name: of a file elsewhere, which somebody linked here.
        fs::hard_link(&file, folder.path().join("other")).unwrap();
        assert!(is_open());
        fs::remove_file(folder.path().join("other")).unwrap();
        mode(folder.path(), 0o770);
        assert!(is_open());
        mode(folder.path(), 0o700);
        // Of another user than that of the folder; only root can make one.
        if std::os::unix::fs::chown(&file, Some(12_345), None).is_ok() {
            assert!(is_open());
        } else {
            eprintln!("skipped: a request of another user: needs root");
        }
    }

    #[test]
    fn a_request_that_is_not_renewed_is_refused() {
        let folder = folder();
        write(folder.path(), Some(&request())).unwrap();
        let is_old = || matches!(read(folder.path()), Err(RequestError::Old(_)));
        for (forward, back_s) in [(false, 25 * 3600), (true, 3600)] {
            let mut options = fs::File::options();
            let file = options.write(true).open(folder.path().join(REQUEST));
            let by = Duration::from_secs(back_s);
            let now = SystemTime::now();
            let at = if forward { now + by } else { now - by };
            file.unwrap().set_modified(at).unwrap();
            assert!(is_old());
            write(folder.path(), Some(&request())).unwrap();
            assert!(!is_old());
        }
    }

    #[test]
    fn links_and_other_files_are_no_requests() {
        let folder = folder();
        let (file, elsewhere) = (folder.path().join(REQUEST), folder.path().join("elsewhere"));
        write(folder.path(), Some(&request())).unwrap();
        fs::rename(&file, &elsewhere).unwrap();
        symlink(&elsewhere, &file).unwrap();
        assert!(matches!(read(folder.path()), Err(RequestError::Read(..))));
        fs::remove_file(&file).unwrap();
        let of = |text: &[u8]| {
            files::write(&file, Readers::Owner, Existing::Replace, text).unwrap();
            read(folder.path())
        };
        let newer = Request {
            schema: REQUEST_SCHEMA + 1,
            ..request()
        };
        let newer = serde_json::to_vec(&newer).unwrap();
        let short = br#"{"schema":1,"change":"../../etc","asked_us":1,"reason":"","figures":[]}"#;
        for text in [&b""[..], b"[]", &newer, short] {
            assert!(matches!(of(text), Err(RequestError::Format(_))));
        }
        let long = vec![b' '; LARGEST as usize + 1];
        assert!(matches!(of(&long), Err(RequestError::Read(..))));
    }
}
