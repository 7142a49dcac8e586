//! A check, its input, and the reasons why it may fail to run.

use std::sync::atomic::AtomicBool;

use lab::{Lab, LabError};
use model::{
    cell::{Cell, PathEngine},
    spec::SpecError,
};

use super::{line::Line, outcome::Outcome};

/// A check: its cells, and its judge.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Name; its lines are named `name: detail`.
    pub name: &'static str,
    /// Source of the expectation, in short.
    pub source: &'static str,
    pub(super) work: Work,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    /// Cells of a spec.
    Cells(&'static str, Judge),
    /// Cells of a spec, each run twice and none taken from the cache.
    Twice(&'static str, Judge),
    /// A comparison with a program of this host.
    Program(fn(Bench<'_>) -> Result<Vec<Line>, ValidateError>),
    /// No own cells: it judges the cells of all others.
    All(Judge),
}

pub(super) type Judge = fn(&[Outcome<'_>]) -> Vec<Line>;

/// The means to run checks.
#[derive(Clone, Copy, Debug)]
pub struct Bench<'a> {
    /// The lab.
    pub lab: &'a Lab,
    /// Set when the user stops the program.
    pub stop: &'a AtomicBool,
    /// The engine that makes the paths.
    pub engine: PathEngine,
}

impl Bench<'_> {
    /// Cells of a spec, with paths that are made by the engine of this bench.
    pub(super) fn made(&self, mut cells: Vec<Cell>) -> Vec<Cell> {
        for cell in &mut cells {
            cell.engine = self.engine;
        }
        cells
    }
}

/// Reason why checks could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ValidateError {
    /// A check has an invalid spec.
    #[error("the spec of the check \"{check}\": {source}")]
    Spec {
        /// The check.
        check: &'static str,
        /// The fault.
        source: SpecError,
    },
    /// The lab failed, or the user stopped.
    #[error(transparent)]
    Lab(#[from] LabError),
}

impl ValidateError {
    pub(super) fn spec(check: &'static str, source: SpecError) -> Self {
        Self::Spec { check, source }
    }
}
