//! Applying a planned Change.

use std::time::Duration;

use model::{
    change::{Change, ChangeId, ProcessId, State},
    text,
};

use crate::{
    Env, LOCK_LIMIT,
    error::{Rollback, TuneError},
    holds::{brief, holds},
    host::Host,
    observer::{Interrupted, Point},
    probe::Prober,
    progress::{advance, undone_because, write},
    recover::{Recovery, is_alive, recover},
    rollback::roll_back,
};

/// Parameters for arming and confirming a change.
pub struct Arm<'a> {
    /// Time to confirm it, from now.
    pub window: Duration,
    /// This process.
    pub controller: ProcessId,
    /// Starts the keeper of a change, and returns when it is ready.
    pub keeper: &'a mut dyn FnMut(&ChangeId) -> std::io::Result<ProcessId>,
    /// Tries connections before.
    pub prober: &'a mut dyn Prober,
}

/// Applies a planned change to the running kernel. It is then undone at its deadline, unless it is
/// confirmed.
///
/// # Errors
/// Nothing was changed (refused, out of date, privileges missing, another change pending); or a
/// step failed, and all was undone.
pub fn apply(env: &mut Env<'_>, plan: &Change, arm: &mut Arm<'_>) -> Result<Change, TuneError> {
    let Some(_lock) = env.folder.lock(LOCK_LIMIT)? else {
        return Err(TuneError::Busy);
    };
    if plan.steps.is_empty() {
        return Err(TuneError::Nothing);
    }
    if let Recovery::Waiting(id) = recover(env)? {
        return Err(TuneError::Pending(id));
    }
    check(env, plan)?;
    let mut probes = Vec::new();
    for target in &plan.probes {
        let working = arm.prober.connect(target);
        probes.extend(working.map_err(|error| TuneError::ProbeBefore {
            target: target.clone(),
            error,
        })?);
    }
    let mut change = Change {
        controller: Some(arm.controller),
        // What works now must work afterwards.
        probes,
        ..plan.clone()
    };
    let window = u64::try_from(arm.window.as_nanos()).unwrap_or(u64::MAX);
    change.deadline_boottime_ns = Some(env.clock.boottime_ns().saturating_add(window));
    write(env, &mut change)?;
    if let Err(error) = start(env, &mut change, arm) {
        // Nothing was written to the kernel yet.
        settle_unwritten(env, &mut change, &error)?;
        return Err(error);
    }
    steps(env, &mut change)?;
    Ok(change)
}

/// Checks that this process has the privileges for every step of a plan. Nothing is read or
/// written, so it can be called before anything else.
///
/// # Errors
/// [`TuneError::Privilege`] with the privilege that each step needs and this process lacks.
pub fn privileged(host: &mut dyn Host, plan: &Change) -> Result<(), TuneError> {
    let lacking: Vec<_> = plan
        .steps
        .iter()
        .filter_map(|step| Some((step.setting.clone(), host.lacks(&step.setting)?)))
        .collect();
    match lacking.is_empty() {
        true => Ok(()),
        false => Err(TuneError::Privilege(lacking)),
    }
}

/// Checks that the plan can be applied now.
fn check(env: &mut Env<'_>, plan: &Change) -> Result<(), TuneError> {
    privileged(env.host, plan)?;
    let scope = env.host.scope()?;
    for step in &plan.steps {
        let now = env.host.read(&step.setting)?;
        if now != step.old || !scope.is_same(&plan.scope) {
            return Err(TuneError::Stale(Box::new(step.setting.clone())));
        }
    }
    Ok(())
}

fn start(env: &mut Env<'_>, change: &mut Change, arm: &mut Arm<'_>) -> Result<(), TuneError> {
    env.observer.at(&Point::BeforeKeeper)?;
    change.keeper = Some((arm.keeper)(&change.id).map_err(TuneError::NoKeeper)?);
    env.observer.at(&Point::AfterKeeper)?;
    advance(env, change, State::Armed)
}

fn settle_unwritten(
    env: &mut Env<'_>,
    change: &mut Change,
    error: &TuneError,
) -> Result<(), TuneError> {
    if let TuneError::Interrupted(stop) = error {
        return Err(TuneError::Interrupted(*stop));
    }
    // If the journal cannot be written, the keeper or the next start detects that nothing was
    // written.
    let _ = advance(env, change, State::RolledBack);
    Ok(())
}

fn steps(env: &mut Env<'_>, change: &mut Change) -> Result<(), TuneError> {
    for step in 0..change.steps.len() {
        if let Err(fault) = one(env, change, step) {
            let error = match fault {
                TuneError::Interrupted(stop) => return Err(stop.into()),
                other => other,
            };
            return Err(undone(env, change, step, error)?);
        }
    }
    let last = change.steps.len().saturating_sub(1);
    match kept(change).and_then(|()| advance(env, change, State::Applied)) {
        Ok(()) => Ok(()),
        Err(TuneError::Interrupted(stop)) => Err(stop.into()),
        Err(other) => Err(undone(env, change, last, other)?),
    }
}

fn undone(
    env: &mut Env<'_>,
    change: &mut Change,
    step: usize,
    error: TuneError,
) -> Result<TuneError, Interrupted> {
    let setting = Box::new(change.steps[step].setting.clone());
    let why = text!(
        "step {step} failed: {error}",
        step = step + 1,
        error = error.text()
    );
    undone_because(env, change, why);
    let rollback: Rollback = roll_back(env, change)?;
    Ok(TuneError::Step {
        step,
        setting,
        error: Box::new(error),
        rollback,
    })
}

/// Nobody would undo a change without a keeper.
fn kept(change: &Change) -> Result<(), TuneError> {
    match change.keeper.is_some_and(is_alive) {
        true => Ok(()),
        false => Err(TuneError::KeeperDied),
    }
}

fn one(env: &mut Env<'_>, change: &mut Change, step: usize) -> Result<(), TuneError> {
    kept(change)?;
    advance(env, change, State::Applying { step })?;
    env.observer.at(&Point::BeforeWrite(step))?;
    let (setting, old) = {
        let step = &change.steps[step];
        (step.setting.clone(), step.old.clone())
    };
    env.host.write(&setting, &old)?;
    env.observer.at(&Point::AfterWrite(step))?;
    let new = env.host.read(&setting)?;
    let taken = holds(&setting, &new);
    let got = brief(&new);
    change.steps[step].new = Some(new);
    if taken {
        Ok(())
    } else {
        Err(crate::HostError::NotTaken(got).into())
    }
}
