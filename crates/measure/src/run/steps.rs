//! The steps of a plan, each a type in a file of its own.
//!
//! A step's type holds what the plan asks for. It measures by the far end's services of its own
//! ([`crate::far::load`]), gives what both ends saw as a type of its own, and makes the samples of
//! it. So neither another step's parameters nor another step's outcome can get into a sample.

mod idle;
mod loaded;
mod pmtu;
mod probes;
mod quic;
mod requests;
mod sized;
mod sizes;
mod sweep;
pub(crate) mod tcp;
mod udp;

use model::{
    net::Direction,
    plan::{LoadDirection, Measurement},
    run::{Invalid, Key, Sample, StepKind},
    text::Text,
};

use super::{bench::Bench, task::Task};
use crate::far::{Far, FarError};

/// A step of a plan, and its properties that are known without running it.
pub(crate) trait Step {
    /// Its kind in a run.
    fn kind(&self) -> StepKind;

    /// Directions of which it gives a sample each; `None` = one sample without a direction.
    fn directions(&self) -> Vec<Option<Direction>> {
        vec![None]
    }

    /// Adds to the key of its samples what they do not share with other steps of the kind.
    fn distinguish(&self, _key: &mut Key) {}

    /// Its duration where the plan gives it `duration_s`, s.
    fn cost(&self, duration_s: f64) -> Cost;

    /// The direction and the congestion controls that the plan names for it; `None` where it has
    /// none.
    fn congestion(&self) -> Option<(LoadDirection, &[String])> {
        None
    }

    /// The rate at which it will move bytes, bit/s, by what is known of the path's capacity.
    fn rate_bps(&self, capacity: &dyn Fn(Direction) -> Option<f64>) -> Option<f64> {
        let directions = self.directions().into_iter().flatten();
        directions.filter_map(capacity).reduce(f64::max)
    }

    /// Why one of the ends cannot do it at all.
    fn lacks(&self, _far: &Far) -> Option<Text> {
        None
    }
}

/// Time of a step, s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cost {
    /// From its start to its end.
    pub(crate) time_s: f64,
    /// Of that, under full load; twice where both directions are loaded at once.
    pub(crate) loaded_s: f64,
}

/// A step that can be measured.
trait Measure: Step {
    /// Results of both ends.
    type Seen;

    /// Runs it.
    fn measure(&self, bench: &mut Bench<'_>, task: &Task) -> Result<Self::Seen, FarError>;

    /// The samples of what was seen.
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

/// Makes samples in which nothing is measured yet.
struct Blank<'a> {
    step: &'a dyn Step,
    task: &'a Task,
    at_us: u64,
}

impl Blank<'_> {
    fn of(&self, direction: Option<Direction>) -> Sample {
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

/// The type of what a plan asks for.
pub(crate) fn of(measurement: &Measurement) -> Box<dyn AnyStep> {
    match measurement.clone() {
        Measurement::Idle => Box::new(idle::Idle),
        Measurement::UdpSweep {
            direction,
            from_bps,
            to_bps,
        } => Box::new(sweep::Sweep {
            direction,
            from_bps,
            to_bps,
        }),
        Measurement::Udp {
            direction,
            rate_bps,
            payload,
        } => Box::new(udp::Udp {
            direction,
            rate_bps,
            payload,
        }),
        Measurement::Tcp {
            direction,
            flows,
            cc,
            warmup_s,
        } => Box::new(tcp::Tcp {
            direction,
            flows,
            cc,
            warmup_s,
        }),
        Measurement::Pmtu => Box::new(pmtu::Pmtu),
        Measurement::Sizes => Box::new(sizes::Sizes),
        Measurement::Short { bytes } => Box::new(requests::Short { bytes }),
        Measurement::Http { bytes } => Box::new(requests::Http { bytes }),
        Measurement::Quic {
            direction,
            warmup_s,
        } => Box::new(quic::Quic {
            direction,
            warmup_s,
        }),
    }
}
