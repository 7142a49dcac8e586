//! Reduced Runs, to store many of them.

use model::run::{Run, Sample, StepKind};

/// Removes the time series of a run: nearly all of its size, and unused by explain and compare,
/// except the idle round trips, whose slow variation shows a queue that others fill.
pub fn without_series(run: &mut Run) {
    run.samples.iter_mut().for_each(reduce);
}

fn reduce(sample: &mut Sample) {
    if let Some(probes) = &mut sample.probes
        && sample.key.step != StepKind::Idle
    {
        probes.series = None;
    }
    for flow in sample.tcp.iter_mut().flat_map(|tcp| &mut tcp.flows) {
        (flow.series, flow.received) = (None, None);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use model::run::{Probes, Series};
    use serde_json::json;

    fn is_kept(step: &str) -> bool {
        let probes = Probes {
            series: Some(Series::default()),
            ..Probes::default()
        };
        let key = json!({"step": step, "layer": "underlay", "family": "v4"});
        let mut sample: Sample = serde_json::from_value(json!({
            "number": 0, "key": key, "block": 0, "at_us": 0, "took_us": 1, "valid": true,
            "probes": probes,
        }))
        .unwrap();
        reduce(&mut sample);
        sample.probes.unwrap().series.is_some()
    }

    /// Bug: paths with neighbours were judged worse from stored Runs than from the measured ones.
    #[test]
    fn a_kept_run_still_shows_a_queue_that_others_fill() {
        assert!(is_kept("idle"));
        assert!(!is_kept("tcp"));
    }
}
