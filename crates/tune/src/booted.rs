//! Check of changes in files after a boot: the files have set what was applied before.

use model::{
    change::{Change, ChangeId, Saved, State},
    text,
};

use crate::{
    Env,
    error::TuneError,
    holds::holds,
    progress::{note, write},
};

/// Records in the journal of each change in files that this boot has set all of it, once; returns
/// those. What a boot did not set is drift, and what was not made in this network namespace, or
/// perhaps not, is neither. The caller holds the lock.
///
/// # Errors
/// The folder cannot be read, a host not be examined, or a journal not be written.
pub(crate) fn check_after_boot(env: &mut Env<'_>) -> Result<Vec<ChangeId>, TuneError> {
    let scope = env.host.scope()?;
    let mut seen = Vec::new();
    for listed in env.folder.list()? {
        let Ok(mut change) = listed.change else {
            continue;
        };
        let is_due = change.state == State::Persisted
            && change.scope.boot != scope.boot
            && change.scope.continues_as(&scope) == Some(true);
        if !is_due || !is_set(env, &mut change) {
            continue;
        }
        change.scope = scope.clone();
        let text = text!("after a boot: the files have set everything");
        note(env, &mut change, text);
        write(env, &mut change)?;
        seen.push(change.id);
    }
    Ok(seen)
}

/// Reads all settings; true if each has its value. The values as read count from now on: handles of
/// queues and numbers of devices differ at each boot.
fn is_set(env: &mut Env<'_>, change: &mut Change) -> bool {
    change.steps.iter_mut().all(|step| {
        let device = step.setting.device();
        let link = device.map_or(Ok(None), |device| env.host.link(device));
        let now = env.host.read(&step.setting);
        match (link, now) {
            (Ok(link), Ok(now)) if now != Saved::NoDevice && holds(&step.setting, &now) => {
                step.link = link;
                step.new = Some(now);
                true
            }
            _ => false,
        }
    })
}
