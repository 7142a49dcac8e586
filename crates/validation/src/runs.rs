//! Reduced Runs, to keep many of them.

use model::run::Run;

/// Removes the time series of a run: nearly all of its size, and no part of what explain and
/// compare read.
pub fn without_series(run: &mut Run) {
    for sample in &mut run.samples {
        if let Some(probes) = &mut sample.probes {
            probes.series = None;
        }
        for flow in sample.tcp.iter_mut().flat_map(|tcp| &mut tcp.flows) {
            (flow.series, flow.received) = (None, None);
        }
    }
}
