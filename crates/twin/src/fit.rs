//! Fit of a Twin to a Run: moments, search, held-out figures.

use std::time::Duration;

use model::{
    job::{self, Bench, Outcome, Stopped},
    net::{Direction, Layer},
    path::{Path, Source, Trial},
    plan::Plan,
    run::Run,
    twin::{Course, Effort, Twin},
    units::Seed,
};
use stats::Random;

use crate::{
    budget::Budget,
    candidate::Candidate,
    cost,
    course::Shown,
    document,
    ends::{ends, in_lab},
    error::{TwinError, all_failed},
    held_out::champions,
    input::Input,
    moments::Moments,
    plan::plan,
    search::{Finalist, Found, Size, Tried, finalists, first_wave, layers, second_wave},
    statistics::{self, Values},
};

/// Virtual time of a run beyond its steps, after which it counts as hung.
const HUNG: f64 = 8.0;
/// Further seeds of the best path of the first wave.
const REPEATED: usize = 2;
/// Maximum paths tried in both waves: more add little for four parameters.
const MAX: usize = 30;

/// A fit of a Run with enough data.
#[derive(Debug)]
pub struct Fit<'a> {
    input: Input<'a>,
    program: String,
    budget: Duration,
    size: Option<Size>,
    short: Plan,
    full: Plan,
}

impl<'a> Fit<'a> {
    /// The Run, and the size of a search within a budget.
    ///
    /// # Errors
    /// The Run lacks a parameter of the path, has an impossible one, or one that no lab path can
    /// have.
    pub fn prepare(run: &'a Run, budget: Budget, program: &str) -> Result<Self, TwinError> {
        let known = Moments::of(run)?;
        let short = plan(run, &known, &[known.layer], false);
        let full = plan(run, &known, &layers(&known), true);
        let mut values = statistics::of(run, known.layer, known.family);
        if let Some(tunnel) = known.tunnel.filter(|t| t.beside_underlay) {
            values.extend(statistics::of(run, Layer::Tunnel, tunnel.family));
        }
        values.retain(|s, _| s.key.cc.as_ref().is_none_or(|cc| in_lab(cc)));
        values.retain(|s, _| !statistics::is_momentary(s, &known));
        let rate = |direction| known.line(direction).rate_bps.value;
        let each = [&short, &full].map(|plan| cost::processor_s(plan, &rate));
        let budget = budget.of_search(rate(Direction::Down).max(rate(Direction::Up)));
        let fit = Self {
            program: program.to_owned(),
            budget,
            size: size(budget.as_secs_f64() * cost::PROCESSORS, each),
            short,
            full,
            input: Input {
                run,
                shown: Shown::of(run, &known, &values),
                known,
                ends: ends(run),
                values,
            },
        };
        // An impossible path is reported before anything is run.
        let path = fit.input.path_of_moments();
        let cell = path.cell(&Trial::default());
        cell?;
        Ok(fit)
    }

    /// Runs in the lab that the search will make.
    pub fn runs(&self) -> usize {
        self.size
            .map_or(0, |s| s.first + REPEATED + s.second + s.members * s.seeds)
    }

    /// Returns the expected duration of the search, for the reader; `None` where no search was
    /// requested.
    pub fn forecast(&self) -> Option<String> {
        match self.runs() {
            0 if self.budget.is_zero() => None,
            0 => Some(format!(
                "a search of paths like this takes more than {} s on two processors: nothing is run \
                 in the lab; give --budget-time more",
                self.budget.as_secs()
            )),
            runs => Some(format!(
                "{runs} runs in the lab, about {} on two processors; what is known is not run again",
                cost::minutes(self.processor_s())
            )),
        }
    }

    /// Their processor time.
    fn processor_s(&self) -> f64 {
        let Some(size) = self.size else { return 0.0 };
        let rate = |direction| self.input.known.line(direction).rate_bps.value;
        let [short, full] = [&self.short, &self.full].map(|p| cost::processor_s(p, &rate));
        (size.first + REPEATED + size.second) as f64 * short
            + (size.members * size.seeds) as f64 * full
    }

    /// Properties that follow from the Run without a search.
    pub fn moments(&self) -> &Moments {
        &self.input.known
    }

    /// Tries candidates, and derives the Twin from the results.
    ///
    /// # Errors
    /// It was stopped, or no candidate could be measured at all.
    pub fn search(&self, bench: &mut dyn Bench) -> Result<Twin, TwinError> {
        let mut found = Found::default();
        if let Some(size) = self.size {
            self.waves(size, bench, &mut found)?;
        }
        let effort = Effort {
            paths: found.tried.len(),
            runs: found.runs,
            failed: found.failed,
            processor_s: (self.processor_s() * 10.0).round() / 10.0,
        };
        Ok(document::twin(&self.input, &found, effort, &self.program))
    }

    fn waves(&self, size: Size, bench: &mut dyn Bench, found: &mut Found) -> Result<(), TwinError> {
        let mut random = Random::new(seed(&self.input.run.id));
        let wave = first_wave(&self.input.known, size.first, &mut random);
        self.once(&wave, bench, found)?;
        if found.tried.is_empty() {
            return Err(all_failed(found.first_failure.take()));
        }
        self.repeat(bench, found)?;
        let wave = second_wave(
            &self.input.known,
            &found.target(&self.input.values),
            &found.tried,
            size.second,
            &mut random,
        );
        self.once(&wave, bench, found)?;
        self.again(&self.last(size, found), size.seeds, bench, found)
    }

    /// Returns the candidates to measure with several seeds: the best path, those that predict the
    /// figures left out, and the next best ones.
    fn last(&self, size: Size, found: &Found) -> Vec<Candidate> {
        let (known, target) = (&self.input.known, found.target(&self.input.values));
        let best = finalists(known, &target, &found.tried, size.members);
        let champions = champions(known, &target, &found.tried);
        let mut last: Vec<Candidate> = Vec::new();
        let all = best.iter().take(1).chain(&champions).chain(&best);
        for candidate in all {
            if last.len() < size.members && !last.contains(candidate) {
                last.push(*candidate);
            }
        }
        last
    }

    /// Measures the best of the first wave with more seeds: the random variation of each figure
    /// decides the significance of differences between paths.
    fn repeat(&self, bench: &mut dyn Bench, found: &mut Found) -> Result<(), TwinError> {
        let target = found.target(&self.input.values);
        let best = finalists(&self.input.known, &target, &found.tried, 1);
        let Some(candidate) = best.first().copied() else {
            return Ok(());
        };
        let mut jobs = self.jobs(&[candidate], &self.short, 1 + REPEATED)?;
        // For a candidate whose directions were measured together the first seed is known.
        let known = found.tried.iter().find(|t| t.candidate == candidate);
        let mut values = known.map(|t| t.values.clone()).unwrap_or_default();
        jobs.drain(..1);
        let mut parts: Vec<Option<Values>> = vec![None; jobs.len()];
        self.run_all(&jobs, bench, found, &mut |place, run, _| {
            parts[place] = Some(self.values_of(run));
        })?;
        for (statistic, more) in parts.into_iter().flatten().flatten() {
            values.entry(statistic).or_default().extend(more);
        }
        found.repeated.push(values);
        Ok(())
    }

    /// Measures each candidate once, all with the same seed: only the path differs.
    fn once(
        &self,
        wave: &[Candidate],
        bench: &mut dyn Bench,
        found: &mut Found,
    ) -> Result<(), TwinError> {
        let jobs = self.jobs(wave, &self.short, 1)?;
        let mut results: Vec<Option<Values>> = vec![None; jobs.len()];
        self.run_all(&jobs, bench, found, &mut |place, run, _| {
            results[place] = Some(self.values_of(run));
        })?;
        for (candidate, values) in wave.iter().zip(results) {
            let candidate = *candidate;
            found
                .tried
                .extend(values.map(|values| Tried { candidate, values }));
        }
        Ok(())
    }

    /// Measures each candidate with several seeds and the whole plan.
    fn again(
        &self,
        last: &[Candidate],
        seeds: usize,
        bench: &mut dyn Bench,
        found: &mut Found,
    ) -> Result<(), TwinError> {
        let jobs = self.jobs(last, &self.full, seeds)?;
        let mut results: Vec<Vec<(usize, Part)>> = vec![Vec::new(); last.len()];
        self.run_all(&jobs, bench, found, &mut |place, run, name| {
            let part = Part {
                values: self.values_of(run),
                course: self.input.shown.as_ref().and_then(|shown| shown.on(run)),
                name,
            };
            results[place / seeds].push((place, part));
        })?;
        for (candidate, mut parts) in last.iter().zip(results) {
            // In any order of completion.
            parts.sort_by_key(|(place, _)| *place);
            let parts = parts.into_iter().map(|(_, part)| part).collect();
            found.members.extend(finalist(*candidate, parts));
        }
        Ok(())
    }

    fn run_all(
        &self,
        jobs: &[job::Measure],
        bench: &mut dyn Bench,
        found: &mut Found,
        seen: &mut dyn FnMut(usize, &Run, String),
    ) -> Result<(), TwinError> {
        let stopped = bench.measure(jobs, &mut |place, outcome| {
            found.runs += 1;
            match outcome {
                Outcome::Run(run, name) => seen(place, &run, name),
                Outcome::Failed(why) => {
                    found.failed += 1;
                    found.first_failure.get_or_insert(why);
                }
            }
        });
        stopped.map_err(|Stopped| TwinError::Stopped)
    }

    fn values_of(&self, run: &Run) -> Values {
        let mut values = statistics::of(run, self.input.known.layer, self.input.known.family);
        if let Some(tunnel) = self.input.known.tunnel.filter(|t| t.beside_underlay) {
            values.extend(statistics::of(run, Layer::Tunnel, tunnel.family));
        }
        values
    }

    fn jobs(
        &self,
        candidates: &[Candidate],
        plan: &Plan,
        seeds: usize,
    ) -> Result<Vec<job::Measure>, TwinError> {
        let limit_s = cost::virtual_s(plan) * HUNG + 600.0;
        let mut jobs = Vec::new();
        for candidate in candidates {
            for seed in 1..=seeds as u64 {
                let trial = Trial {
                    seed: Seed(seed),
                    ..Trial::default()
                };
                // One name for all, since it is part of the cache key.
                let path = Path {
                    name: "candidate".to_owned(),
                    ..self.input.path(candidate, Source::Fitted)
                };
                let cell = path.cell(&trial)?;
                let limit = Duration::from_secs_f64(limit_s);
                jobs.push(job::Measure::new(cell, plan.clone(), &self.program, limit));
            }
        }
        Ok(jobs)
    }
}

/// Result of one seed of a path.
#[derive(Clone)]
struct Part {
    values: Values,
    course: Option<Course>,
    name: String,
}

/// A path with the results of its seeds; `None` without any figure.
fn finalist(candidate: Candidate, parts: Vec<Part>) -> Option<Finalist> {
    let mut course = None;
    let mut names = Vec::new();
    let mut values = Values::new();
    for part in parts {
        names.push(part.name);
        course = course.or(part.course);
        for (statistic, more) in part.values {
            values.entry(statistic).or_default().extend(more);
        }
    }
    (!values.is_empty()).then_some(Finalist {
        tried: Tried { candidate, values },
        names,
        course,
    })
}

/// Returns the number of paths that this much processor time allows, where one costs `short` in the
/// waves and `full` at the end; `None` if it allows no search.
fn size(allowed_s: f64, [short, full]: [f64; 2]) -> Option<Size> {
    const MIN: usize = 6;
    for (members, seeds) in [(5, 3), (3, 3), (3, 2), (2, 1)] {
        let left = allowed_s - (members * seeds) as f64 * full - REPEATED as f64 * short;
        let paths = (left / short).floor();
        if paths >= MIN as f64 {
            let paths = (paths as usize).min(MAX);
            let first = paths * 3 / 5;
            return Some(Size {
                first,
                second: paths - first,
                members,
                seeds,
            });
        }
    }
    None
}

/// A number of a name (FNV-1a, 64 bits).
fn seed(run: &str) -> u64 {
    run.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_budget_reduces_members_before_paths() {
        let size_of = |allowed| size(allowed, [1.0, 4.0]);
        assert_eq!(size_of(5.0), None);
        assert_eq!(size_of(16.0).map(|s| (s.members, s.seeds)), Some((2, 1)));
        let large = size_of(1e6).map(|s| s.first + s.second);
        assert_eq!(large, Some(MAX));
    }

    #[test]
    fn what_is_bought_is_never_more_than_what_is_allowed() {
        for allowed in [16.0, 22.0, 46.0, 70.0, 300.0] {
            let s = size(allowed, [1.0, 4.0]).unwrap();
            assert!(
                (s.first + REPEATED + s.second) as f64 + 4.0 * (s.members * s.seeds) as f64
                    <= allowed
            );
        }
    }
}
