//! Arms of a trial, with their results.

use model::{
    advice::Outcome,
    job::{self, Bench, Cause, Outcome as Result_, Stopped},
    net::Direction,
    path::Path,
};

use super::{
    judge::Pair,
    recipe::Candidate,
    trial::{goodput, job, outcomes, plan},
};
use crate::error::TwinError;

/// A candidate to try, and the members with it.
#[derive(Clone, Debug)]
pub(super) struct Arm {
    pub(super) candidate: Candidate,
    pub(super) paths: Vec<Path>,
}

/// Results of one run.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) outcomes: Vec<Outcome>,
    pub(super) name: String,
}

/// All arms with their results.
#[derive(Debug)]
pub(super) struct Field<'a> {
    /// Members without a change.
    pub(super) members: &'a [Path],
    pub(super) arms: Vec<Arm>,
    program: &'a str,
    /// Without a change, by pair.
    unchanged: Vec<Option<Seen>>,
    /// By arm and pair.
    seen: Vec<Vec<Option<Seen>>>,
    pub(super) runs: usize,
    pub(super) failed: usize,
    pub(super) first_failure: Option<Cause>,
}

impl<'a> Field<'a> {
    pub(super) fn new(members: &'a [Path], arms: Vec<Arm>, program: &'a str) -> Self {
        Self {
            seen: vec![Vec::new(); arms.len()],
            members,
            arms,
            program,
            unchanged: Vec::new(),
            runs: 0,
            failed: 0,
            first_failure: None,
        }
    }

    /// A further arm; its place.
    pub(super) fn add(&mut self, arm: Arm) -> usize {
        self.arms.push(arm);
        self.seen.push(Vec::new());
        self.arms.len() - 1
    }

    /// Measures these arms, and no change, on all pairs up to `pairs` that they lack.
    pub(super) fn measure(
        &mut self,
        arms: &[usize],
        pairs: usize,
        bench: &mut dyn Bench,
    ) -> Result<(), TwinError> {
        let mut wanted: Vec<(Option<usize>, usize)> = (self.unchanged.len()..pairs)
            .map(|pair| (None, pair))
            .collect();
        for arm in arms {
            let from = self.seen.get(*arm).map_or(pairs, Vec::len);
            wanted.extend((from..pairs).map(|pair| (Some(*arm), pair)));
        }
        let jobs: Result<Vec<job::Measure>, TwinError> = wanted
            .iter()
            .map(|(arm, pair)| self.job(*arm, *pair))
            .collect();
        let mut results: Vec<Option<Seen>> = vec![None; wanted.len()];
        self.run(&jobs?, bench, &mut |place, run, name| {
            results[place] = outcomes(run).map(|outcomes| Seen { outcomes, name });
        })?;
        for ((arm, _), seen) in wanted.into_iter().zip(results) {
            match arm {
                None => self.unchanged.push(seen),
                Some(arm) => self.seen[arm].push(seen),
            }
        }
        Ok(())
    }

    /// Runs jobs, and counts them.
    fn run(
        &mut self,
        jobs: &[job::Measure],
        bench: &mut dyn Bench,
        seen: &mut dyn FnMut(usize, &model::run::Run, String),
    ) -> Result<(), TwinError> {
        let measured = bench.measure(jobs, &mut |place, outcome| {
            self.runs += 1;
            match outcome {
                Result_::Run(run, name) => seen(place, &run, name),
                Result_::Failed(why) => {
                    self.failed += 1;
                    self.first_failure.get_or_insert(why);
                }
            }
        });
        measured.map_err(|Stopped| TwinError::Stopped)
    }

    /// Goodputs of jobs in a direction, by their place.
    pub(super) fn goodputs(
        &mut self,
        jobs: &[job::Measure],
        directions: &[Direction],
        bench: &mut dyn Bench,
    ) -> Result<Vec<Option<f64>>, TwinError> {
        let mut results = vec![None; jobs.len()];
        self.run(jobs, bench, &mut |place, run, _| {
            results[place] = goodput(run, directions[place]);
        })?;
        Ok(results)
    }

    fn job(&self, arm: Option<usize>, pair: usize) -> Result<job::Measure, TwinError> {
        let (member, seed) = self.pair(pair);
        let path = match arm {
            None => &self.members[member],
            Some(arm) => &self.arms[arm].paths[member],
        };
        job(path, plan(path), seed, self.program)
    }

    /// Member and seed of a pair: all members with the first seed, then with the second.
    pub(super) fn pair(&self, pair: usize) -> (usize, u64) {
        let members = self.members.len();
        (pair % members, 1 + (pair / members) as u64)
    }

    /// Pairs of an arm that were measured with and without it.
    pub(super) fn pairs(&self, arm: usize) -> Vec<Pair<'_>> {
        let both = self.unchanged.iter().zip(&self.seen[arm]).enumerate();
        both.filter_map(|(pair, (before, after))| {
            let (before, after) = (before.as_ref()?, after.as_ref()?);
            let member = self.pair(pair).0;
            let path = &self.members[member];
            Some(Pair::new(member, path, [&before.outcomes, &after.outcomes]))
        })
        .collect()
    }

    /// Returns the results without a change.
    pub(super) fn unchanged(&self) -> Vec<&Seen> {
        self.unchanged.iter().flatten().collect()
    }

    /// Names of the results of an arm.
    pub(super) fn names(&self, arm: usize) -> Vec<String> {
        let seen = self.seen[arm].iter().flatten();
        seen.map(|s| s.name.clone()).collect()
    }
}
