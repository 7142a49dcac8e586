//! Advice from a Twin and remedies: each is tried on the members of the Twin, and compared with no
//! change.

mod because;
mod bounds;
mod chance;
mod competitor;
mod document;
mod field;
mod judge;
mod known;
mod objective;
mod predicted;
mod recipe;
mod rounds;
mod trial;

use std::cmp::Reverse;

use model::{
    advice::{Advice, Change, NotTried, Origin, Outcome, guards::GAIN},
    job::Bench,
    net::Direction,
    path::{Limit, Path},
    plan::Plan,
    text,
    twin::Twin,
};

use self::{
    field::{Arm, Field},
    judge::{Pair, Worth},
    recipe::{Candidate, candidates},
    rounds::{COMBINED, Round, rounds, runs, survivors},
};
use crate::{
    cost,
    error::{TwinError, all_failed},
};

pub use objective::Objective;
pub use trial::outcome;

/// Members on which remedies are tried.
const MEMBERS: usize = 3;
/// Members of less weight are not.
const MIN_WEIGHT: f64 = 0.02;
/// Number of arms whose harm to a competing flow is measured.
const WITH_COMPETITOR: usize = 3;
/// Assumed rate of a path without a rate, bit/s, for the cost.
const USUAL_RATE: f64 = 1e8;

/// Remedies that can be tried on a Twin, and the cost.
#[derive(Debug)]
pub struct Trials<'a> {
    twin: &'a Twin,
    objective: Objective,
    program: String,
    members: Vec<Path>,
    arms: Vec<Arm>,
    /// Candidates that the path has already.
    same: Vec<Candidate>,
    not_tried: Vec<NotTried>,
    rounds: Vec<Round>,
    each_s: f64,
}

impl<'a> Trials<'a> {
    /// The findings' remedies and the usual recipes, and the rounds that the budget allows.
    ///
    /// # Errors
    /// The budget does not allow one run of each.
    pub fn prepare(twin: &'a Twin, objective: Objective, program: &str) -> Result<Self, TwinError> {
        let members = members(twin);
        let each_s = processor_s(&trial::plan(&members[0]), &members[0]);
        let mut trials = Self {
            twin,
            program: program.to_owned(),
            members,
            arms: Vec::new(),
            same: Vec::new(),
            not_tried: Vec::new(),
            rounds: Vec::new(),
            each_s,
            objective,
        };
        for candidate in candidates(twin) {
            trials.take(candidate);
        }
        trials.not_tried.extend(known::settings());
        let [down, up] = [Direction::Down, Direction::Up].map(|d| rate_bps(&trials.members[0], d));
        let budget = trials.objective.budget.of_trials(twin, down.max(up));
        let allowed_s = budget.as_secs_f64() * cost::PROCESSORS;
        let allowed = (allowed_s / each_s).floor() as usize;
        let left = allowed.saturating_sub(competitor_runs());
        trials.rounds = rounds(trials.arms.len(), left);
        if trials.rounds.is_empty() {
            let least = trials.arms.len() + 1 + competitor_runs();
            return Err(TwinError::NoBudget {
                needs_s: cost::elapsed_s(least as f64 * each_s) as u64,
            });
        }
        Ok(trials)
    }

    /// Runs in the lab that it takes at most.
    pub fn runs(&self) -> usize {
        runs(&self.rounds) + competitor_runs()
    }

    /// Returns the expected duration of the trials, for the reader.
    pub fn forecast(&self) -> String {
        format!(
            "{} remedies are tried in up to {} runs in the lab, at most {} on two processors; what is \
             known is not run again",
            self.arms.len(),
            self.runs(),
            cost::minutes(self.runs() as f64 * self.each_s)
        )
    }

    /// Tries all candidates.
    ///
    /// # Errors
    /// It was stopped, the lab cannot make a path with a remedy, or all runs failed.
    pub fn search(&self, bench: &mut dyn Bench) -> Result<Advice, TwinError> {
        let mut field = Field::new(&self.members, self.arms.clone(), &self.program);
        let mut alive: Vec<usize> = (0..self.arms.len()).collect();
        for (number, round) in self.rounds.iter().enumerate() {
            if number > 0 {
                alive = survivors(self.worths(&field, &alive), round.arms);
            }
            if number > 0 && number + 1 == self.rounds.len() {
                alive.extend(self.combine(&mut field));
            }
            field.measure(&alive, round.pairs, bench)?;
            if field.unchanged().is_empty() {
                return Err(all_failed(field.first_failure.take()));
            }
        }
        alive.sort_by_key(|arm| Reverse(ordered(self.mean(&field, *arm))));
        let best = self.to_check(&field, &alive);
        let harm = competitor::changes(&mut field, &best, &self.program, bench)?;
        Ok(document::advice(&document::Ended {
            twin: self.twin,
            objective: &self.objective,
            program: &self.program,
            field: &field,
            finalists: &alive,
            checked: &best,
            harm: &harm,
            same: &self.same,
            not_tried: &self.not_tried,
        }))
    }

    /// Of these, best first, those that help and whose harm to others is known or measured. A
    /// remedy that does not change a congestion control does none. Of the others the best one is
    /// measured, and before further pairs the single ones of which they are made: otherwise the
    /// pairs of one remedy would leave no run for itself, and it could not be advised.
    fn to_check(&self, field: &Field<'_>, alive: &[usize]) -> Vec<usize> {
        let helps = |arm: &usize| self.mean(field, *arm) > GAIN;
        let helping: Vec<usize> = alive.iter().copied().filter(helps).collect();
        let has_other_cc = |arm: &usize| competitor::has_other_cc(field, *arm);
        let is_many = |arm: &usize| field.arms[*arm].candidate.remedies.len() > 1;
        let others = helping.iter().copied().filter(has_other_cc);
        let others = with_competitor(others.collect(), is_many);
        let is_checked = |arm: &usize| !has_other_cc(arm) || others.contains(arm);
        helping.into_iter().filter(is_checked).collect()
    }

    /// Takes a candidate as an arm, or among those that need no trial.
    fn take(&mut self, candidate: Candidate) {
        let with = |path: &Path| {
            let mut path = path.clone();
            for remedy in &candidate.remedies {
                path = remedy.apply(&path)?;
            }
            Ok::<_, model::remedy::NotTriable>(path)
        };
        let paths: Result<Vec<Path>, _> = self.members.iter().map(with).collect();
        match paths {
            Err(why) => self.not_tried.push(NotTried {
                name: candidate.name.clone(),
                why: why.text(),
                remedy: candidate.remedies.first().cloned(),
            }),
            Ok(paths) if same(&paths, &self.members) => self.same.push(candidate),
            Ok(paths) if self.arms.iter().any(|arm| same(&arm.paths, &paths)) => {}
            Ok(paths) => self.arms.push(Arm { candidate, paths }),
        }
    }

    fn mean(&self, field: &Field<'_>, arm: usize) -> f64 {
        let worth = Worth::of(&field.pairs(arm), self.objective.goal);
        worth.map_or(f64::NEG_INFINITY, |w| w.mean)
    }

    fn worths(&self, field: &Field<'_>, arms: &[usize]) -> Vec<(usize, f64)> {
        arms.iter()
            .map(|arm| (*arm, self.mean(field, *arm)))
            .collect()
    }

    /// Pairs of single remedies that help, highest expected gain first: the expected effect in each
    /// direction is that of the better one. Otherwise both would be for the direction with the
    /// largest gains, and none for the other.
    fn combine(&self, field: &mut Field<'_>) -> Vec<usize> {
        let single = |arm: &usize| {
            let candidate = &field.arms[*arm].candidate;
            candidate.remedies.len() == 1 && self.mean(field, *arm) > GAIN
        };
        let all = (0..field.arms.len()).filter(single);
        let singles: Vec<(usize, [f64; 2])> = all
            .map(|arm| (arm, self.by_direction(field, arm)))
            .collect();
        let mut pairs = Vec::new();
        for (i, (first, a)) in singles.iter().enumerate() {
            for (second, b) in &singles[i + 1..] {
                let together = a[0].max(b[0]) + a[1].max(b[1]);
                pairs.push((Reverse(ordered(together)), *first, *second));
            }
        }
        pairs.sort_unstable();
        let mut combined: Vec<usize> = Vec::new();
        for (_, first, second) in pairs {
            let Some(arm) = combination(&field.arms[first], &field.arms[second]) else {
                continue;
            };
            if !field
                .arms
                .iter()
                .any(|known| same(&known.paths, &arm.paths))
            {
                combined.push(field.add(arm));
            }
            if combined.len() == COMBINED {
                break;
            }
        }
        combined
    }

    /// Mean worth of an arm down and up.
    fn by_direction(&self, field: &Field<'_>, arm: usize) -> [f64; 2] {
        let pairs = field.pairs(arm);
        let goal = self.objective.goal;
        [Direction::Down, Direction::Up]
            .map(|direction| judge::mean_in(&pairs, goal, direction).unwrap_or(f64::NEG_INFINITY))
    }
}

/// Two remedies together, if both act: neither undoes the other.
fn combination(first: &Arm, second: &Arm) -> Option<Arm> {
    let [a, b] = [first, second].map(|arm| arm.candidate.remedies.first());
    let (a, b) = (a?, b?);
    if a.on == b.on && a.class() == b.class() {
        return None;
    }
    let paths: Result<Vec<Path>, _> = first.paths.iter().map(|p| b.apply(p)).collect();
    let paths = paths
        .ok()
        .filter(|p| *p != first.paths && *p != second.paths)?;
    Some(Arm {
        candidate: Candidate {
            name: text!(
                "{first} + {second}",
                first = first.candidate.name.clone(),
                second = second.candidate.name.clone()
            ),
            origin: Origin::Pair,
            remedies: vec![a.clone(), b.clone()],
        },
        paths,
    })
}

/// Returns true if paths make the same cells.
fn same(a: &[Path], b: &[Path]) -> bool {
    let cell = |path: &Path| path.cell(&model::path::Trial::default()).ok();
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| cell(a) == cell(b))
}

/// Returns the plan measured with and without a change, so that an Advice and its proof are
/// comparable: the plan of the trials, with the congestion control of each host.
pub fn turns(twin: &Twin) -> Plan {
    trial::of_hosts(&twin.path)
}

/// Changes of figures that an Advice states for a remedy, with intervals, from its pairs: outcomes
/// on paths of the twin without it and with it, for the same seed.
pub fn stated(twin: &Twin, pairs: &[[Outcome; 2]]) -> Vec<Change> {
    let pairs = pairs.iter().map(|pair| {
        let [before, after] = pair.each_ref().map(std::slice::from_ref);
        Pair::new(0, &twin.path, [before, after])
    });
    predicted::changes(&pairs.collect::<Vec<_>>(), twin)
}

/// The members with the highest weight; the best path if there are none.
fn members(twin: &Twin) -> Vec<Path> {
    let kept = twin.members.iter().filter(|m| m.weight >= MIN_WEIGHT);
    let kept: Vec<Path> = kept.take(MEMBERS).map(|m| m.path.clone()).collect();
    match kept.is_empty() {
        true => vec![twin.path.clone()],
        false => kept,
    }
}

fn processor_s(plan: &Plan, path: &Path) -> f64 {
    cost::processor_s(plan, &|direction| rate_bps(path, direction))
}

/// Rate of a direction, bit/s, for the cost.
fn rate_bps(path: &Path, direction: Direction) -> f64 {
    let rate = path.underlay.line(direction).rate_bps.as_ref();
    match rate.map(|p| &p.value) {
        Some(Limit::At(rate)) => rate.bps() as f64,
        _ => USUAL_RATE,
    }
}

/// Of arms, best first, those whose harm to a competing flow is measured.
fn with_competitor(mut arms: Vec<usize>, is_many: impl Fn(&usize) -> bool) -> Vec<usize> {
    if let Some(others) = arms.get_mut(1..) {
        others.sort_by_key(is_many);
    }
    arms.truncate(WITH_COMPETITOR);
    arms
}

/// Maximum runs with a competing flow: with and without each arm, in both directions.
fn competitor_runs() -> usize {
    2 * (WITH_COMPETITOR + 1) * competitor::PAIRS
}

/// A number that sorts as `total_cmp`, to a millionth.
fn ordered(worth: f64) -> i64 {
    (worth.clamp(-1e6, 1e6) * 1e6) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bug: on case 4 three pairs of bbr with a shaper were measured beside another flow, and bbr
    /// itself was not: a shaper for 1.8 ms was advised instead.
    #[test]
    fn pairs_of_a_remedy_leave_a_run_with_a_competitor_for_itself() {
        let is_pair = |arm: &usize| *arm >= 10;
        assert_eq!(with_competitor(vec![12, 11, 10, 1, 2], is_pair), [12, 1, 2]);
        assert_eq!(with_competitor(vec![1, 11], is_pair), [1, 11]);
        assert!(with_competitor(Vec::new(), is_pair).is_empty());
    }
}
