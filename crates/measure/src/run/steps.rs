//! The steps of a plan, each a file: from a task to its samples.

mod http;
mod idle;
mod pmtu;
mod probes;
mod quic;
mod requests;
mod short;
mod sized;
mod sizes;
mod sweep;
mod tcp;
mod udp;

use model::text::Text;
use model::{
    net::Direction,
    plan::Measurement,
    run::{Invalid, Key, Sample},
};

use super::{
    bench::Bench,
    key::{directions, key},
    schedule::Task,
};
use crate::far::FarError;

/// Runs a task.
pub(crate) fn run(bench: &mut Bench<'_>, task: &Task) -> Result<Vec<Sample>, FarError> {
    match &task.step.measurement {
        Measurement::Idle => idle::run(bench, task),
        Measurement::Tcp { .. } => tcp::run(bench, task),
        Measurement::Udp { .. } => udp::run(bench, task),
        Measurement::UdpSweep { .. } => sweep::run(bench, task),
        Measurement::Pmtu => pmtu::run(bench, task),
        Measurement::Sizes => sizes::run(bench, task),
        Measurement::Short { bytes } => short::run(bench, task, *bytes),
        Measurement::Http { bytes } => http::run(bench, task, *bytes),
        Measurement::Quic { .. } => quic::run(bench, task),
    }
}

/// A sample of a task in which nothing was measured yet.
pub(crate) fn blank(bench: &Bench<'_>, key: Key) -> Sample {
    Sample::new(key, bench.at_us())
}

/// The samples of a task that failed.
pub(crate) fn failed(bench: &Bench<'_>, task: &Task, error: &FarError) -> Vec<Sample> {
    directions(&task.step.measurement)
        .into_iter()
        .map(|direction| {
            let key = key(
                &task.step.measurement,
                &task.layer,
                task.cc.as_deref(),
                direction,
            );
            let mut sample = blank(bench, key);
            let why = Text::plain(error.to_string());
            sample.invalid.push(Invalid::failed(why));
            sample
        })
        .collect()
}

/// The rate at which a task will move bytes, bit/s, if that can be told.
pub(crate) fn expected_bps(bench: &Bench<'_>, task: &Task) -> Option<f64> {
    if let Measurement::Udp { rate_bps, .. } = &task.step.measurement {
        return Some(*rate_bps as f64);
    }
    let data = match &task.step.measurement {
        // The answers are what weighs.
        Measurement::Short { .. } | Measurement::Http { .. } => vec![Some(Direction::Down)],
        what => directions(what),
    };
    data.into_iter()
        .flatten()
        .filter_map(|d| bench.capacity.get(&(task.layer.clone(), d)).copied())
        .reduce(f64::max)
}
