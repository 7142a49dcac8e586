//! Interface of a transaction to each of its hosts.

use std::time::Duration;

use model::{
    change::{Change, ChangeId},
    proof::Acted,
    run::Run,
};

use crate::error::{Drift, TuneError};

/// A host with a planned change.
pub trait Site {
    /// The id of its change, if this program makes it.
    fn id(&self) -> Option<&ChangeId>;

    /// Returns true if anything is to be changed.
    fn is_needed(&self) -> bool;

    /// Returns true if it can be switched only once, from unchanged to changed.
    fn is_switched_once(&self) -> bool {
        false
    }

    /// Applies the plan; it then waits for a confirmation for the time `window`.
    ///
    /// # Errors
    /// It is not applied, or was undone.
    fn apply(&self, window: Duration) -> Result<(), TuneError>;

    /// Applies the pending change again, or suspends it.
    ///
    /// # Errors
    /// It could not be switched; it is undone then.
    fn set(&self, on: bool) -> Result<(), TuneError>;

    /// Returns evidence that its settings acted during a measurement with the change.
    fn evidence(&self, run: &Run) -> Vec<Acted>;

    /// Confirms the change, or undoes it. Returns the settings that another program has changed
    /// since.
    ///
    /// # Errors
    /// It could be neither.
    fn settle(&self, keep: bool) -> Result<Vec<Drift>, TuneError>;

    /// The change in its journal, if it can be read.
    fn change(&self) -> Option<Change>;
}
