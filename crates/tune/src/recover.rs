//! Journals of processes that died: found and undone at the next start.

use model::{
    change::{Change, ChangeId, ProcessId, State},
    text,
};
use sys::process::Process;

use crate::{
    Env,
    error::{Rollback, TuneError},
    journal::Listed,
    progress::{advance, undone_because},
    rollback::roll_back,
};

/// Result of a recovery.
#[derive(Debug)]
pub enum Recovery {
    /// Nothing waits.
    Clean,
    /// This change waits for its confirmation; its keeper runs.
    Waiting(ChangeId),
    /// These were undone just now.
    Undone(Vec<(ChangeId, Rollback)>),
}

/// Undoes every change that is neither confirmed nor undone and has no keeper any more. The caller
/// holds the lock of the folder.
///
/// # Errors
/// A journal is damaged, belongs to another network namespace of this boot, or the host cannot be
/// examined.
pub fn recover(env: &mut Env<'_>) -> Result<Recovery, TuneError> {
    let mut undone = Vec::new();
    for Listed { change, .. } in env.folder.list()? {
        let mut change = change?;
        if !change.is_pending() {
            continue;
        }
        let scope = env.host.scope()?;
        if scope.boot != change.scope.boot {
            rebooted(env, &mut change)?;
            continue;
        }
        if change.keeper.is_some_and(is_alive) {
            return Ok(Recovery::Waiting(change.id));
        }
        if scope.netns != change.scope.netns {
            return Err(TuneError::Elsewhere(change.id));
        }
        undone_because(env, &mut change, text!("its keeper died"));
        let rollback = roll_back(env, &mut change)?;
        undone.push((change.id, rollback));
    }
    Ok(match undone.is_empty() {
        true => Recovery::Clean,
        false => Recovery::Undone(undone),
    })
}

/// Settings of the running kernel are gone with it.
pub(crate) fn rebooted(env: &mut Env<'_>, change: &mut Change) -> Result<(), TuneError> {
    undone_because(env, change, text!("undone by a reboot"));
    advance(env, change, State::RolledBack)
}

pub(crate) fn is_alive(id: ProcessId) -> bool {
    Process {
        pid: id.pid,
        start_ticks: id.start_ticks,
    }
    .is_alive()
}
