//! A folder in memory that holds the guest's root and the cells' folders, and goes when it is
//! done.
//!
//! ```text
//! pathtwin-PID-…/          named by its owner, so that a later start can tell a left one
//!   root/init              the guest program
//!   root/{proc,cell,…}     mount points
//!   N/                     a cell's folder: job.json, the guest's memory, then what came out
//! ```

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use crate::LabError;

const PREFIX: &str = "pathtwin-";

/// Mount points of a guest.
const MOUNT_POINTS: [&str; 6] = ["proc", "cell", "host", "dev", "sys", "tmp"];

/// The folder; dropping it removes it.
#[derive(Debug)]
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
    next: AtomicUsize,
}

impl Sandbox {
    /// Prepares a sandbox for a guest program, after removing those that dead processes left.
    pub(crate) fn new(guest: &Path) -> Result<Self, LabError> {
        let base = base();
        remove_left(&base);
        let folder = tempfile::Builder::new()
            .prefix(&format!("{PREFIX}{}-", std::process::id()))
            .tempdir_in(&base)
            .map_err(LabError::file("make a folder in", &base))?;
        let root = folder.path().join("root");
        for point in MOUNT_POINTS {
            let point = root.join(point);
            fs::create_dir_all(&point).map_err(LabError::file("make", &point))?;
        }
        let init = root.join("init");
        fs::copy(guest, &init).map_err(LabError::file("copy the guest program to", &init))?;
        fs::set_permissions(&init, fs::Permissions::from_mode(0o755))
            .map_err(LabError::file("make executable", &init))?;
        Ok(Self {
            folder,
            next: AtomicUsize::new(0),
        })
    }

    /// A new folder for one cell.
    pub(crate) fn cell_folder(&self) -> Result<PathBuf, LabError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder.path().join(number.to_string());
        fs::create_dir(&folder).map_err(LabError::file("make", &folder))?;
        Ok(folder)
    }
}

/// A guest's memory is a file; it belongs into memory, where it may also be mapped executable.
fn base() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() {
        memory
    } else {
        std::env::temp_dir()
    }
}

/// Removes sandboxes whose owner is gone (it was killed).
fn remove_left(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|n| n.strip_prefix(PREFIX)?.split('-').next()?.parse().ok());
        if owner.is_some_and(|pid: u32| !Path::new(&format!("/proc/{pid}")).exists()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
