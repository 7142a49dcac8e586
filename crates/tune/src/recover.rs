//! Journals of processes that died: found and undone at the next start.

use model::{
    change::{Change, ChangeId, ProcessId, State},
    text,
};
use sys::process::Process;

use crate::{
    Env, LOCK_LIMIT,
    booted::check_after_boot,
    drift::{Compared, drifted},
    error::{Rollback, TuneError},
    kept::{kept, publish},
    progress::undone_because,
    rollback::roll_back,
    undoing::{not_in_files, rebooted, undo},
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

/// Undoes every change that is neither confirmed nor undone and has no keeper any more, and ends
/// the writing or removal of files that was interrupted: a change is then in all its files or in
/// none. The caller holds the lock of the folder.
///
/// # Errors
/// A journal is damaged, belongs to another network namespace of this boot, or the host cannot be
/// examined.
pub fn recover(env: &mut Env<'_>) -> Result<Recovery, TuneError> {
    let listed = env.folder.list()?.into_iter().map(|listed| listed.change);
    // A damaged journal is an error, but not one that keeps the others from being undone.
    let (read, damaged): (Vec<_>, Vec<_>) = listed.partition(Result::is_ok);
    let all: Vec<Change> = read.into_iter().flatten().collect();
    let recovered = recover_all(env, all);
    if !matches!(recovered, Ok(Recovery::Clean)) {
        publish(env.folder);
    }
    match damaged.into_iter().find_map(Result::err) {
        Some(error) if recovered.is_ok() => Err(error.into()),
        _ => recovered,
    }
}

fn recover_all(env: &mut Env<'_>, all: Vec<Change>) -> Result<Recovery, TuneError> {
    let (in_files, others): (Vec<_>, Vec<_>) =
        all.into_iter().partition(Change::is_partly_in_files);
    let mut undone = Vec::new();
    for mut change in in_files {
        if let Some(rollback) = end_files(env, &mut change)? {
            undone.push((change.id, rollback));
        }
    }
    for mut change in others.into_iter().filter(Change::is_pending) {
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

/// Ends the writing of files as if there were none, and their removal as requested.
fn end_files(env: &mut Env<'_>, change: &mut Change) -> Result<Option<Rollback>, TuneError> {
    let is_writing = change.state != State::Unpersisting;
    if is_writing && env.host.scope()?.boot == change.scope.boot {
        let why = text!("not in files: the process that wrote them was interrupted");
        not_in_files(env, change, why)?;
        return Ok(None);
    }
    if is_writing {
        // The boot read those that were there.
        let why = text!("a reboot interrupted the writing of its files");
        undone_because(env, change, why);
    }
    Ok(Some(undo(env, change)?))
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
    /// Changes of whose files this boot has set everything, found just now.
    pub seen: Vec<ChangeId>,
    /// The kept changes compared with the host.
    pub compared: Compared,
}

/// Recovers, checks the changes in files after a boot, and reads the changes that wait or were
/// undone.
///
/// # Errors
/// Another command changes the host, or as of [`recover`].
pub fn pending(env: &mut Env<'_>) -> Result<Pending, TuneError> {
    let Some(_lock) = env.folder.lock(LOCK_LIMIT)? else {
        return Err(TuneError::Busy);
    };
    let recovery = recover(env)?;
    let seen = check_after_boot(env)?;
    // Journals of older programs have no copy yet.
    publish(env.folder);
    let ids = recovery.ids();
    let changes: Result<Vec<Change>, _> = ids.iter().map(|id| env.folder.read(id)).collect();
    let last = env.folder.list()?.pop().and_then(|l| l.change.ok());
    let kept = kept(env.folder.path())?;
    Ok(Pending {
        recovery,
        changes: changes?,
        last,
        seen,
        compared: drifted(kept, env.host)?,
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

pub(crate) fn is_alive(id: ProcessId) -> bool {
    Process {
        pid: id.pid,
        start_ticks: id.start_ticks,
    }
    .is_alive()
}
