//! The states of a transaction, each on disk before the next step.

use model::{
    change::{Change, Event, State},
    text::Text,
};

use crate::{Env, error::TuneError, observer::Point};

/// Writes the next state to the journal.
pub(crate) fn advance(
    env: &mut Env<'_>,
    change: &mut Change,
    next: State,
) -> Result<(), TuneError> {
    debug_assert!(
        change.state.may_become(&next),
        "{:?} to {next:?}",
        change.state
    );
    let before = std::mem::replace(&mut change.state, next);
    change.schema = change.state.schema();
    note(env, change, change.state.text());
    write(env, change).inspect_err(|_| {
        // The state in the journal; a rollback starts from the later of both.
        if !matches!(
            change.state,
            State::Applying { .. } | State::RollingBack { .. }
        ) {
            change.state = before;
            change.schema = change.state.schema();
        }
    })
}

pub(crate) fn note(env: &Env<'_>, change: &mut Change, what: Text) {
    /// Maximum number of events of a change.
    const MAX: usize = 1000;
    if change.events.len() < MAX {
        let boottime_ns = env.clock.boottime_ns();
        change.events.push(Event { boottime_ns, what });
    }
}

/// Records why a change is undone without a request; call it before the first step is undone.
pub(crate) fn undone_because(env: &Env<'_>, change: &mut Change, why: Text) {
    note(env, change, why.clone());
    change.undone_because = Some(why);
}

/// Writes the present state of a change to the journal.
pub(crate) fn write(env: &mut Env<'_>, change: &mut Change) -> Result<(), TuneError> {
    env.observer
        .at(&Point::BeforeJournal(change.state.clone()))?;
    env.folder.write(change)?;
    env.observer
        .at(&Point::AfterJournal(change.state.clone()))?;
    Ok(())
}
