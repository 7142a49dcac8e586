//! Points of a transaction at which it may be interrupted.
//!
//! Every point between two effects on the disk or the kernel is named. Tests end the process at
//! each of them.

use model::change::State;

/// A point of a transaction.
#[derive(Clone, Debug, PartialEq)]
pub enum Point {
    /// Before this state is written to the journal.
    BeforeJournal(State),
    /// After it is on disk.
    AfterJournal(State),
    /// Before a step is written to the kernel.
    BeforeWrite(usize),
    /// After that, before it is read back.
    AfterWrite(usize),
    /// Before a step is undone.
    BeforeRestore(usize),
    /// After that, before it is read back.
    AfterRestore(usize),
    /// Before a file is written.
    BeforeFile(usize),
    /// After its folder exists.
    AfterFolder(usize),
    /// After it is on disk.
    AfterFile(usize),
    /// Before a file is removed.
    BeforeRemoval(usize),
    /// After that.
    AfterRemoval(usize),
    /// Before the keeper is started.
    BeforeKeeper,
    /// After the keeper is ready.
    AfterKeeper,
}

/// The transaction must stop immediately, as if its process had been killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// Sees every point of a transaction.
pub trait Observer {
    /// Called at each point, in order.
    ///
    /// # Errors
    /// The transaction is to stop without any further effect.
    fn at(&mut self, point: &Point) -> Result<(), Interrupted>;
}

/// Observer that never interrupts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn at(&mut self, _: &Point) -> Result<(), Interrupted> {
        Ok(())
    }
}
