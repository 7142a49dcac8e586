//! Files that make a confirmed Change persistent across boots, and their removal.
//!
//! The running kernel is already changed and not touched here. Each file belongs to a single Change
//! and states so in its first line, so that undoing deletes it.

mod files;
mod ini;
mod names;
mod networkd;
mod owner;
mod replay;
mod system;
mod uci;

use std::path::Path;

use model::{
    change::{Change, Setting, State},
    text,
};

use crate::{
    Env,
    error::{PersistError, TuneError},
    kept::publish,
    lookup::{find, lock},
    progress::advance,
    recover::recover,
    setting_files::{exists, write_all},
    undoing::{not_in_files, rebooted},
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
