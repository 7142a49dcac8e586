//! Journals of processes that died: found and undone at the next start.

use model::{
    change::{Change, ChangeId, ProcessId, State},
    text,
};
use sys::process::Process;

use crate::{
    Env, LOCK_LIMIT,
    error::{Rollback, TuneError},
    journal::Listed,
    progress::{advance, undone_because},
    rollback::roll_back,
};

/// Result of a recovery.
#[derive(Debug)]
pub enum Recovery {
    /// Nothing is pending.
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

/// The changes of a host that need somebody's attention.
#[derive(Debug)]
pub struct Pending {
    /// Result of the recovery that comes first.
    pub recovery: Recovery,
    /// The changes in it, as their journals have them now.
    pub changes: Vec<Change>,
    /// The newest change of the host; absent if it has none, or its journal is damaged.
    pub last: Option<Change>,
}

/// Recovers, and reads the changes that wait or were undone.
///
/// # Errors
/// Another command changes the host, or as of [`recover`].
pub fn pending(env: &mut Env<'_>) -> Result<Pending, TuneError> {
    let Some(_lock) = env.folder.lock(LOCK_LIMIT)? else {
        return Err(TuneError::Busy);
    };
    let recovery = recover(env)?;
    let ids = recovery.ids();
    let changes: Result<Vec<Change>, _> = ids.iter().map(|id| env.folder.read(id)).collect();
    let last = env.folder.list()?.pop().and_then(|l| l.change.ok());
    Ok(Pending {
        recovery,
        changes: changes?,
        last,
    })
}

impl Recovery {
    fn ids(&self) -> Vec<ChangeId> {
        match self {
            Self::Clean => Vec::new(),
            Self::Waiting(id) => vec![id.clone()],
            Self::Undone(all) => all.iter().map(|(id, _)| id.clone()).collect(),
        }
    }
}

/// A reboot has already undone settings of the running kernel.
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
