//! Several connections of a load, taken together. Rates and counts are sums; a share of time is the
//! summed time over the summed base; a round trip or a window is the median over the connections.
//! The order of the connections is irrelevant.

use model::run::FlowResult;

/// The median of the flows that have a value.
pub fn median(flows: &[FlowResult], value: impl Fn(&FlowResult) -> Option<f64>) -> Option<f64> {
    stats::median(&values(flows, value))
}

/// The smallest value of the flows that have one.
pub fn smallest(flows: &[FlowResult], value: impl Fn(&FlowResult) -> Option<f64>) -> Option<f64> {
    values(flows, value).into_iter().reduce(f64::min)
}

/// The sum of a count over the flows; `None` if it is unknown for any of them.
pub fn total(flows: &[FlowResult], count: impl Fn(&FlowResult) -> Option<u64>) -> Option<u64> {
    let counts: Option<Vec<u64>> = flows.iter().map(count).collect();
    counts?.into_iter().reduce(u64::saturating_add)
}

/// Share of the busy time of all flows together in which the receive window limited the sender:
/// Σ `rwnd_limited` / Σ `busy_time` (`tcpi_rwnd_limited`, `tcpi_busy_time`, Linux 4.10,
/// include/uapi/linux/tcp.h). All flows of a load share the time that counts.
pub fn rwnd_limited(flows: &[FlowResult]) -> Option<f64> {
    of_busy(flows, |flow| flow.rwnd_limited)
}

/// Share of the busy time of all flows together in which the send buffer limited the sender:
/// Σ `sndbuf_limited` / Σ `busy_time` (`tcpi_sndbuf_limited`, Linux 4.10).
pub fn sndbuf_limited(flows: &[FlowResult]) -> Option<f64> {
    of_busy(flows, |flow| flow.sndbuf_limited)
}

/// Share of the time in which a flow had something to send or unacknowledged: Σ `busy_time` over
/// flows and time.
pub fn busy(flows: &[FlowResult]) -> Option<f64> {
    stats::mean(&values(flows, |flow| flow.busy))
}

/// Share of the samples at which the application limited the sender
/// (`tcpi_delivery_rate_app_limited`, Linux 4.9). Flows have as many samples each.
pub fn app_limited(flows: &[FlowResult]) -> Option<f64> {
    stats::mean(&values(flows, |flow| flow.app_limited))
}

/// Share of the sent bytes that were retransmitted: the mean of the flows that have a value, each
/// weighing as much as the segments it sent.
pub fn retransmitted(flows: &[FlowResult]) -> Option<f64> {
    weighted(flows, |flow| {
        let weight = flow.segments.unwrap_or(1).max(1) as f64;
        Some((flow.retransmitted?, weight))
    })
}

/// A share of the busy time, with flows weighted by their busy time. A flow with unknown busy time
/// counts as busy all the time.
fn of_busy(flows: &[FlowResult], share: impl Fn(&FlowResult) -> Option<f64>) -> Option<f64> {
    weighted(flows, |flow| Some((share(flow)?, flow.busy.unwrap_or(1.0))))
}

/// The mean of pairs of value and weight.
fn weighted(flows: &[FlowResult], pair: impl Fn(&FlowResult) -> Option<(f64, f64)>) -> Option<f64> {
    let pairs = flows.iter().filter_map(pair);
    let (sum, weights) = pairs.fold((0.0, 0.0), |(sum, weights), (value, weight)| {
        (sum + weight * value, weights + weight)
    });
    (weights > 0.0).then(|| sum / weights)
}

fn values(flows: &[FlowResult], value: impl Fn(&FlowResult) -> Option<f64>) -> Vec<f64> {
    flows.iter().filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(busy: f64, rwnd: f64) -> FlowResult {
        FlowResult {
            busy: Some(busy),
            rwnd_limited: Some(rwnd),
            ..FlowResult::default()
        }
    }

    /// A flow that hardly sends had the same weight as one that is busy all the time.
    #[test]
    fn a_share_of_the_busy_time_is_time_over_time() {
        // 0.1 of a second limited, of 1.1 seconds busy.
        let share = rwnd_limited(&[flow(1.0, 0.0), flow(0.1, 1.0)]);
        assert!((share.unwrap_or(0.0) - 0.1 / 1.1).abs() < 1e-12);
    }

    #[test]
    fn without_flows_nothing_is_known() {
        assert_eq!(rwnd_limited(&[]), None);
        assert_eq!(total(&[], |flow| flow.retransmits), None);
        assert_eq!(median(&[FlowResult::default()], |f| f.rtt_p50_us), None);
    }
}
