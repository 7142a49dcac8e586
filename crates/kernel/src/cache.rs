//! The cache of built kernels: `kernel/<key>/{linux,image.json}` and `kernel/current`.
//!
//! A folder under its key is always complete, and `current` always points to such a folder, even if
//! a process is killed: both are created by a rename. Only one process builds at a time, by a lock
//! that the kernel releases when the process ends.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::fs::{CWD, FlockOperation, RenameFlags, flock, renameat_with};
use tempfile::TempDir;

use super::error::{Context as _, KernelError};

const CURRENT: &str = "current";
const SCRATCH: &str = "build-";

/// The folder that holds the kernels.
#[derive(Debug, Clone)]
pub(super) struct Cache {
    root: PathBuf,
}

/// Held while a kernel is being built.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Cache {
    /// `$PATHTWIN_CACHE`, else `$XDG_CACHE_HOME/pathtwin`, else `~/.cache/pathtwin`.
    pub(super) fn from_env() -> Result<Self, KernelError> {
        Self::choose(|name| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        })
        .ok_or(KernelError::NoCache)
    }

    fn choose(var: impl Fn(&str) -> Option<PathBuf>) -> Option<Self> {
        let base = var("PATHTWIN_CACHE")
            .or_else(|| {
                Some(
                    var("XDG_CACHE_HOME")
                        .filter(|path| path.is_absolute())?
                        .join("pathtwin"),
                )
            })
            .or_else(|| Some(var("HOME")?.join(".cache/pathtwin")))?;
        Some(Self::at(&base))
    }

    /// The kernels below a base folder.
    pub(super) fn at(base: &Path) -> Self {
        Self {
            root: base.join("kernel"),
        }
    }

    /// The folder of the kernels.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder of downloaded packages, so that another recipe needs no second download.
    pub(super) fn downloads(&self) -> PathBuf {
        self.root.join("source")
    }

    /// The log of the latest build.
    pub(super) fn log(&self) -> PathBuf {
        self.root.join("build.log")
    }

    /// The folder of a key.
    pub(super) fn folder(&self, key: &str) -> PathBuf {
        self.root.join(key)
    }

    /// The folder that `current` points to, if it exists.
    pub(super) fn current(&self) -> Option<PathBuf> {
        let key = std::fs::read_link(self.root.join(CURRENT)).ok()?;
        let folder = self.root.join(key);
        folder.is_dir().then_some(folder)
    }

    /// The folders of all kernels.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.root)
            .into_iter()
            .flatten()
            .flatten();
        entries
            .filter(|entry| {
                let name = entry.file_name();
                !name.to_string_lossy().starts_with(SCRATCH)
                    && entry.file_type().is_ok_and(|kind| kind.is_dir())
            })
            .map(|entry| entry.path())
            .collect()
    }

    /// Makes the folder.
    pub(super) fn create(&self) -> Result<(), KernelError> {
        std::fs::create_dir_all(&self.root).on("create", &self.root)
    }

    /// Waits until no other process builds. `waiting` is called once if that takes time.
    pub(super) fn lock(
        &self,
        cancel: Option<&AtomicBool>,
        waiting: &mut dyn FnMut(),
    ) -> Result<Lock, KernelError> {
        let path = self.root.join("lock");
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .on("open", &path)?;
        let mut reported = false;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Lock { _file: file }),
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()).on("lock", &path),
            }
            if !reported {
                waiting();
                reported = true;
            }
            if cancel.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                return Err(KernelError::Cancelled);
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// A new folder to build in, gone when dropped. The lock proves that leftovers of an earlier,
    /// killed build have no owner and can be removed.
    pub(super) fn scratch(&self, _lock: &Lock) -> Result<TempDir, KernelError> {
        for entry in std::fs::read_dir(&self.root)
            .on("list", &self.root)?
            .flatten()
        {
            if entry.file_name().to_string_lossy().starts_with(SCRATCH) {
                // The compilers of a killed build may still write there; the next build removes the
                // rest.
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        self.aside()
    }

    fn aside(&self) -> Result<TempDir, KernelError> {
        tempfile::Builder::new()
            .prefix(SCRATCH)
            .tempdir_in(&self.root)
            .on("create a folder in", &self.root)
    }

    /// Moves a finished folder to its key and points `current` to it.
    pub(super) fn install(
        &self,
        lock: &Lock,
        staged: &Path,
        key: &str,
    ) -> Result<PathBuf, KernelError> {
        let folder = self.put(lock, staged, key)?;
        self.point_to(key)?;
        Ok(folder)
    }

    /// Moves a finished folder to its key.
    pub(super) fn put(
        &self,
        _lock: &Lock,
        staged: &Path,
        key: &str,
    ) -> Result<PathBuf, KernelError> {
        let folder = self.folder(key);
        for entry in std::fs::read_dir(staged).on("list", staged)?.flatten() {
            File::open(entry.path())
                .and_then(|file| file.sync_all())
                .on("sync", &entry.path())?;
        }
        if !folder.exists() {
            std::fs::rename(staged, &folder).on("install", &folder)?;
        } else if renameat_with(CWD, staged, CWD, &folder, RenameFlags::EXCHANGE).is_err() {
            // Not every file system can exchange: move the old one aside first.
            let aside = self.aside()?;
            std::fs::rename(&folder, aside.path().join("old")).on("move", &folder)?;
            std::fs::rename(staged, &folder).on("install", &folder)?;
        }
        // After an exchange the old image is here; if it cannot be removed now, it is removed with
        // its scratch folder.
        let _ = std::fs::remove_dir_all(staged);
        Ok(folder)
    }

    /// Makes `current` point to a key.
    pub(super) fn point_to(&self, key: &str) -> Result<(), KernelError> {
        let link = self.root.join(CURRENT);
        let scratch = self.aside()?;
        let fresh = scratch.path().join(CURRENT);
        std::os::unix::fs::symlink(key, &fresh).on("create", &fresh)?;
        std::fs::rename(&fresh, &link).on("replace", &link)?;
        File::open(&self.root)
            .and_then(|dir| dir.sync_all())
            .on("sync", &self.root)
    }
}

/// Writes a file of a folder that becomes visible only by a later rename.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), KernelError> {
    let mut file = File::create(path).on("write", path)?;
    file.write_all(bytes).on("write", path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn staged(cache: &Cache, text: &str) -> PathBuf {
        let dir = cache.root().join(format!("staged-{text}"));
        std::fs::create_dir_all(&dir).unwrap();
        write_file(&dir.join("linux"), text.as_bytes()).unwrap();
        dir
    }

    #[test]
    fn the_place_follows_the_environment() {
        let with = |pairs: &'static [(&str, &str)]| {
            Cache::choose(move |name| {
                pairs
                    .iter()
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| value.into())
            })
            .map(|cache| cache.root)
        };
        assert_eq!(
            with(&[("PATHTWIN_CACHE", "/c"), ("HOME", "/h")]),
            Some("/c/kernel".into())
        );
        assert_eq!(
            with(&[("XDG_CACHE_HOME", "/x"), ("HOME", "/h")]),
            Some("/x/pathtwin/kernel".into())
        );
        assert_eq!(
            with(&[("XDG_CACHE_HOME", "rel"), ("HOME", "/h")]),
            Some("/h/.cache/pathtwin/kernel".into())
        );
        assert_eq!(with(&[]), None);
    }

    #[test]
    fn a_new_image_replaces_the_current_one_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        cache.create().unwrap();
        assert_eq!(cache.current(), None);
        let lock = cache.lock(None, &mut || ()).unwrap();
        for (text, key) in [("one", "k1"), ("two", "k2"), ("three", "k2")] {
            let from = staged(&cache, text);
            let folder = cache.install(&lock, &from, key).unwrap();
            assert_eq!(cache.current().as_deref(), Some(folder.as_path()));
            assert_eq!(std::fs::read_to_string(folder.join("linux")).unwrap(), text);
        }
        let names = std::fs::read_dir(cache.root()).unwrap().count();
        assert_eq!(names, 4, "k1, k2, current, lock and nothing else");
    }

    #[test]
    fn an_image_that_is_only_put_there_does_not_become_the_current_one() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        cache.create().unwrap();
        let lock = cache.lock(None, &mut || ()).unwrap();
        let current = cache.install(&lock, &staged(&cache, "one"), "k1").unwrap();
        let other = cache.put(&lock, &staged(&cache, "two"), "k2").unwrap();
        assert_eq!(cache.current(), Some(current));
        assert!(other.join("linux").exists());
    }

    #[test]
    fn leftovers_of_a_killed_build_go() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        cache.create().unwrap();
        std::fs::create_dir_all(cache.root().join("build-dead/src")).unwrap();
        let lock = cache.lock(None, &mut || ()).unwrap();
        let scratch = cache.scratch(&lock).unwrap();
        assert!(!cache.root().join("build-dead").exists() && scratch.path().is_dir());
    }

    #[test]
    fn a_second_builder_waits() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        cache.create().unwrap();
        let lock = cache.lock(None, &mut || ()).unwrap();
        let (sender, reported) = std::sync::mpsc::channel();
        let other = cache.clone();
        let thread = std::thread::spawn(move || {
            other.lock(None, &mut || sender.send(()).unwrap()).map(drop)
        });
        reported.recv().unwrap();
        drop(lock);
        thread.join().unwrap().unwrap();
    }
}
