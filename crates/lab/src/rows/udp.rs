//! Columns of constant-rate UDP.

use analysis::{datagrams, flow::rate_bps};
use model::{
    record::{Flow, Kind, Record, UdpSample},
    row::Row,
    text,
};

use super::{Window, at_or_before, of};

pub(super) fn fill(row: &mut Row, flows: &[&Flow], all: &[Record<'_>], window: Window) {
    let mut bps = 0.0;
    let (mut received, mut sent, mut reordered, mut duplicates) = (0u64, 0u64, 0u64, 0u64);
    let mut jitters = Vec::new();
    let mut any = false;
    for flow in flows {
        let samples = of(all, Kind::Udp, flow.id);
        let end = at_or_before(&samples, window.to);
        let start = at_or_before(&samples, window.from);
        let (Some(end), begun) = (end, start.map(|r| UdpSample::read(r.payload))) else {
            continue;
        };
        let begun = begun.unwrap_or_default();
        let ended = UdpSample::read(end.payload);
        // Rates are over the time between the two samples, not over the window: a sample is
        // written when a batch of datagrams is complete.
        let span_ns = end
            .at_ns
            .saturating_sub(start.map_or(window.from, |r| r.at_ns));
        let bytes = ended.bytes.saturating_sub(begun.bytes);
        if let Some(rate) = rate_bps(bytes as f64, span_ns as f64 / 1e3) {
            any = true;
            bps += rate;
        }
        received = received.saturating_add(ended.received.saturating_sub(begun.received));
        sent = sent.saturating_add(datagrams::decided(begun.highest, ended.highest, None));
        reordered = reordered.saturating_add(ended.reordered.saturating_sub(begun.reordered));
        duplicates = duplicates.saturating_add(ended.duplicates.saturating_sub(begun.duplicates));
        jitters.push(ended.jitter_ns as f64 / 1e6);
    }
    if any {
        row.goodput_mbps = Some(bps / 1e6);
        row.udp_reordered_n = Some(reordered);
        row.udp_duplicates = Some(duplicates);
        row.udp_jitter_ms = datagrams::jitter(&jitters);
        row.udp_lost = datagrams::lost(sent, received);
    } else {
        row.invalid_because.push(text!("no datagram arrived"));
    }
}
