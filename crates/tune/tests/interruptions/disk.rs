//! A small disk for journals, which fills up or becomes read-only.

use std::path::{Path, PathBuf};

use super::scene::sh;

/// A separate file system, in memory.
#[derive(Debug)]
pub struct Disk(PathBuf);

impl Disk {
    /// Mounts it on a folder.
    pub fn new(folder: &Path) -> Self {
        let line = format!(
            "mount -t tmpfs -o size=256k,mode=700 none {}",
            folder.display()
        );
        assert!(sh(&line).is_some(), "{line}");
        Self(folder.to_owned())
    }

    /// Makes it writable again, with free space.
    pub fn repair(&self) {
        let filler = self.0.join("filler");
        if std::fs::write(&filler, "").is_err() {
            let _ = sh(&format!("umount {}", self.0.display()));
        }
        let _ = std::fs::remove_file(filler);
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = sh(&format!("umount -l {}", self.0.display()));
    }
}

/// Fills the disk of a folder.
pub fn fill(folder: &Path) {
    let filler = folder.join("filler");
    let _ = sh(&format!(
        "dd if=/dev/zero of={} bs=4k 2>/dev/null",
        filler.display()
    ));
}

/// Makes the disk of a folder read-only, as after an error of the disk: also while files on it are
/// open, which a remount refuses.
pub fn make_read_only(folder: &Path) {
    let folder = folder.display();
    let line = format!("mount --bind {folder} {folder} && mount -o remount,bind,ro {folder}");
    assert!(sh(&line).is_some(), "{line}");
}
