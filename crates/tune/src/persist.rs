//! Files that make a confirmed Change persistent across boots, and their removal.
//!
//! The running kernel is already changed and not touched here. Each file belongs to a single Change
//! and states so in its first line, so that undoing deletes it.

mod files;
mod ifupdown;
mod ini;
mod names;
mod networkd;
mod owner;
mod replay;
mod system;
mod uci;

use std::{
    fs,
    path::{Path, PathBuf},
};

use model::{
    change::{Change, Setting, State},
    text,
};

use crate::{
    Env,
    error::{PersistError, TuneError},
    kept::publish,
    lookup::{find, lock},
    managed::{self, ANSIBLE},
    progress::advance,
    recover::recover,
    setting_files::{exists, write_all},
    undoing::{not_in_files, rebooted},
};

pub use networkd::networkd_text;
pub(crate) use replay::Last;
pub use system::System;

/// Writes the files of a confirmed change below `root`, which is `/` except in tests, and checks
/// that no other file of the system overrides them at the next boot.
///
/// # Errors
/// The change is not confirmed or already persistent; the system, or a file that has the same
/// parameter or device, is managed by other means; a file
/// exists or cannot be written; or another file takes precedence. Then none of its files remains.
pub fn persist(env: &mut Env<'_>, prefix: &str, root: &Path) -> Result<Change, TuneError> {
    let _lock = lock(env)?;
    // Removes the files of an earlier try that was interrupted.
    recover(env)?;
    let mut change = find(env, prefix)?;
    if change.state == State::Confirmed && change.scope.boot != env.host.scope()?.boot {
        rebooted(env, &mut change)?;
    }
    if change.state != State::Confirmed {
        return Err(PersistError::NotConfirmed(change.state).into());
    }
    let system = System::of(root)?;
    let files = files::of(&change, system, root)?;
    is_unmanaged(&change, &files, root)?;
    if let Some(file) = files.files.iter().find(|f| !f.part && exists(f)) {
        return Err(PersistError::Exists(file.path.clone()).into());
    }
    change.files.clone_from(&files.files);
    // A rollback must know of the files before there are any.
    advance(env, &mut change, State::Persisting)?;
    let written = write_all(env, &change).and_then(|()| {
        is_effective(&change, system, root)?;
        let mut extended = files.extended.iter();
        Ok(extended
            .try_for_each(|(file, own, parts)| networkd::is_effective(root, file, own, parts))?)
    });
    match written {
        Ok(()) => advance(env, &mut change, State::Persisted)?,
        Err(TuneError::Interrupted(stop)) => return Err(stop.into()),
        Err(error) => {
            let why = text!("not in files: {error}", error = error.text());
            not_in_files(env, &mut change, why)?;
            return Err(error);
        }
    }
    publish(env.folder);
    Ok(change)
}

/// Refuses to set in files what Ansible sets in others: a play would set it back, or both would
/// have a value. These are files that name a parameter or a device, and those of a device's owner.
fn is_unmanaged(change: &Change, files: &files::Files, root: &Path) -> Result<(), PersistError> {
    let settings: Vec<&Setting> = change.steps.iter().map(|step| &step.setting).collect();
    let mut all = managed::files(&settings, root).into_iter();
    let of_names = all
        .find(|file| file.manager == ANSIBLE)
        .map(|file| file.file);
    let is_ansibles = |file: &PathBuf| {
        let text = fs::read_to_string(file).unwrap_or_default();
        managed::manager(&text) == Some(ANSIBLE)
    };
    let of_owner = || files.of_others(root).into_iter().find(is_ansibles);
    let of_owner = || Some(managed::shown(root, &of_owner()?));
    match of_names.or_else(of_owner) {
        Some(file) => Err(PersistError::ManagedFile {
            file,
            manager: ANSIBLE,
        }),
        None => Ok(()),
    }
}

/// The parameters of a change that another file sets to another value at boot, after the file that
/// the change is written to; none on a system without such files. Paths are without the root.
pub(crate) fn later(change: &Change, root: &Path) -> Vec<(String, Last)> {
    let Ok(system) = System::of(root) else {
        return Vec::new();
    };
    let own = root.join(names::parameters(change.id.short()));
    let last = |(name, value): (&str, &str)| {
        let last = replay::after(root, system, &own, name)?;
        let file = managed::shown(root, Path::new(&last.file));
        let differs = !is_same(&last.value, value);
        differs.then(|| (name.to_owned(), Last { file, ..last }))
    };
    parameters(change).filter_map(last).collect()
}

fn parameters(change: &Change) -> impl Iterator<Item = (&str, &str)> {
    change.steps.iter().filter_map(|step| match &step.setting {
        Setting::Sysctl { name, value } => Some((name.as_str(), value.as_str())),
        _ => None,
    })
}

fn is_same(a: &str, b: &str) -> bool {
    a.split_whitespace().eq(b.split_whitespace())
}

/// Reads all files of parameters in the system's own order.
fn is_effective(change: &Change, system: System, root: &Path) -> Result<(), PersistError> {
    for (name, value) in parameters(change) {
        match replay::effective(root, system, name) {
            Some(last) if is_same(&last.value, value) => {}
            Some(last) => {
                return Err(PersistError::Overridden {
                    name: name.to_owned(),
                    value: last.value,
                    file: last.file,
                });
            }
            None => return Err(PersistError::NotRead(name.to_owned())),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
