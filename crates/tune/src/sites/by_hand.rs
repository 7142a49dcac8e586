//! A far host that a person changes, because this program cannot: switched once, and kept or undone
//! by that person.

use std::time::Duration;

use model::{
    change::{Change, ChangeId, Setting},
    proof::Acted,
    run::Run,
};

use super::site::Site;
use crate::{
    error::{Drift, TuneError},
    prove::evidence_of_far,
};

/// The person or program that changes the far host.
pub trait Person {
    /// Requests the change, to be kept pending for at least `window`, and returns when it is made.
    ///
    /// # Errors
    /// It was not made.
    fn ask(&self, settings: &[Setting], window: Duration) -> Result<(), TuneError>;

    /// Reports whether it is to be kept.
    fn report(&self, keep: bool);
}

/// Settings of a far host that a person changes.
#[derive(Debug)]
pub struct ByHand<P> {
    person: P,
    settings: Vec<Setting>,
    window: std::cell::Cell<Duration>,
    is_made: std::cell::Cell<bool>,
}

impl<P: Person> ByHand<P> {
    /// Settings that `person` changes.
    pub fn new(person: P, settings: Vec<Setting>) -> Self {
        Self {
            person,
            settings,
            window: std::cell::Cell::default(),
            is_made: std::cell::Cell::default(),
        }
    }
}

impl<P: Person> Site for ByHand<P> {
    fn id(&self) -> Option<&ChangeId> {
        None
    }

    fn is_needed(&self) -> bool {
        !self.settings.is_empty()
    }

    fn is_switched_once(&self) -> bool {
        true
    }

    /// It is requested after the turns without it.
    fn apply(&self, window: Duration) -> Result<(), TuneError> {
        self.window.set(window);
        Ok(())
    }

    fn set(&self, on: bool) -> Result<(), TuneError> {
        if on && !self.is_made.get() {
            self.person.ask(&self.settings, self.window.get())?;
            self.is_made.set(true);
        }
        Ok(())
    }

    fn evidence(&self, run: &Run) -> Vec<Acted> {
        evidence_of_far(self.settings.iter(), run)
    }

    fn settle(&self, keep: bool) -> Result<Vec<Drift>, TuneError> {
        if self.is_made.get() {
            self.person.report(keep);
        }
        Ok(Vec::new())
    }

    fn change(&self) -> Option<Change> {
        None
    }
}
