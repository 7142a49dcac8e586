//! TCP loads of a composed Run.

use analysis::models;
use model::{
    net::{Direction, Layer},
    run::{FlowResult, StepKind, Tcp},
};

use super::{
    composer::{Composer, key},
    line::Line,
};

/// Payload of a segment, bytes.
const MSS: f64 = 1448.0;
/// Payload over IP packet.
const SHARE: f64 = MSS / (MSS + 52.0);

/// Limiting factor of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Limit {
    Capacity,
    FlowCap,
    Loss,
    ReceiveWindow,
    SendBuffer,
    Application,
    Processor,
    BlackHole,
}

/// Maximum goodput of a flow, bit/s, and its limit: the smallest of all limits.
fn limit(line: &Line, cc: &str, flows: f64, netstack: bool) -> (f64, Limit) {
    let rtt_s = line.rtt_ms / 1e3;
    let mut limits = vec![(line.rate_mbps * 1e6 * SHARE / flows, Limit::Capacity)];
    let mut limited = |mbps: Option<f64>, each: bool, why| {
        if let Some(mbps) = mbps {
            let by = if each { 1.0 } else { flows };
            limits.push((mbps * 1e6 * SHARE / by, why));
        }
    };
    limited(line.flow_cap_mbps, true, Limit::FlowCap);
    limited(line.cpu_cap_mbps, false, Limit::Processor);
    limited(line.app_cap_mbps, true, Limit::Application);
    for (kb, why) in [
        (line.rwnd_kb, Limit::ReceiveWindow),
        (line.sndbuf_kb, Limit::SendBuffer),
    ] {
        if let Some(kb) = kb {
            limits.push((models::window_bytes_bps(kb * 1e3, rtt_s), why));
        }
    }
    // A policer's drops are loss to a loss-based congestion control, which reaches three quarters.
    if line.buffer_ms == 0.0 && cc != "bbr" {
        limits.push((line.rate_mbps * 0.75e6 * SHARE / flows, Limit::Capacity));
    }
    let loss = line.loss + line.local_loss + 0.5 * line.reorder;
    // Some reordered packets are counted as lost; a userspace stack has its own Reno.
    let cc = if netstack { "reno" } else { cc };
    // Where bursts of packets break, bbr's bursts do not arrive, either.
    if line.local_loss >= 0.05 {
        limits.push((
            3.0 * models::window_bps(models::reno_window(loss), MSS, rtt_s),
            Limit::Loss,
        ));
    }
    if loss > 0.0
        && let Some(bps) = models::loss_based_bps(cc, loss, rtt_s, MSS)
    {
        limits.push((bps, Limit::Loss));
    } else if loss > 0.15 {
        limits.push((0.3e6, Limit::Loss));
    }
    if line.largest.is_some_and(|l| l < 1420) {
        limits.push((0.01e6, Limit::BlackHole));
    }
    limits
        .into_iter()
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .unwrap_or((0.0, Limit::Capacity))
}

impl Composer<'_> {
    pub(super) fn tcp(&mut self, layer: Layer, direction: Direction, cc: &str, flows: u32) {
        let line = self.line(layer, direction);
        let n = f64::from(flows);
        let seconds = self.scene.measured.seconds;
        let netstack =
            layer == Layer::Tunnel && self.scene.tunnel.as_ref().is_some_and(|t| t.netstack());
        let (each, why) = limit(&line, cc, n, netstack);
        let fills = why == Limit::Capacity && line.buffer_ms > 0.0;
        let queue_us = match (fills, cc) {
            (true, "bbr") => (0.1 * line.buffer_ms).min(0.25 * line.rtt_ms) * 1e3,
            (true, _) => 0.75 * line.buffer_ms * 1e3,
            _ => 0.0,
        };
        let noise = if why == Limit::Loss { 0.12 } else { 0.02 };
        let mut results = Vec::new();
        for _ in 0..flows {
            let goodput = self.about(each, noise);
            results.push(self.flow(&line, goodput, why, queue_us, cc));
        }
        let goodput_bps = results.iter().map(|f| f.goodput_bps).sum();
        let again: u64 = results.iter().filter_map(|f| f.retransmits).sum();
        let lost = again as f64 * f64::from(line.local_loss > 0.0);
        let [near, far] = self.busy(self.counted(lost));
        let probes = self.probes(
            line.rtt_ms * 1e3 + queue_us,
            line.jitter_ms * 1e3,
            seconds * 100.0,
        );
        let mut key = key(StepKind::Tcp, layer, Some(direction));
        key.flows = Some(flows);
        key.cc = Some(cc.to_owned());
        self.push(key, seconds, |s| {
            s.tcp = Some(Tcp {
                cc_used: Some(cc.to_owned()),
                window_us: [1_000_000, (seconds * 1e6) as i64],
                goodput_bps,
                bytes: (goodput_bps * seconds / 8.0) as u64,
                flows: results,
            });
            s.probes = Some(probes);
            s.near = near;
            s.far = far;
        });
    }

    fn flow(
        &mut self,
        line: &Line,
        goodput: f64,
        why: Limit,
        queue_us: f64,
        cc: &str,
    ) -> FlowResult {
        let seconds = self.scene.measured.seconds;
        let segments = (goodput * seconds / 8.0 / MSS).max(1.0);
        let own = match why {
            // Occasional overflow of the buffer.
            Limit::Capacity if line.buffer_ms > 0.0 && cc != "bbr" => 3.0 / segments,
            Limit::Capacity if line.buffer_ms == 0.0 => {
                if cc == "bbr" {
                    0.08
                } else {
                    0.004
                }
            }
            Limit::BlackHole => 0.5,
            _ => 0.0,
        };
        let again = (segments * (line.loss + line.local_loss + line.reorder + own)).round();
        let rtt_us = self.about(line.rtt_ms * 1e3 + queue_us, 0.005);
        let cwnd = match why {
            Limit::BlackHole => 1.0,
            _ => (goodput * rtt_us / 1e6 / 8.0 / MSS).max(2.0),
        };
        let held = |is: bool| Some(if is { 0.9 } else { 0.0 });
        FlowResult {
            goodput_bps: goodput,
            retransmits: Some(again as u64),
            retransmitted: Some(again / segments),
            segments: Some(segments as u64),
            dsack_dups: Some((segments * line.reorder * 0.9) as u64),
            reord_seen: Some((segments * line.reorder) as u64),
            timeouts: Some(if why == Limit::BlackHole { 4 } else { 0 }),
            rwnd_limited: held(why == Limit::ReceiveWindow),
            sndbuf_limited: held(why == Limit::SendBuffer),
            busy: Some(if why == Limit::Application { 0.3 } else { 1.0 }),
            app_limited: held(why == Limit::Application),
            min_rtt_us: Some(line.rtt_ms * 1e3 - line.jitter_ms * 1e3),
            rtt_p50_us: Some(rtt_us),
            rtt_p95_us: Some(rtt_us + line.jitter_ms * 1e3),
            cwnd_p50: Some(cwnd),
            snd_wnd_p50: Some(line.rwnd_kb.map_or(6e6, |kb| kb * 1e3)),
            delivery_rate_p50_bps: Some(goodput * 1.02),
            mss: Some(MSS as u32),
            options: Some(7),
            ..FlowResult::default()
        }
    }
}
