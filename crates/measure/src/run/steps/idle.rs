//! Latency without load.

use std::time::Duration;

use model::run::{Probes, Sample, StepKind};
use sys::clock::Instant;

use super::{Blank, Cost, Measure, Step, probes};
use crate::{
    far::FarError,
    run::{bench::Bench, bench::Live, task::Task},
};

/// Probes alone.
pub(super) struct Idle;

/// Result of the probes.
pub(super) struct Seen {
    /// Start of the counted time, µs since the run began.
    at_us: u64,
    probes: Option<Probes>,
}

impl Step for Idle {
    fn kind(&self) -> StepKind {
        StepKind::Idle
    }

    fn cost(&self, duration_s: f64) -> Cost {
        Cost {
            time_s: duration_s,
            loaded_s: 0.0,
        }
    }
}

impl Measure for Idle {
    type Seen = Seen;

    fn measure(&self, bench: &mut Bench<'_>, task: &Task) -> Result<Seen, FarError> {
        let probing = probes::start(bench, &task.layer)?;
        let zero = Instant::now();
        let span = Duration::from_secs_f64(task.step.duration_s);
        bench.watch(span, || {
            let (rtt_us, lost) = probing.live();
            Live {
                rtt_us,
                lost,
                ..Live::default()
            }
        })?;
        let probes = probing.finish(bench, zero, [0, span.as_micros() as i64])?;
        if let Some(p50) = probes.as_ref().and_then(|p| p.p50_us) {
            bench.idle_us.insert(task.layer.clone(), p50);
        }
        Ok(Seen {
            at_us: bench.us_at(zero),
            probes,
        })
    }

    fn samples(&self, seen: Seen, blank: &Blank<'_>) -> Vec<Sample> {
        vec![Sample {
            load_at_us: Some(seen.at_us),
            probes: seen.probes,
            ..blank.of(None)
        }]
    }
}
