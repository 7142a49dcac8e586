//! Latency without load.

use std::time::Duration;

use model::run::Sample;
use sys::clock::Instant;

use super::{blank, probes};
use crate::{
    far::FarError,
    run::{bench::Bench, bench::Live, key::key, schedule::Task},
};

pub(crate) fn run(bench: &mut Bench<'_>, task: &Task) -> Result<Vec<Sample>, FarError> {
    let key = key(&task.step.measurement, &task.layer, None, None);
    let mut sample = blank(bench, key);
    let beside = probes::start(bench, &task.layer)?;
    let zero = Instant::now();
    sample.load_at_us = Some(bench.us_at(zero));
    let span = Duration::from_secs_f64(task.step.duration_s);
    bench.watch(span, || {
        let (rtt_us, lost) = beside.live();
        Live {
            rtt_us,
            lost,
            ..Live::default()
        }
    })?;
    let window = [0, span.as_micros() as i64];
    sample.probes = beside.finish(bench, zero, window)?;
    if let Some(p50) = sample.probes.as_ref().and_then(|p| p.p50_us) {
        bench.idle_us.insert(task.layer.clone(), p50);
    }
    Ok(vec![sample])
}
