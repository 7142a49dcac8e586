//! Suspension of a pending Change, and its repeated application, to measure its effect in turns.

use model::{
    change::{Change, Saved, Step},
    text,
};

use crate::{
    Env,
    confirm::in_time,
    error::{HostError, TuneError},
    holds::{brief, holds, same_value},
    lookup::lock,
    observer::Point,
    part::{is_alike, over},
    progress::{note, undone_because, write},
    rollback::roll_back,
};

/// Sets the old values of the pending change again; it remains pending.
///
/// # Errors
/// No change is pending or it is too late; or a value could not be set, or another program has set
/// it, and everything was undone.
pub fn set_aside(env: &mut Env<'_>, prefix: Option<&str>) -> Result<(), TuneError> {
    let _lock = lock(env)?;
    let mut change = in_time(env, prefix)?;
    let mut known: Vec<Option<Saved>> = change.steps.iter().map(|s| s.new.clone()).collect();
    change.aside = true;
    forget_new(env, &mut change)?;
    for step in (0..change.steps.len()).rev() {
        env.observer.at(&Point::BeforeRestore(step))?;
        // Checked here, not earlier: later steps may have changed it, too, as an MTU changes
        // routes.
        let unchanged = is_unchanged(env, &change.steps[step], known[step].as_ref());
        let is_ours = unchanged.is_ok();
        let done = unchanged.and_then(|()| aside(env, &change, step));
        if let Err(error) = done {
            // Settings among the rest that another program has changed are left unchanged.
            let rest = if is_ours { step } else { step + 1 };
            let news = change.steps.iter_mut().zip(known.drain(..rest));
            news.for_each(|(step, new)| step.new = new);
            return Err(undone(env, &mut change, step, error)?);
        }
    }
    // What differs from these later, somebody else has set.
    for step in &mut change.steps {
        step.new = env.host.read(&step.setting).ok();
    }
    note(env, &mut change, text!("set aside"));
    write(env, &mut change)
}

/// Applies the pending change again.
///
/// # Errors
/// As [`set_aside`].
pub fn set_again(env: &mut Env<'_>, prefix: Option<&str>) -> Result<(), TuneError> {
    let _lock = lock(env)?;
    let mut change = in_time(env, prefix)?;
    // All before the first is written, which may change those of later steps.
    for step in 0..change.steps.len() {
        let of = &change.steps[step];
        is_unchanged(env, of, of.new.as_ref())
            .or_else(|error| Err(undone(env, &mut change, step, error)?))?;
    }
    forget_new(env, &mut change)?;
    for step in 0..change.steps.len() {
        env.observer.at(&Point::BeforeWrite(step))?;
        again(env, &mut change, step)
            .or_else(|error| Err(undone(env, &mut change, step, error)?))?;
    }
    change.aside = false;
    note(env, &mut change, text!("applied again"));
    write(env, &mut change)
}

/// Until the values are known, a rollback must not mistake half-applied settings, or the handles of
/// queues, which differ each time, for changes by another program.
fn forget_new(env: &mut Env<'_>, change: &mut Change) -> Result<(), TuneError> {
    change.steps.iter_mut().for_each(|step| step.new = None);
    write(env, change)
}

fn is_unchanged(env: &mut Env<'_>, step: &Step, new: Option<&Saved>) -> Result<(), HostError> {
    let now = env.host.read(&step.setting)?;
    let setting = &step.setting;
    let same = |new| same_value(setting, new, &now) || is_alike(setting, &step.old, &now);
    match new.is_none_or(same) {
        true => Ok(()),
        false => Err(HostError::NotTaken(brief(&now))),
    }
}

fn aside(env: &mut Env<'_>, change: &Change, step: usize) -> Result<(), HostError> {
    let step = &change.steps[step];
    let now = env.host.read(&step.setting)?;
    match is_alike(&step.setting, &step.old, &now) {
        true => Ok(()),
        false => {
            let old = over(&step.setting, &step.old, &now);
            env.host.restore(&step.setting, &old)
        }
    }
}

fn again(env: &mut Env<'_>, change: &mut Change, step: usize) -> Result<(), HostError> {
    let step = &mut change.steps[step];
    env.host.write(&step.setting, &step.old)?;
    let now = env.host.read(&step.setting)?;
    if !holds(&step.setting, &now) {
        return Err(HostError::NotTaken(brief(&now)));
    }
    step.new = Some(now);
    Ok(())
}

fn undone(
    env: &mut Env<'_>,
    change: &mut Change,
    step: usize,
    error: HostError,
) -> Result<TuneError, TuneError> {
    let why = text!(
        "step {step} failed: {error}",
        step = step + 1,
        error = error.text()
    );
    undone_because(env, change, why);
    let rollback = roll_back(env, change)?;
    Ok(TuneError::Step {
        step,
        setting: Box::new(change.steps[step].setting.clone()),
        error: Box::new(error.into()),
        rollback,
    })
}
