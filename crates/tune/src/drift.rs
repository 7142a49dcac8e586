//! Settings of changes that somebody else has set since.

use model::change::{Change, ChangeId, Saved, State, Step};

use crate::{
    Folder, Host,
    error::{Drift, TuneError},
    holds::{brief, same_value},
};

/// Settings of a change that no longer have the value that was applied.
pub(crate) fn of(host: &mut dyn Host, change: &Change) -> Result<Vec<Drift>, TuneError> {
    let mut all = Vec::new();
    for step in &change.steps {
        let now = host.read(&step.setting)?;
        if step.new.as_ref().is_some_and(|new| !same_value(new, &now)) {
            all.push(drift(step, &now));
        }
    }
    Ok(all)
}

fn drift(step: &Step, now: &Saved) -> Drift {
    Drift {
        setting: step.setting.clone(),
        now: brief(now),
    }
}

/// The kept changes whose settings somebody else has set since, each with those settings. A setting
/// that has the value of another kept change has not drifted. One that cannot be read any more, as
/// of a device that is gone, is not reported.
///
/// # Errors
/// The folder cannot be read, or /proc is not mounted. Journals that cannot be read are skipped.
pub fn drifted(
    folder: &Folder,
    host: &mut dyn Host,
) -> Result<Vec<(ChangeId, Vec<Drift>)>, TuneError> {
    let scope = host.scope()?;
    let listed = folder.list()?.into_iter();
    let kept: Vec<Change> = listed
        .filter_map(|listed| listed.change.ok())
        // What is only in the kernel ends with it, and in the namespace it is of.
        .filter(|change| match change.state {
            State::Confirmed => change.scope == scope,
            State::Persisted => change.scope.boot != scope.boot || change.scope == scope,
            _ => false,
        })
        .collect();
    let mut all = Vec::new();
    for change in &kept {
        let mut drifted = Vec::new();
        for step in &change.steps {
            let Ok(now) = host.read(&step.setting) else {
                continue;
            };
            let is_kept = |other: &Step| {
                let new = other.new.as_ref();
                other.setting.is_same_place(&step.setting)
                    && new.is_some_and(|new| same_value(new, &now))
            };
            if step.new.is_some() && !kept.iter().flat_map(|c| &c.steps).any(is_kept) {
                drifted.push(drift(step, &now));
            }
        }
        if !drifted.is_empty() {
            all.push((change.id.clone(), drifted));
        }
    }
    Ok(all)
}
