//! Time series of a sample in intervals.

use model::run::{FlowResult, Series};

use crate::flow;

/// Goodput of each flow from one time to another, bit/s; `None` if it is not known of all.
pub fn goodputs_bps(flows: &[FlowResult], window_us: [i64; 2]) -> Option<Vec<f64>> {
    let span_us = (window_us[1] - window_us[0]) as f64;
    let goodput = |flow: &FlowResult| {
        let received = flow.received.as_ref()?;
        let bytes = received.increase(flow::arrived(received), window_us)?;
        flow::rate_bps(bytes, span_us)
    };
    flows.iter().map(goodput).collect()
}

/// The mean of some values of a piece; `None` without any.
pub fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    stats::mean(&values.collect::<Vec<_>>())
}

/// Returns the usual interval between samples of a series, µs: the median.
pub fn interval_us(series: &Series) -> Option<f64> {
    let pairs = series.at_us.windows(2);
    let apart: Vec<f64> = pairs.map(|two| (two[1] - two[0]) as f64).collect();
    stats::median(&apart)
}
