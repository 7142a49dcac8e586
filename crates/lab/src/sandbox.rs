//! Folder in memory with the guests' root and the folders of the cells; removed at the end.
//!
//! ```text
//! pathtwin-PID-…/          named by its owner
//!   lock                   locked by its owner while it lives; a later start removes the others
//!   root/init              the guest program
//!   root/{proc,cell,…}     mount points
//!   N/                     a cell's folder: job.json, the guest's memory, then its results
//! ```

use std::{
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use sys::lock::Lock;

use crate::LabError;

const PREFIX: &str = "pathtwin-";
const LOCK: &str = "lock";

/// If it is `keep`, folders are left to look into, under a name by which no later start takes them
/// for those of a dead process: for work on the lab itself.
const KEEP: (&str, &str) = ("PATHTWIN_SANDBOX", "keep");
const KEPT: &str = "pathtwin-kept-";

/// A younger folder without a lock may belong to a process that is about to lock it.
const SETTLED: Duration = Duration::from_secs(60);

/// Mount points of a guest.
const MOUNT_POINTS: [&str; 6] = ["proc", "cell", "host", "dev", "sys", "tmp"];

/// The folder; dropping it removes it.
#[derive(Debug)]
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
    stays: bool,
    next: AtomicUsize,
    /// Held until the end. The kernel releases it however this process ends.
    _lock: Lock,
}

impl Sandbox {
    /// Prepares a sandbox for a guest program, after those of dead processes are removed.
    pub(crate) fn new(guest: &Path) -> Result<Self, LabError> {
        let base = base();
        remove_orphans(&base);
        let stays = std::env::var_os(KEEP.0).is_some_and(|value| value == KEEP.1);
        let prefix = if stays { KEPT } else { PREFIX };
        let folder = tempfile::Builder::new()
            .disable_cleanup(stays)
            .prefix(&format!("{prefix}{}-", std::process::id()))
            .tempdir_in(&base)
            .map_err(LabError::file("create a folder in", &base))?;
        let _lock = lock(folder.path()).map_err(LabError::file("lock", folder.path()))?;
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
            stays,
            next: AtomicUsize::new(0),
            _lock,
        })
    }

    /// A new folder for one cell.
    pub(crate) fn cell_folder(&self) -> Result<PathBuf, LabError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder.path().join(number.to_string());
        fs::create_dir(&folder).map_err(LabError::file("create", &folder))?;
        Ok(folder)
    }

    /// Removes the folder of a cell that has ended.
    pub(crate) fn remove(&self, cell: &Path) {
        if !self.stays {
            let _ = fs::remove_dir_all(cell);
        }
    }
}

/// The lock of a sandbox. It is renamed to its final name after locking, so that it is never
/// visible unlocked.
fn lock(folder: &Path) -> io::Result<Lock> {
    let new = folder.join("new");
    let held = Lock::exclusive(&new, Duration::ZERO)?;
    fs::rename(new, folder.join(LOCK))?;
    held.ok_or_else(|| io::ErrorKind::WouldBlock.into())
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
        if owner.is_some_and(|pid: u32| is_orphan(&entry.path(), pid)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Returns true if no process holds the lock of a sandbox. Process ids are not sufficient, since a
/// container that shares the folder has a separate PID namespace. They are used only for sandboxes
/// of versions without a lock.
fn is_orphan(folder: &Path, pid: u32) -> bool {
    let lock = folder.join(LOCK);
    match fs::symlink_metadata(&lock) {
        Ok(_) => matches!(Lock::exclusive(&lock, Duration::ZERO), Ok(Some(_))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let age = fs::metadata(folder).and_then(|m| m.modified());
            let settled = age.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > SETTLED));
            settled && !Path::new(&format!("/proc/{pid}")).exists()
        }
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process in a container that shares /dev/shm once removed the sandboxes of living
    /// processes, whose numbers it cannot see.
    #[test]
    fn a_sandbox_exists_while_its_owner_lives_regardless_of_its_pid() {
        let base = tempfile::tempdir().unwrap();
        // No process has this number: the largest is 2^22 (PID_MAX_LIMIT, include/linux/threads.h).
        let folder = base.path().join("pathtwin-4194305-x");
        fs::create_dir(&folder).unwrap();
        let lock = lock(&folder).unwrap();
        remove_orphans(base.path());
        assert!(folder.exists());
        drop(lock);
        remove_orphans(base.path());
        assert!(!folder.exists());
    }

    #[test]
    fn a_folder_that_is_not_locked_yet_is_kept() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("pathtwin-4194305-x");
        fs::create_dir(&folder).unwrap();
        remove_orphans(base.path());
        assert!(folder.exists());
    }
}
