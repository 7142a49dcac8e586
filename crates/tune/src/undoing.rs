//! Undoing of a Change that is kept or was interrupted: its files first, then its settings.

use model::{
    change::{Change, Saved, State, Step},
    text,
    text::Text,
};

use crate::{
    Env,
    error::{HostError, Left, Rollback, TuneError},
    holds::{holds, is_booted_value},
    progress::{advance, note, undone_because, write},
    rollback::{journal, roll_back},
    setting_files::remove_all,
};

/// Undoes a change in any state but undone. Once its journal says that its files are being removed,
/// the next start completes what is interrupted. Errors of the journal do not stop it.
///
/// # Errors
/// It is of another network namespace, or the host cannot be examined.
pub(crate) fn undo(env: &mut Env<'_>, change: &mut Change) -> Result<Rollback, TuneError> {
    let scope = env.host.scope()?;
    let is_same_boot = scope.boot == change.scope.boot;
    let is_here = match is_same_boot {
        true => Some(scope.is_same(&change.scope)),
        false => change.scope.continues_as(&scope),
    };
    if is_here == Some(false) {
        return Err(TuneError::Elsewhere(change.id.clone()));
    }
    if change.files.is_empty() && change.state != State::Unpersisting {
        if is_same_boot {
            return Ok(roll_back(env, change)?);
        }
        rebooted(env, change)?;
        return Ok(Rollback::default());
    }
    let mut mark = Rollback::default();
    if change.state != State::Unpersisting {
        journal(env, change, State::Unpersisting, &mut mark)?;
    }
    let left = remove_all(env, change)?;
    change.scope = scope;
    for step in &mut change.steps {
        let found = as_set_since(env, step, is_same_boot);
        // What cannot be read keeps the values of the journal, which are those of this boot.
        if !is_same_boot {
            found?;
        }
    }
    let mut rollback = roll_back(env, change)?;
    rollback.journal = rollback.journal.or(mark.journal);
    rollback.left.extend(left);
    Ok(rollback)
}

/// Removes the files of a change that stays in the running kernel, and records why.
///
/// # Errors
/// The journal cannot be written; the next start then repeats it.
pub(crate) fn not_in_files(
    env: &mut Env<'_>,
    change: &mut Change,
    why: Text,
) -> Result<(), TuneError> {
    let before = change.files.len();
    let left = remove_all(env, change)?;
    if change.state == State::Confirmed && change.files.len() == before {
        // Those that somebody has edited, as found before.
        return Ok(());
    }
    note(env, change, why);
    for left in left.iter().map(Left::text) {
        note(env, change, left);
    }
    match change.state {
        // A journal of schema 1.
        State::Confirmed => write(env, change),
        _ => advance(env, change, State::Confirmed),
    }
}

/// Removes the files that an earlier undoing could not remove.
///
/// # Errors
/// The journal cannot be written.
pub(crate) fn remove_rest(env: &mut Env<'_>, change: &mut Change) -> Result<Rollback, TuneError> {
    let left = remove_all(env, change)?;
    write(env, change)?;
    Ok(Rollback {
        left,
        ..Rollback::default()
    })
}

/// A reboot has already undone settings of the running kernel.
pub(crate) fn rebooted(env: &mut Env<'_>, change: &mut Change) -> Result<(), TuneError> {
    undone_because(env, change, text!("undone by a reboot"));
    advance(env, change, State::RolledBack)
}

/// Prepares undoing a setting that files have made: at this boot, which may not have had all of
/// them, or again in the boot of the change. Its device may have another number by now.
fn as_set_since(env: &mut Env<'_>, step: &mut Step, is_same_boot: bool) -> Result<(), HostError> {
    let device = step.setting.device();
    let link = device.map_or(Ok(None), |device| env.host.link(device))?;
    let is_same_device = is_same_boot && link == step.link;
    if let (true, false, Some(before)) = (is_same_boot, is_same_device, step.link) {
        if link.is_none() || env.host.name(before)?.is_some() {
            // Gone, or renamed.
            return Ok(());
        }
        env.host.clear(&step.setting, before)?;
    }
    step.link = link;
    let now = env.host.read(&step.setting)?;
    // A present value was set by the files if it is the one they set.
    let is_set = match &step.new {
        Some(new) if *new == now => return Ok(()),
        Some(new) if is_same_device => is_booted_value(&step.setting, new, &now),
        _ => holds(&step.setting, &now),
    };
    if is_set {
        // A route is its owner's, who may have given it another next hop, and the undoing of a
        // later step another MTU: no other value of it is somebody else's.
        step.new = (!matches!(now, Saved::Route { .. })).then_some(now);
        return Ok(());
    }
    if is_same_device {
        return Ok(());
    }
    if is_booted_value(&step.setting, &step.old, &now) {
        step.old = now;
    }
    // Any other value is somebody else's.
    step.new = Some(step.old.clone());
    Ok(())
}
