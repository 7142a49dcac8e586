//! The end of a pending Change: confirmed, prolonged, or undone.

use std::time::Duration;

use model::{
    change::{Change, ChangeId, Setting, State},
    text::Text,
};

use crate::{
    Env, drift,
    error::{Drift, Rollback, TuneError},
    kept::publish,
    lookup::{find, lock},
    probe::Prober,
    progress::{advance, undone_because},
    recover::{Recovery, recover},
    reset::{RESET, resets_link},
    rollback::roll_back,
    transaction::privileged,
    undoing::{self, remove_rest},
};

/// A change that is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirmed {
    /// The change.
    pub change: Change,
    /// Settings that another program has changed since.
    pub drift: Vec<Drift>,
}

/// Keeps a pending change until the next boot, if new connections to its probes succeed and its
/// deadline has not passed.
///
/// # Errors
/// No change is pending, a new connection fails (the change remains pending), it is too late, or
/// its old values are set at present.
pub fn confirm(
    env: &mut Env<'_>,
    prefix: Option<&str>,
    prober: &mut dyn Prober,
) -> Result<Confirmed, TuneError> {
    let _lock = lock(env)?;
    let mut change = in_time(env, prefix)?;
    if change.aside {
        return Err(TuneError::Aside(change.id));
    }
    connect(&change, prober)?;
    // A probe takes time.
    still_in_time(env, &mut change)?;
    let drift = drift::of(env.host, &change)?;
    if change.state == State::Applied {
        advance(env, &mut change, State::Verified)?;
    }
    advance(env, &mut change, State::Confirmed)?;
    publish(env.folder);
    Ok(Confirmed { change, drift })
}

/// Keeps a pending change like [`confirm`], or otherwise undoes it immediately, since nobody will
/// repair the connection before the deadline. A link that a step resets gets time to return.
///
/// # Errors
/// As [`confirm`]; the change is undone, at the latest at its deadline.
pub fn confirm_or_undo(
    env: &mut Env<'_>,
    id: &ChangeId,
    prober: &mut dyn Prober,
) -> Result<Confirmed, TuneError> {
    let end = env.clock.boottime_ns() + timeout(env, id).as_nanos() as u64;
    let confirmed = loop {
        match confirm(env, Some(id.as_str()), prober) {
            Err(TuneError::ProbeAfter { .. }) if env.clock.boottime_ns() < end => {
                env.clock.sleep(AGAIN);
            }
            other => break other,
        }
    };
    if confirmed.is_err() {
        let _ = undo(env, Some(id.as_str()));
    }
    confirmed
}

/// Time between two tries of new connections.
const AGAIN: Duration = Duration::from_secs(1);

/// Time for new connections to succeed.
fn timeout(env: &Env<'_>, id: &ChangeId) -> Duration {
    let change = env.folder.read(id);
    let resets = |change: &Change| change.steps.iter().any(|s| resets_link(&s.setting));
    match change.is_ok_and(|change| resets(&change)) {
        true => RESET,
        false => Duration::ZERO,
    }
}

/// Sets a later deadline for a pending change whose new connections succeed, so that its effect can
/// be measured.
///
/// # Errors
/// As [`confirm`].
pub fn prolong(
    env: &mut Env<'_>,
    prefix: Option<&str>,
    prober: &mut dyn Prober,
    window: Duration,
) -> Result<Change, TuneError> {
    let _lock = lock(env)?;
    let mut change = in_time(env, prefix)?;
    connect(&change, prober)?;
    still_in_time(env, &mut change)?;
    let window = u64::try_from(window.as_nanos()).unwrap_or(u64::MAX);
    change.deadline_boottime_ns = Some(env.clock.boottime_ns().saturating_add(window));
    advance(env, &mut change, State::Verified)?;
    Ok(change)
}

/// Undoes a change, pending or confirmed; without an id, the pending one.
///
/// # Errors
/// There is no such change, it is already undone, or this process lacks the privileges.
pub fn undo(env: &mut Env<'_>, prefix: Option<&str>) -> Result<(ChangeId, Rollback), TuneError> {
    let _lock = lock(env)?;
    let recovered = recover(env)?;
    let mut change = match (prefix, &recovered) {
        (Some(prefix), _) => find(env, prefix)?,
        (None, Recovery::Waiting(id)) => env.folder.read(id)?,
        (None, Recovery::Undone(all)) if all.len() == 1 => env.folder.read(&all[0].0)?,
        (None, _) => return Err(last_confirmed(env)?),
    };
    if let Recovery::Undone(all) = recovered
        && let Some(just_now) = all.into_iter().find(|(id, _)| *id == change.id)
    {
        return Ok(just_now);
    }
    if !matches!(change.state, State::RolledBack) {
        privileged(env.host, &change)?;
    }
    let rollback = match change.state {
        State::RolledBack if change.files.is_empty() => return Err(over(&change)),
        State::RolledBack => remove_rest(env, &mut change)?,
        _ => undoing::undo(env, &mut change)?,
    };
    publish(env.folder);
    Ok((change.id, rollback))
}

/// Undoes a kept change for a reason other than its user's wish. `None` if it is undone already.
///
/// # Errors
/// There is no such change on this host; or a change waits for its confirmation, or a later kept
/// one has one of its settings: the old values of these would bring this one back.
pub fn undo_kept(
    env: &mut Env<'_>,
    id: &ChangeId,
    why: Text,
) -> Result<Option<Rollback>, TuneError> {
    let _lock = lock(env)?;
    if let Recovery::Waiting(id) = recover(env)? {
        return Err(TuneError::Pending(id));
    }
    let mut change = find(env, id.as_str())?;
    if let Some(by) = later_of_same(env, &change)? {
        let id = change.id;
        return Err(TuneError::Overlaid { id, by });
    }
    match &change.state {
        State::RolledBack if change.files.is_empty() => return Ok(None),
        State::RolledBack => {
            let rollback = remove_rest(env, &mut change)?;
            publish(env.folder);
            return Ok(Some(rollback));
        }
        state if state.is_kept() || matches!(state, State::RollbackFailed { .. }) => {}
        _ => return Err(over(&change)),
    }
    undone_because(env, &mut change, why);
    let rollback = undoing::undo(env, &mut change)?;
    publish(env.folder);
    Ok(Some(rollback))
}

/// A later kept change of one of the settings of `change`.
fn later_of_same(env: &mut Env<'_>, change: &Change) -> Result<Option<ChangeId>, TuneError> {
    let settings = |change: &Change| -> Vec<Setting> {
        change.steps.iter().map(|s| s.setting.clone()).collect()
    };
    let own = settings(change);
    let has_one = |other: &Change| {
        let all = settings(other);
        all.iter().any(|s| own.iter().any(|o| o.is_same_place(s)))
    };
    // Of the same second either may be the later one.
    let is_later =
        |other: &Change| other.id != change.id && other.created_unix_s >= change.created_unix_s;
    let boot = env.host.scope()?.boot;
    // Without files, it ended with its boot.
    let lasts = |other: &Change| other.state != State::Confirmed || other.scope.boot == boot;
    let all = env.folder.list()?.into_iter().filter_map(|l| l.change.ok());
    let mut kept = all.filter(|other| other.state.is_kept() && lasts(other));
    let later = kept.find(|other| is_later(other) && has_one(other));
    Ok(later.map(|other| other.id))
}

/// The pending change, whose deadline has not passed.
pub(crate) fn in_time(env: &mut Env<'_>, prefix: Option<&str>) -> Result<Change, TuneError> {
    let recovered = recover(env)?;
    let mut change = match (prefix, recovered) {
        (Some(prefix), _) => find(env, prefix)?,
        (None, Recovery::Waiting(id)) => env.folder.read(&id)?,
        (None, Recovery::Undone(all)) => {
            let first = all.into_iter().next().ok_or(TuneError::NonePending)?;
            return Err(TuneError::TooLate(first.0));
        }
        (None, Recovery::Clean) => return Err(last_undone(env)?),
    };
    match change.state {
        State::Applied | State::Verified => {}
        State::RolledBack | State::RollbackFailed { .. } => {
            return Err(TuneError::TooLate(change.id));
        }
        _ => return Err(over(&change)),
    }
    // In another namespace the settings of the same names are others.
    if !env.host.scope()?.is_same(&change.scope) {
        return Err(TuneError::Elsewhere(change.id));
    }
    still_in_time(env, &mut change)?;
    Ok(change)
}

/// A confirmation without an id means the last change, which may have been undone by then.
fn last_undone(env: &Env<'_>) -> Result<TuneError, TuneError> {
    let last = env.folder.list()?.pop().and_then(|l| l.change.ok());
    Ok(match last {
        Some(Change {
            state: State::RolledBack | State::RollbackFailed { .. },
            id,
            ..
        }) => TuneError::TooLate(id),
        _ => TuneError::NonePending,
    })
}

/// A confirmed change is undone by its id only: it may be of another day.
fn last_confirmed(env: &Env<'_>) -> Result<TuneError, TuneError> {
    let all = env.folder.list()?.into_iter();
    let last = all
        .rev()
        .filter_map(|l| l.change.ok())
        .find(|c| c.state.is_kept());
    Ok(last.map_or(TuneError::NonePending, |c| TuneError::OnlyConfirmed(c.id)))
}

/// The holder of the lock undoes a change that is too late: the keeper may be waiting for the lock.
fn still_in_time(env: &mut Env<'_>, change: &mut Change) -> Result<(), TuneError> {
    let late = |at: u64| env.clock.boottime_ns() >= at;
    if change.deadline_boottime_ns.is_none_or(late) {
        roll_back(env, change)?;
        return Err(TuneError::TooLate(change.id.clone()));
    }
    Ok(())
}

fn connect(change: &Change, prober: &mut dyn Prober) -> Result<(), TuneError> {
    for target in &change.probes {
        prober
            .connect(target)
            .map_err(|error| TuneError::ProbeAfter {
                target: target.clone(),
                error,
            })?;
    }
    Ok(())
}

fn over(change: &Change) -> TuneError {
    TuneError::Over {
        id: change.id.clone(),
        state: change.state.clone(),
    }
}
