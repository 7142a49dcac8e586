//! Steps of `fix` in the lab: all of them for a lab path, twin and advice for two hosts.

use std::{sync::atomic::AtomicBool, time::Duration};

use ::measure::run::usual_estimate;
use ::twin::{Budget, Fit, Objective, Trials};
use lab::{Lab, job::Job};
use model::{
    advice::{Advice, Goal, Keep, Tried},
    cell::Cell,
    job::{self, ProveOutput},
    plan::Plan,
    run::Run,
    twin::Twin,
};

use crate::{commands::twin, exit::Failure, progress};

/// Usual time of the search for a twin, and of the trial after it: the default of `fix`.
pub const USUAL: Budget = Budget::AtLeast(Duration::from_secs(120));

/// The lab, and the request to `fix`.
#[derive(Clone, Copy)]
pub struct InLab<'a> {
    /// The lab.
    pub lab: &'a Lab,
    /// Figure to improve.
    pub goal: Goal,
    /// Bounds that the user set.
    pub keep: &'a [Keep],
    /// True if a remedy may be at a cost to others.
    pub at_a_cost: bool,
    /// Longest time of the search for a twin, and of the trial after it.
    pub budget: Budget,
    /// Turns of a proof with the change, and as many without.
    pub pairs: u32,
    /// Ctrl-C was pressed.
    pub stop: &'a AtomicBool,
}

impl InLab<'_> {
    /// Measures a lab path.
    ///
    /// # Errors
    /// The plan failed in the lab, or it was stopped.
    pub fn measure(&self, cell: &Cell, plan: &Plan) -> Result<Run, Failure> {
        let limit = usual_estimate(plan, cell.layers()).limit();
        let program = env!("CARGO_PKG_VERSION");
        let job = job::Measure::new(cell.clone(), plan.clone(), program, limit);
        Ok(self.with_bar(&job)?.run)
    }

    /// Searches the twin of a measured path.
    ///
    /// # Errors
    /// The Run lacks measurements that a twin needs, every run in the lab failed, or it was
    /// stopped.
    pub fn twin(&self, run: &Run) -> Result<Twin, Failure> {
        let fit = Fit::prepare(run, self.budget, env!("CARGO_PKG_VERSION"))?;
        twin::search(&fit, self.lab, self.stop)
    }

    /// Tries remedies on a twin.
    ///
    /// # Errors
    /// Every run in the lab failed, or it was stopped.
    pub fn advice(&self, twin: &Twin) -> Result<Advice, Failure> {
        let objective = Objective {
            goal: self.goal,
            keep: self.keep.to_vec(),
            budget: self.budget,
        };
        let trials = Trials::prepare(twin, objective, env!("CARGO_PKG_VERSION"))?;
        let advice = progress::search(self.lab, trials.runs(), self.stop, |bench| {
            trials.search(bench)
        });
        Ok(advice?)
    }

    /// Applies a remedy to the ends of a lab path, in the guest's kernel, measures `plan` in turns
    /// with and without it, and keeps or undoes it.
    ///
    /// # Errors
    /// The guest failed, or it was stopped.
    pub fn prove(&self, cell: &Cell, plan: &Plan, best: &Tried) -> Result<ProveOutput, Failure> {
        let turn = usual_estimate(plan, cell.layers()).limit();
        let limit = ::tune::room(turn, self.pairs);
        self.with_bar(&job::Prove {
            plan: plan.clone(),
            remedies: best.remedies.clone(),
            goal: self.goal,
            predicted: best.changes.clone(),
            keep: self.keep.to_vec(),
            at_a_cost: self.at_a_cost,
            pairs: self.pairs,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            limit_ns: limit.as_nanos() as u64,
            cell: cell.clone(),
        })
    }

    fn with_bar<J: Job>(&self, job: &J) -> Result<J::Output, Failure> {
        let bar = progress::bar(1);
        let done = self
            .lab
            .run(job, self.stop, &mut |done| progress::step(&bar, done));
        bar.finish_and_clear();
        Ok(done?)
    }
}
