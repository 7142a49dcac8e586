//! Lines of a scene.

use serde::Deserialize;

/// One direction of a [`Scene`](super::Scene).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Line {
    /// Rate of the line, Mbit/s.
    pub rate_mbps: f64,
    /// Idle RTT, ms.
    pub rtt_ms: f64,
    /// Delay of the full buffer at the bottleneck, ms; 0 = a policer.
    pub buffer_ms: f64,
    /// Random loss, a share.
    pub loss: f64,
    /// Jitter, ms from the median to the 95th percentile.
    pub jitter_ms: f64,
    /// Share of reordered packets.
    pub reorder: f64,
    /// Receive window, kB.
    pub rwnd_kb: Option<f64>,
    /// Send buffer, kB.
    pub sndbuf_kb: Option<f64>,
    /// Limit per flow, Mbit/s.
    pub flow_cap_mbps: Option<f64>,
    /// Limit of UDP, Mbit/s.
    pub udp_cap_mbps: Option<f64>,
    /// Limit of a processor for all traffic, Mbit/s.
    pub cpu_cap_mbps: Option<f64>,
    /// Limit of the sending program, Mbit/s.
    pub app_cap_mbps: Option<f64>,
    /// Loss of TCP's packets in the hosts, as a share.
    pub local_loss: f64,
    /// Path MTU, bytes.
    pub largest: Option<u32>,
}

impl Default for Line {
    fn default() -> Self {
        Self {
            rate_mbps: 100.0,
            rtt_ms: 20.0,
            buffer_ms: 20.0,
            loss: 0.0,
            jitter_ms: 0.1,
            reorder: 0.0,
            rwnd_kb: None,
            sndbuf_kb: None,
            flow_cap_mbps: None,
            udp_cap_mbps: None,
            cpu_cap_mbps: None,
            app_cap_mbps: None,
            local_loss: 0.0,
            largest: None,
        }
    }
}
