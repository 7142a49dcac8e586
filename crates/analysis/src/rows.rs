//! The flat form of a run: one row for each sample, with the figures as [`crate::figures`] defines
//! them.

use model::run::{FigureKind, Run, Sample, SampleRow};

use crate::{figures::value, flows};

/// One row for each sample.
pub fn rows(run: &Run) -> Vec<SampleRow> {
    run.samples.iter().map(|sample| row(run, sample)).collect()
}

fn row(run: &Run, sample: &Sample) -> SampleRow {
    let tcp = sample.tcp.as_ref();
    let udp = sample.udp.as_ref();
    let flows = tcp.map_or(&[][..], |tcp| &tcp.flows);
    let key = &sample.key;
    let figure = |kind| value(sample, kind);
    let mbps = |bps: f64| bps / 1e6;
    let ms = |us: f64| us / 1e3;
    SampleRow {
        schema: 1,
        run: run.id.clone(),
        plan: run.plan.name.clone(),
        number: sample.number,
        step: key.step,
        layer: key.layer,
        family: key.family,
        direction: key.direction,
        bidirectional: key.bidirectional,
        flows: key.flows,
        block: sample.block,
        at_s: sample.at_us as f64 / 1e6,
        goodput_mbps: figure(FigureKind::Goodput)
            .or(udp.map(|udp| udp.received_bps))
            .map(mbps),
        retransmits: flows::total(flows, |flow| flow.retransmits),
        cc_requested: key.cc.clone(),
        cc_used: tcp.and_then(|tcp| tcp.cc_used.clone()),
        tcp_rtt_p50_ms: figure(FigureKind::TcpRttP50).map(ms),
        probe_p50_ms: figure(FigureKind::RttP50).map(ms),
        probe_p99_ms: figure(FigureKind::RttP99).map(ms),
        probe_lost: figure(FigureKind::ProbeLost),
        rwnd_limited: flows::rwnd_limited(flows),
        sndbuf_limited: flows::sndbuf_limited(flows),
        capacity_mbps: figure(FigureKind::Capacity).map(mbps),
        udp_lost: figure(FigureKind::UdpLost),
        udp_reordered_n: udp.map(|udp| udp.reordered),
        udp_jitter_ms: figure(FigureKind::UdpJitter).map(ms),
        pmtu_bytes: figure(FigureKind::Pmtu).map(|bytes| bytes as u32),
        complete_p50_ms: figure(FigureKind::CompleteP50).map(ms),
        valid: sample.valid,
        invalid_because: sample.invalid.iter().map(ToString::to_string).collect(),
    }
}
