//! The folder in memory with the guests' root and the folders of the cells; removed at the end.
//!
//! ```text
//! pathtwin-PID-…/          named by its owner, so that a later start finds those of dead processes
//!   root/init              the guest program
//!   root/{proc,cell,…}     mount points
//!   N/                     a cell's folder: job.json, the guest's memory, then its results
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
    /// Prepares a sandbox for a guest program, after those of dead processes are removed.
    pub(crate) fn new(guest: &Path) -> Result<Self, LabError> {
        let base = base();
        remove_orphans(&base);
        let folder = tempfile::Builder::new()
            .prefix(&format!("{PREFIX}{}-", std::process::id()))
            .tempdir_in(&base)
            .map_err(LabError::file("create a folder in", &base))?;
        let root = folder.path().join("root");
        for point in MOUNT_POINTS {
            let point = root.join(point);
            fs::create_dir_all(&point).map_err(LabError::file("create", &point))?;
        }
        let init = root.join("init");
        fs::copy(guest, &init).map_err(LabError::file("copy the guest program to", &init))?;
        fs::set_permissions(&init, fs::Permissions::from_mode(0o755))
            .map_err(LabError::file("set the permissions of", &init))?;
        Ok(Self {
            folder,
            next: AtomicUsize::new(0),
        })
    }

    /// A new folder for one cell.
    pub(crate) fn cell_folder(&self) -> Result<PathBuf, LabError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder.path().join(number.to_string());
        fs::create_dir(&folder).map_err(LabError::file("create", &folder))?;
        Ok(folder)
    }
}

/// A guest's memory is a file; it must be in memory, and on a file system that permits execution.
fn base() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() {
        memory
    } else {
        std::env::temp_dir()
    }
}

/// Removes sandboxes whose owner is gone (it was killed).
fn remove_orphans(base: &Path) {
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
