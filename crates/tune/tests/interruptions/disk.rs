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

    pub fn read_only(&self) {
        self.remount("ro");
    }

    /// Makes it writable again, with free space.
    pub fn repair(&self) {
        self.remount("rw");
        let _ = std::fs::remove_file(self.0.join("filler"));
    }

    fn remount(&self, how: &str) {
        let line = format!("mount -o remount,{how} {}", self.0.display());
        assert!(sh(&line).is_some(), "{line}");
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
