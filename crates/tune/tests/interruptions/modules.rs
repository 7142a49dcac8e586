//! The modules of a guest's kernel, where a host has them.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use sys::boot;

/// The folder of modules that was built with an image.
pub fn of(image: &Path) -> Option<PathBuf> {
    let folder = image.parent()?.join("lib/modules");
    folder.is_dir().then_some(folder)
}

/// Mounts a folder at `/lib/modules`. The files of the host are read-only there, and a machine that
/// loads no modules lacks this place: `/lib` is then replaced by one with the same entries and it.
pub fn mount(folder: &Path) -> io::Result<()> {
    let lib = fs::canonicalize("/lib")?;
    let place = lib.join("modules");
    if !place.is_dir() {
        let old = Path::new("/tmp/lib");
        fs::create_dir_all(old)?;
        boot::bind(&lib, old)?;
        boot::mount("tmpfs", &lib.to_string_lossy(), "")?;
        for entry in fs::read_dir(old)? {
            show(&entry?, &lib)?;
        }
        fs::create_dir(&place)?;
    }
    boot::bind(folder, &place)
}

fn show(entry: &fs::DirEntry, lib: &Path) -> io::Result<()> {
    let (kind, at) = (entry.file_type()?, lib.join(entry.file_name()));
    if kind.is_dir() {
        fs::create_dir(&at)?;
        return boot::bind(&entry.path(), &at);
    }
    // A relative link means the same at its old place only.
    let target = match kind.is_symlink() {
        true => fs::read_link(entry.path())?,
        false => entry.path(),
    };
    symlink(target, at)
}
