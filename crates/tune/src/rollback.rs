//! Undoing a Change: its steps in reverse, each as often as needed, past errors.

use model::{
    change::{Change, Saved, Setting, State, Step},
    text,
};

use crate::{
    Env,
    error::{Drift, HostError, Left, Rollback, TuneError},
    holds::{brief, is_booted_value, same_value},
    observer::{Interrupted, Point},
    part::{is_alike, is_requested_alike, over},
    progress::{advance, note, write},
};

/// Undoes everything that a change may have written. Errors of the journal do not stop it.
///
/// # Errors
/// Only an interruption by the observer.
pub(crate) fn roll_back(env: &mut Env<'_>, change: &mut Change) -> Result<Rollback, Interrupted> {
    let mut done = Rollback::default();
    let current = match change.state {
        State::Applying { step } => Some(step),
        _ => None,
    };
    let written = change.state.written(change.steps.len());
    for step in (0..written).rev() {
        journal(env, change, State::RollingBack { step }, &mut done)?;
        env.observer.at(&Point::BeforeRestore(step))?;
        let known = change.steps[step].new.clone();
        let undone = match due(env, &change.steps[step], current == Some(step)) {
            Ok(Due::Restore(setting, value)) => {
                forget_new(env, change, step, &mut done)?;
                restored(env, setting, &value, &change.steps[step].old)
            }
            Ok(Due::Left(left)) => Ok(left),
            Err(error) => Err(error),
        };
        if undone.is_ok() {
            change.steps[step].new = known;
        }
        match undone {
            Ok(None) => {}
            Ok(Some(left)) => done.left.push(left),
            Err(error) => done.failed.push((step, error)),
        }
        env.observer.at(&Point::AfterRestore(step))?;
    }
    for left in &done.left {
        note(
            env,
            change,
            text!("left as it is: {left}", left = left.text()),
        );
    }
    let last = match done.failed.first() {
        None => State::RolledBack,
        Some((step, error)) => State::RollbackFailed {
            step: *step,
            error: error.text(),
        },
    };
    journal(env, change, last, &mut done)?;
    Ok(done)
}

/// Writes the next state to the journal, if it can be written.
///
/// # Errors
/// Only an interruption by the observer.
pub(crate) fn journal(
    env: &mut Env<'_>,
    change: &mut Change,
    state: State,
    done: &mut Rollback,
) -> Result<(), Interrupted> {
    let written = advance(env, change, state);
    past_errors(written, done)
}

/// Amid the operations of one restore a value is neither the old nor the new one: if the rollback
/// is interrupted there, or an operation fails, its repetition must not take that for a change by
/// another program.
fn forget_new(
    env: &mut Env<'_>,
    change: &mut Change,
    step: usize,
    done: &mut Rollback,
) -> Result<(), Interrupted> {
    if change.steps[step].new.take().is_none() {
        return Ok(());
    }
    let written = write(env, change);
    past_errors(written, done)
}

fn past_errors(written: Result<(), TuneError>, done: &mut Rollback) -> Result<(), Interrupted> {
    match written {
        Ok(()) => Ok(()),
        Err(TuneError::Interrupted(stop)) => Err(stop),
        Err(TuneError::Journal(error)) => {
            done.journal = Some(error);
            Ok(())
        }
        // A state is only written to the journal.
        Err(_) => Ok(()),
    }
}

/// What is to be done with a step.
enum Due {
    /// This value is to be set, with the old one of the setting, by its present name.
    Restore(Setting, Saved),
    /// Nothing: it is there, or the setting is left as it is.
    Left(Option<Left>),
}

/// Returns what undoes one step; settings that another program has changed are left unchanged. The
/// step that was being written may have any value.
fn due(env: &mut Env<'_>, step: &Step, unfinished: bool) -> Result<Due, HostError> {
    let mut setting = step.setting.clone();
    if let Some(left) = find_device(env, &mut setting, step.link)? {
        return Ok(Due::Left(Some(left)));
    }
    let now = env.host.read(&setting)?;
    // Masks that an interrupted rollback has restored may be of fewer queues.
    let is_restored = matches!(now, Saved::Processors { .. }) && is_back(&setting, &step.old, &now);
    if is_alike(&setting, &step.old, &now) || is_restored {
        return Ok(Due::Left(None));
    }
    let is_like = |value: &Saved| {
        same_value(&setting, value, &now) || is_requested_alike(&setting, value, &now)
    };
    let drifted = step.new.as_ref();
    let drifted = drifted.filter(|new| !unfinished && !is_like(new) && !is_like(&step.old));
    if drifted.is_some() || is_lost(&step.old, &now) {
        return Ok(Due::Left(Some(Left::Drifted(Drift {
            setting,
            now: brief(&now),
        }))));
    }
    let value = over(&setting, &step.old, &now);
    Ok(Due::Restore(setting, value))
}

/// Sets an old value again; returns the setting if it is in use and stays.
fn restored(
    env: &mut Env<'_>,
    setting: Setting,
    value: &Saved,
    old: &Saved,
) -> Result<Option<Left>, HostError> {
    env.host.restore(&setting, value)?;
    let now = env.host.read(&setting)?;
    match (is_back(&setting, old, &now), &now) {
        (true, _) => Ok(None),
        (false, Saved::Modules { .. }) => Ok(Some(Left::InUse(setting))),
        (false, _) => Err(HostError::NotTaken(brief(&now))),
    }
}

/// Gives a setting the present name of its device; returns why it has none.
fn find_device(
    env: &mut Env<'_>,
    setting: &mut Setting,
    link: Option<u32>,
) -> Result<Option<Left>, HostError> {
    let (Some(device), Some(link)) = (setting.device(), link) else {
        return Ok(None);
    };
    let now = env.host.link(device)?;
    if now == Some(link) {
        return Ok(None);
    }
    if let (Some(name), Some(device)) = (env.host.name(link)?, setting.device_mut()) {
        *device = name;
        return Ok(None);
    }
    env.host.clear(setting, link)?;
    let setting = setting.clone();
    Ok(Some(match now {
        None => Left::NoDevice(setting),
        Some(_) => Left::OtherDevice(setting),
    }))
}

/// Returns true if a route that existed is gone: a change replaces it; only somebody else, or the
/// kernel as its device goes down, removes it.
fn is_lost(old: &Saved, now: &Saved) -> bool {
    matches!((old, now), (Saved::Route { .. }, Saved::NoRoute))
}

/// Returns true if the old value is restored. The kernel's default queue discipline may be of
/// another kind, if its default has changed since; then one of the old kind is set, with a handle.
fn is_back(setting: &Setting, old: &Saved, now: &Saved) -> bool {
    match (old, now) {
        (Saved::Queues { qdiscs: old, .. }, Saved::Queues { qdiscs: now, .. }) if old != now => {
            let kinds = |q: &[model::change::QueueNode]| q.first().map(|n| n.kind.clone());
            old.first().is_some_and(|root| root.handle == 0) && kinds(old) == kinds(now)
        }
        // Removed or new queues have no old value.
        (Saved::Processors { masks: old }, Saved::Processors { masks: now }) => {
            old.iter().zip(now).all(|(old, now)| old == now)
        }
        // The kernel has acknowledged what follows an MTU: devices and routes that have come or
        // gone since have no value to compare. Of a route only the congestion control is restored.
        (Saved::Mtu { .. }, _) | (Saved::Route { .. }, Saved::Route { .. }) => {
            is_booted_value(setting, old, now)
        }
        // Others that have been switched since may keep it from being active.
        (Saved::Offloads { requested: a, .. }, Saved::Offloads { requested: b, .. }) if a != b => {
            is_requested_alike(setting, old, now)
        }
        _ => is_alike(setting, old, now),
    }
}
