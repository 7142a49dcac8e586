//! Interface of all steps: kind and cost, the measurement, and its samples.

use model::{
    net::Direction,
    plan::LoadDirection,
    run::{Invalid, Key, Sample, StepKind},
    text::Text,
};

use crate::{
    far::{Far, FarError},
    run::{bench::Bench, task::Task},
};

/// A step of a plan, and its properties that are known without running it.
pub(crate) trait Step {
    /// Its kind in a run.
    fn kind(&self) -> StepKind;

    /// Directions with one sample each; `None` = one sample without a direction.
    fn directions(&self) -> Vec<Option<Direction>> {
        vec![None]
    }

    /// Adds to the key of its samples the fields that it does not share with other steps of the
    /// kind.
    fn distinguish(&self, _key: &mut Key) {}

    /// Its duration if the plan gives it `duration_s`, s.
    fn cost(&self, duration_s: f64) -> Cost;

    /// The direction and the congestion controls that the plan names for it; `None` for steps
    /// without them.
    fn congestion(&self) -> Option<(LoadDirection, &[String])> {
        None
    }

    /// The rate at which it will move bytes, bit/s, from the known capacity of the path.
    fn rate_bps(&self, capacity: &dyn Fn(Direction) -> Option<f64>) -> Option<f64> {
        let directions = self.directions().into_iter().flatten();
        directions.filter_map(capacity).reduce(f64::max)
    }

    /// Returns why one of the ends cannot run it.
    fn lacks(&self, _far: &Far) -> Option<Text> {
        None
    }
}

/// Time of a step, s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cost {
    /// From its start to its end.
    pub(crate) time_s: f64,
    /// Part of it under full load; doubled if both directions are loaded at once.
    pub(crate) loaded_s: f64,
}

/// A step that can be measured.
pub(super) trait Measure: Step {
    /// Results of both ends.
    type Seen;

    /// Runs it.
    fn measure(&self, bench: &mut Bench<'_>, task: &Task) -> Result<Self::Seen, FarError>;

    /// The samples of the results.
    fn samples(&self, seen: Self::Seen, blank: &Blank<'_>) -> Vec<Sample>;
}

/// A step of any type.
pub(crate) trait AnyStep: Step {
    /// Runs it; its samples.
    ///
    /// # Errors
    /// An end could not do its part, or the session failed.
    fn run(&self, bench: &mut Bench<'_>, task: &Task) -> Result<Vec<Sample>, FarError>;

    /// The keys of its samples.
    fn keys(&self, task: &Task) -> Vec<Key>;

    /// Its samples where it failed.
    fn failed(&self, bench: &Bench<'_>, task: &Task, error: &FarError) -> Vec<Sample>;
}

impl<S: Measure> AnyStep for S {
    fn run(&self, bench: &mut Bench<'_>, task: &Task) -> Result<Vec<Sample>, FarError> {
        let at_us = bench.at_us();
        let seen = self.measure(bench, task)?;
        let blank = Blank {
            step: self,
            task,
            at_us,
        };
        Ok(self.samples(seen, &blank))
    }

    fn keys(&self, task: &Task) -> Vec<Key> {
        let key = |direction| key(self, task, direction);
        self.directions().into_iter().map(key).collect()
    }

    fn failed(&self, bench: &Bench<'_>, task: &Task, error: &FarError) -> Vec<Sample> {
        let blank = Blank {
            step: self,
            task,
            at_us: bench.at_us(),
        };
        let sample = |direction| {
            let mut sample = blank.of(direction);
            sample.invalid.push(Invalid::failed(error.text()));
            sample
        };
        self.directions().into_iter().map(sample).collect()
    }
}

/// Creates samples without results.
pub(super) struct Blank<'a> {
    step: &'a dyn Step,
    task: &'a Task,
    at_us: u64,
}

impl Blank<'_> {
    pub(super) fn of(&self, direction: Option<Direction>) -> Sample {
        Sample::new(key(self.step, self.task, direction), self.at_us)
    }
}

fn key(step: &dyn Step, task: &Task, direction: Option<Direction>) -> Key {
    let mut key = Key {
        direction,
        ..task.key(step.kind())
    };
    step.distinguish(&mut key);
    key
}
