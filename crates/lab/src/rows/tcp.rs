//! Rows of bulk TCP.

use model::{
    record::{Flow, Kind, Record},
    row::Row,
};
use sys::tcp_info::TcpInfo;

use super::{Window, at_or_before, of};

pub(super) fn fill(row: &mut Row, flows: &[&Flow], all: &[Record<'_>], window: Window) {
    let mut goodputs = Vec::new();
    let mut rtts = Vec::new();
    let mut windows = Vec::new();
    let mut sums = Sums::default();
    for flow in flows {
        match flow_goodput(flow, all, window) {
            Some(goodput) => goodputs.push(goodput),
            None => row
                .invalid_because
                .push(format!("flow {} never ran", flow.id)),
        }
        let senders = of(all, Kind::TcpSender, flow.id);
        let inside = senders.iter().filter(|r| window.holds(r.at_ns));
        for info in inside.filter_map(|r| TcpInfo::parse(r.payload)) {
            rtts.push(f64::from(info.rtt_us) / 1e3);
            windows.push(f64::from(info.snd_cwnd));
        }
        sums.add(&senders, window);
        if flow.cc_used.is_some() && flow.cc_used != flow.cc_requested {
            row.invalid_because.push(format!(
                "congestion control {} was replaced by {}",
                flow.cc_requested.as_deref().unwrap_or("default"),
                flow.cc_used.as_deref().unwrap_or("unknown")
            ));
        }
    }
    row.cc_requested = flows.first().and_then(|f| f.cc_requested.clone());
    row.cc_used = flows.first().and_then(|f| f.cc_used.clone());
    if !goodputs.is_empty() {
        row.goodput_mbps = Some(goodputs.iter().sum());
        let least = goodputs.iter().copied().fold(f64::INFINITY, f64::min);
        let most = goodputs.iter().copied().fold(0.0, f64::max);
        row.goodput_range_mbps = Some([least, most]);
        row.retransmits = Some(sums.retransmits);
        row.segments = Some(sums.segments);
    }
    row.tcp_rtt_p50_ms = stats::median(&rtts);
    row.cwnd_p50 = stats::median(&windows);
    if sums.busy_us > 0 {
        row.rwnd_limited = Some(sums.rwnd_us as f64 / sums.busy_us as f64);
        row.sndbuf_limited = Some(sums.sndbuf_us as f64 / sums.busy_us as f64);
    }
}

/// Payload that reached the receiver in the window, Mbit/s.
fn flow_goodput(flow: &Flow, all: &[Record<'_>], window: Window) -> Option<f64> {
    let receivers = of(all, Kind::TcpReceiver, flow.id);
    let bytes = |at| {
        at_or_before(&receivers, at)
            .and_then(|r| TcpInfo::parse(r.payload))
            .and_then(|info| info.bytes_received)
    };
    // Before its first sample the flow had received nothing.
    let got = bytes(window.to)?.saturating_sub(bytes(window.from).unwrap_or(0));
    Some(got as f64 * 8.0 / 1e6 / window.seconds())
}

#[derive(Default)]
struct Sums {
    retransmits: u64,
    segments: u64,
    busy_us: u64,
    rwnd_us: u64,
    sndbuf_us: u64,
}

impl Sums {
    fn add(&mut self, senders: &[&Record<'_>], window: Window) {
        let info = |at| at_or_before(senders, at).and_then(|r| TcpInfo::parse(r.payload));
        let Some(end) = info(window.to) else { return };
        let start = info(window.from);
        let since = |pick: &dyn Fn(&TcpInfo) -> u64| {
            pick(&end).saturating_sub(start.as_ref().map_or(0, pick))
        };
        let add = |sum: &mut u64, pick: &dyn Fn(&TcpInfo) -> u64| {
            *sum = sum.saturating_add(since(pick));
        };
        add(&mut self.retransmits, &|i| u64::from(i.total_retrans));
        add(&mut self.segments, &|i| {
            u64::from(i.data_segs_out.unwrap_or(0))
        });
        add(&mut self.busy_us, &|i| i.busy_time_us.unwrap_or(0));
        add(&mut self.rwnd_us, &|i| i.rwnd_limited_us.unwrap_or(0));
        add(&mut self.sndbuf_us, &|i| i.sndbuf_limited_us.unwrap_or(0));
    }
}
