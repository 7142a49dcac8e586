//! In place of `in_lab` in builds without the lab: every path is between two hosts.

use std::{convert::Infallible, sync::atomic::AtomicBool};

use clap::Args;
use model::{plan::Plan, run::Run};

use crate::exit::Failure;

/// The path is never one of the lab.
#[derive(Debug, Args)]
pub(super) struct Path {
    /// Seed of the order of the steps
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

impl Path {
    pub(super) fn spec(&self) -> Option<&Infallible> {
        None
    }

    pub(super) fn seed(&self) -> Option<u64> {
        self.seed
    }

    pub(super) fn measure(
        &self,
        never: &Infallible,
        _: Plan,
        _: &'static AtomicBool,
    ) -> Result<Run, Failure> {
        match *never {}
    }
}
