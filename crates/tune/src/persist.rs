//! Files that make a confirmed Change persistent across boots, and their removal.
//!
//! The running kernel is already changed and not touched here. Each file belongs to a single Change
//! and states so in its first line, so that undoing deletes it.

mod files;
mod ini;
mod names;
mod networkd;
mod owner;
mod part;
mod replay;
mod system;
mod uci;

use std::{fs, io, os::unix::fs::PermissionsExt, path::Path};

use model::{
    change::{Change, Setting, SettingFile, State},
    text,
};
use sys::files::{Existing, Readers};

use crate::{
    Env,
    error::{Left, PersistError, TuneError},
    lookup::{find, lock},
    progress::{advance, note, write},
};

pub use networkd::networkd_text;
pub use system::System;

/// Writes the files of a confirmed change below `root`, which is `/` except in tests, and checks
/// that no other file of the system overrides them at the next boot.
///
/// # Errors
/// The change is not confirmed or already persistent; the system is managed by other means; a file
/// exists or cannot be written; or another file takes precedence. Then none of its files remains.
pub fn persist(env: &mut Env<'_>, prefix: &str, root: &Path) -> Result<Change, TuneError> {
    let _lock = lock(env)?;
    let mut change = find(env, prefix)?;
    if change.state != State::Confirmed {
        return Err(PersistError::NotConfirmed(change.state).into());
    }
    let system = System::of(root)?;
    let files::Files { files, extended } = files::of(&change, system, root)?;
    change.files = files;
    if let Some(file) = change.files.iter().find(|f| !f.part && exists(f)) {
        return Err(PersistError::Exists(file.path.clone()).into());
    }
    // A rollback must know of the files before there are any.
    write(env, &mut change)?;
    let written = change.files.iter().try_for_each(make);
    let written = written.and_then(|()| is_effective(&change, system, root));
    let written = written.and_then(|()| {
        let mut all = extended.iter();
        all.try_for_each(|(file, own, parts)| networkd::is_effective(root, file, own, parts))
    });
    if let Err(error) = written {
        let left = remove(&mut change);
        let why = text!("not in files: {error}", error = error.text());
        note(env, &mut change, why);
        left.into_iter()
            .for_each(|left| note(env, &mut change, left.text()));
        write(env, &mut change)?;
        return Err(error.into());
    }
    advance(env, &mut change, State::Persisted)?;
    Ok(change)
}

/// Removes the files of a change; returns those edited since, which stay.
pub(crate) fn remove(change: &mut Change) -> Vec<Left> {
    let failed = |file: &SettingFile, error| Left::File {
        file: file.path.clone(),
        error,
    };
    let mut left = Vec::new();
    for file in std::mem::take(&mut change.files).into_iter().rev() {
        let path = Path::new(&file.path);
        if file.part {
            match part::cut(path, &file.text) {
                Ok(true) => continue,
                Ok(false) => left.push(Left::Edited(file.path.clone())),
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => left.push(failed(&file, error)),
            }
            change.files.insert(0, file);
            continue;
        }
        let now = match file.link {
            true => fs::read_link(path).map(|target| target.to_string_lossy().into_owned()),
            false => fs::read_to_string(path),
        };
        match now {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Ok(text) if text == file.text => match fs::remove_file(path) {
                Ok(()) => {
                    // Only folders without files of others.
                    let made = path.ancestors().skip(1).take(file.made_folders as usize);
                    let _ = made.map(fs::remove_dir).take_while(Result::is_ok).count();
                    continue;
                }
                Err(error) => left.push(failed(&file, error)),
            },
            Ok(_) => left.push(Left::Edited(file.path.clone())),
            Err(error) => left.push(failed(&file, error)),
        }
        change.files.insert(0, file);
    }
    left
}

fn exists(file: &SettingFile) -> bool {
    fs::symlink_metadata(&file.path).is_ok()
}

fn make(file: &SettingFile) -> Result<(), PersistError> {
    let failed = |error| PersistError::Write {
        file: file.path.clone(),
        error,
    };
    let path = Path::new(&file.path);
    if file.part {
        return part::add(path, &file.text).map_err(failed);
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    if file.link {
        return std::os::unix::fs::symlink(&file.text, path).map_err(failed);
    }
    sys::files::write(path, Readers::ByUmask, Existing::Keep, file.text.as_bytes())
        .map_err(failed)?;
    if file.executable {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(failed)?;
    }
    Ok(())
}

/// Reads all files of parameters in the system's own order.
fn is_effective(change: &Change, system: System, root: &Path) -> Result<(), PersistError> {
    for step in &change.steps {
        let Setting::Sysctl { name, value } = &step.setting else {
            continue;
        };
        let last = replay::effective(root, system, name);
        let same = |text: &str| text.split_whitespace().eq(value.split_whitespace());
        match last {
            Some(last) if same(&last.value) => {}
            Some(last) => {
                return Err(PersistError::Overridden {
                    name: name.clone(),
                    value: last.value,
                    file: last.file,
                });
            }
            None => return Err(PersistError::NotRead(name.clone())),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
