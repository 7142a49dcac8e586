//! Settings of changes that somebody else has set since.

use model::{
    change::{Change, ChangeId, Saved, Setting, State, Step},
    text,
    text::Text,
};

use crate::{
    Host,
    error::{Drift, HostError, TuneError},
    holds::{brief, holds, is_booted_value, same_value},
    part::singly,
};

/// Settings of a change that no longer have the value that was applied.
pub(crate) fn of(host: &mut dyn Host, change: &Change) -> Result<Vec<Drift>, TuneError> {
    let mut all = Vec::new();
    for step in &change.steps {
        let now = host.read(&step.setting)?;
        if step
            .new
            .as_ref()
            .is_some_and(|new| !same_value(&step.setting, new, &now))
        {
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

/// A comparison of kept changes with the host.
#[derive(Debug, Default)]
pub struct Compared {
    /// The changes whose settings somebody else has set since, each with those settings.
    pub drifted: Vec<(ChangeId, Vec<Drift>)>,
    /// Settings that could not be read, as without a privilege, and why.
    pub unread: Vec<Text>,
    /// The kept changes in force, with when they were planned, seconds since 1970.
    pub in_force: Vec<(ChangeId, u64)>,
}

/// Compares the kept changes in force with the host. A setting that has the value of another kept
/// change has not drifted.
///
/// # Errors
/// /proc is not mounted.
pub fn drifted(kept: Vec<Change>, host: &mut dyn Host) -> Result<Compared, HostError> {
    let scope = host.scope()?;
    let mut all = Compared::default();
    let kept: Vec<Change> = kept
        .into_iter()
        // What is only in the kernel ends with it, and in the namespace it is of.
        .filter(|change| match change.state {
            State::Persisted if change.scope.boot != scope.boot => {
                let is_here = change.scope.continues_as(&scope);
                if is_here.is_none() {
                    all.unread.push(unknown_place(change));
                }
                is_here == Some(true)
            }
            State::Confirmed | State::Persisted => change.scope.is_same(&scope),
            _ => false,
        })
        .collect();
    let times = kept.iter();
    let times = times.filter_map(|change| Some((change.id.clone(), change.created_unix_s?)));
    all.in_force = times.collect();
    for change in &kept {
        let mut drifted = Vec::new();
        for step in &change.steps {
            let now = match host.read(&step.setting).and_then(present(step)) {
                Ok(now) => now,
                Err(error) => {
                    all.unread.push(text!(
                        "change {change}: {setting} cannot be compared: {error}",
                        change = change.id.short(),
                        setting = step.setting.to_string(),
                        error = error.text()
                    ));
                    continue;
                }
            };
            // Each number of a setting may be another change's.
            let is_kept = |own: &Setting| is_set_by_any(&kept, &scope.boot, own, &now);
            if step.new.is_some() && !singly(&step.setting).iter().all(is_kept) {
                drifted.push(drift(step, &now));
            }
        }
        if !drifted.is_empty() {
            all.drifted.push((change.id.clone(), drifted));
        }
    }
    Ok(all)
}

/// Returns true if a setting has the value that a kept change gave it.
fn is_set_by_any(kept: &[Change], boot: &str, setting: &Setting, now: &Saved) -> bool {
    kept.iter().any(|change| {
        let has = |new: &Saved, one: &Setting| match change.scope.boot == boot {
            // Handles of queues differ at each boot, and each time their files are read.
            true => is_booted_value(one, new, now),
            false => holds(one, now),
        };
        change.steps.iter().any(|step| {
            let each = singly(&step.setting);
            let mut same = each.iter().filter(|one| one.is_same_place(setting));
            step.new
                .as_ref()
                .is_some_and(|new| same.any(|one| has(new, one)))
        })
    })
}

fn unknown_place(change: &Change) -> Text {
    text!(
        "change {change}: not compared since the boot: whether it was made in this network \
         namespace is unknown",
        change = change.id.short()
    )
}

/// A device that is not there, or not yet, has no value to compare.
fn present(step: &Step) -> impl FnOnce(Saved) -> Result<Saved, HostError> {
    let device = step.setting.device().unwrap_or_default().to_owned();
    move |now| match now {
        Saved::NoDevice => Err(HostError::NoDevice(device)),
        now => Ok(now),
    }
}
