//! Rows of a cell from its records: one for each group of flows and direction.

mod queue;
mod tcp;
mod udp;
mod window;

use analysis::{flow, percentile, probes};
use model::{
    cell::{Cell, TrafficKind},
    net::{Direction, Layer},
    record::{Flow, Kind, MemoryCounter, ProbeSample, Record, records},
    row::{ROW_SCHEMA, Row},
    text,
    text::Text,
};

use crate::{LabError, cell::CellResult};
pub(crate) use window::{Window, at_or_before, of};

/// The rows of a cell.
///
/// # Errors
/// The records of the result cannot be read.
pub fn rows(cell: &Cell, result: &CellResult) -> Result<Vec<Row>, LabError> {
    let all = records(&result.records)?.collect::<Result<Vec<_>, _>>()?;
    let truth = records(&result.truth)?.collect::<Result<Vec<_>, _>>()?;
    let mut rows = Vec::new();
    let groups = std::iter::once((None, &cell.traffic))
        .chain(cell.cross.iter().enumerate().map(|(i, t)| (Some(i), t)));
    for (cross, traffic) in groups {
        for &direction in &traffic.directions {
            let flows: Vec<&Flow> = result
                .output
                .flows
                .iter()
                .filter(|f| f.cross == cross && f.direction == direction)
                .collect();
            let mut row = empty(cell, result, direction, cross, flows.len());
            let window = Window::new(cell, traffic);
            match traffic.kind {
                TrafficKind::Tcp => tcp::fill(&mut row, &flows, &all, window),
                TrafficKind::Udp { .. } => udp::fill(&mut row, &flows, &all, window),
                TrafficKind::Short { .. } => short(&mut row, &flows, &all, window),
                TrafficKind::Idle => {}
            }
            if cross.is_none() {
                round_trips(&mut row, cell, result, &all);
                queue::fill(&mut row, result, &truth, window);
            }
            row.invalid_because
                .extend(flows.iter().filter_map(|flow| failed(flow)));
            row.invalid_because.extend(memory_pressure(&result.output));
            row.invalid_because.sort_by_cached_key(Text::to_string);
            row.invalid_because.dedup();
            row.valid = row.invalid_because.is_empty();
            rows.push(row);
        }
    }
    Ok(rows)
}

fn empty(
    cell: &Cell,
    result: &CellResult,
    direction: Direction,
    cross: Option<usize>,
    flows: usize,
) -> Row {
    Row {
        schema: ROW_SCHEMA,
        name: cell.name.clone(),
        factors: cell.factors.clone(),
        seed: cell.seed,
        layer: if cell.tunnel.is_some() {
            Layer::Tunnel
        } else {
            Layer::Underlay
        },
        direction,
        cross,
        flows,
        goodput_mbps: None,
        goodput_range_mbps: None,
        retransmits: None,
        segments: None,
        retransmitted: None,
        cc_requested: None,
        cc_used: None,
        tcp_rtt_p50_ms: None,
        cwnd_p50: None,
        rwnd_limited: None,
        sndbuf_limited: None,
        probe_idle_p50_ms: None,
        probe_n: None,
        probe_p50_ms: None,
        probe_p99_ms: None,
        probe_lost: None,
        queue_p50_ms: None,
        queue_p99_ms: None,
        queue_drops: None,
        queue_marks: None,
        true_loss: None,
        udp_lost: None,
        udp_reordered_n: None,
        udp_duplicates: None,
        udp_jitter_ms: None,
        short_n: None,
        short_p50_ms: None,
        short_p99_ms: None,
        valid: true,
        invalid_because: Vec::new(),
        kernel: result.output.kernel.clone(),
        cpu_s: Some(result.cost.cpu_s),
        virtual_s: result.output.virtual_ns as f64 / 1e9,
        wall_s: Some(result.cost.wall_s),
        cached: Some(result.cached),
        digest: result.digest.clone(),
    }
}

/// The failure of a flow.
fn failed(flow: &Flow) -> Option<Text> {
    let why = flow.error.as_ref()?;
    Some(text!(
        "flow {id} failed: {why}",
        id = u32::from(flow.id),
        why = why.clone()
    ))
}

/// A guest that runs out of memory limits its flows, which shows nothing about the path.
fn memory_pressure(output: &model::record::Output) -> Option<Text> {
    (output.memory(MemoryCounter::Pressure) > 0).then(|| text!("the guest ran short of TCP memory"))
}

/// Round trips of the probes: idle before the load, loaded while measuring.
fn round_trips(row: &mut Row, cell: &Cell, result: &CellResult, all: &[Record<'_>]) {
    let answers: Vec<(i64, f64)> = all
        .iter()
        .filter(|r| r.kind == Kind::Probe)
        .map(|r| (r.at_ns, ProbeSample::read(r.payload).rtt_ns as f64 / 1e6))
        .collect();
    let pick = |holds: &dyn Fn(i64) -> bool| -> Vec<f64> {
        answers
            .iter()
            .filter(|(at, _)| holds(*at))
            .map(|(_, rtt)| *rtt)
            .collect()
    };
    let window = Window::new(cell, &cell.traffic);
    row.probe_idle_p50_ms = stats::median(&pick(&|at| at < 0));
    if cell.traffic.kind == TrafficKind::Idle {
        return;
    }
    let loaded = |at: i64| at >= window.from && at < window.to;
    let rtts = pick(&loaded);
    let sent = result
        .output
        .probes_sent_ns
        .iter()
        .filter(|&&at| loaded(at))
        .count();
    if sent > 0 {
        row.probe_n = Some(rtts.len() as u64);
        row.probe_lost = probes::lost(sent as u64, rtts.len() as u64);
        row.probe_p50_ms = stats::median(&rtts);
        row.probe_p99_ms = percentile::p99(&rtts);
    }
}

fn short(row: &mut Row, flows: &[&Flow], all: &[Record<'_>], window: Window) {
    use model::record::ShortSample;
    let done: Vec<ShortSample> = all
        .iter()
        .filter(|r| r.kind == Kind::Short && flows.iter().any(|f| f.id == r.id))
        .filter(|r| window.holds(r.at_ns))
        .map(|r| ShortSample::read(r.payload))
        .collect();
    let times: Vec<f64> = done.iter().map(|s| s.complete_ns as f64 / 1e6).collect();
    row.cc_requested = flows.first().and_then(|f| f.cc_requested.clone());
    row.short_n = Some(done.len() as u64);
    row.short_p50_ms = stats::median(&times);
    row.short_p99_ms = percentile::p99(&times);
    let bytes = done.iter().fold(0u64, |sum, s| sum.saturating_add(s.bytes));
    row.goodput_mbps = flow::rate_bps(bytes as f64, window.span_us()).map(|bps| bps / 1e6);
}

#[cfg(test)]
mod tests;
