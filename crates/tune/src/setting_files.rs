//! The files of a Change on the disk: written, and removed, also after an interruption of either.
//!
//! Each file is there completely or not at all, even if the power is cut.

mod part;

use std::{fs, io, path::Path};

use model::change::{Change, SettingFile};
use sys::files::{self, Existing, Readers};

use crate::{
    Env,
    error::{Left, PersistError, TuneError},
    observer::{Interrupted, Point},
};

/// Writes all files of a change, whose journal names them already.
///
/// # Errors
/// One of them cannot be written, or an interruption; those before it remain.
pub(crate) fn write_all(env: &mut Env<'_>, change: &Change) -> Result<(), TuneError> {
    for (number, file) in change.files.iter().enumerate() {
        env.observer.at(&Point::BeforeFile(number))?;
        let failed = |error| PersistError::Write {
            file: file.path.clone(),
            error,
        };
        make_folder(file).map_err(failed)?;
        env.observer.at(&Point::AfterFolder(number))?;
        make(file).map_err(failed)?;
        env.observer.at(&Point::AfterFile(number))?;
    }
    Ok(())
}

/// Removes the files of a change that are there, and the folders made for them; returns those
/// edited since, which stay, as in `change`.
///
/// # Errors
/// Only an interruption by the observer.
pub(crate) fn remove_all(env: &mut Env<'_>, change: &mut Change) -> Result<Vec<Left>, Interrupted> {
    let mut left = Vec::new();
    let all = std::mem::take(&mut change.files);
    for (number, file) in all.into_iter().enumerate().rev() {
        env.observer.at(&Point::BeforeRemoval(number))?;
        let why = match remove(&file) {
            Ok(true) => None,
            Ok(false) => Some(Left::Edited(file.path.clone())),
            Err(error) => Some(Left::File {
                file: file.path.clone(),
                error,
            }),
        };
        if let Some(why) = why {
            left.push(why);
            change.files.insert(0, file);
        }
        env.observer.at(&Point::AfterRemoval(number))?;
    }
    Ok(left)
}

pub(crate) fn exists(file: &SettingFile) -> bool {
    fs::symlink_metadata(&file.path).is_ok()
}

fn make_folder(file: &SettingFile) -> io::Result<()> {
    match Path::new(&file.path).parent() {
        // A section is in a file of others, which exists.
        Some(folder) if !file.part => files::make_folder_for_all(folder),
        _ => Ok(()),
    }
}

fn make(file: &SettingFile) -> io::Result<()> {
    let path = Path::new(&file.path);
    if file.part {
        return part::add(path, &file.text);
    }
    if file.link {
        std::os::unix::fs::symlink(&file.text, path)?;
        return sync_parent(path);
    }
    // As packages install them, whatever the umask: networkd does not run as root, and would leave
    // out the whole file of a device for one part of it that it cannot read.
    let readers = match file.executable {
        true => Readers::Mode(0o755),
        false => Readers::Mode(0o644),
    };
    files::write(path, readers, Existing::Keep, file.text.as_bytes())
}

/// Removes a file; `false` if somebody has edited it.
fn remove(file: &SettingFile) -> io::Result<bool> {
    let path = Path::new(&file.path);
    if let Some(folder) = path.parent() {
        files::remove_partial(folder)?;
    }
    let removed = match file.part {
        true => part::cut(path, &file.text),
        false => remove_whole(file, path),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Ok(true) => {}
        other => return other,
    }
    remove_folders(file, path);
    Ok(true)
}

fn remove_whole(file: &SettingFile, path: &Path) -> io::Result<bool> {
    let now = match file.link {
        true => fs::read_link(path).map(|target| target.to_string_lossy().into_owned()),
        false => fs::read_to_string(path),
    };
    if now? != file.text {
        return Ok(false);
    }
    fs::remove_file(path)?;
    sync_parent(path).map(|()| true)
}

/// Removes the folders that did not exist before, if they have no files of others.
fn remove_folders(file: &SettingFile, path: &Path) {
    for folder in path.ancestors().skip(1).take(file.made_folders as usize) {
        match fs::remove_dir(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return,
            _ => {}
        }
    }
}

fn sync_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), files::sync_folder)
}
