//! The repeats of one TCP load, combined.

use model::run::{FigureKind, FlowResult, Sample, Tcp};

use crate::{flow, flows, models, summary};

/// One TCP load: all repeats of a key combined. Values are medians over the repeats of the values
/// of [`crate::flows`]; counts are sums over all repeats. Quantities that no repeat has are absent.
#[derive(Clone, Debug, Default)]
pub struct Load {
    /// Congestion control that was used.
    pub cc: String,
    /// Connections at once.
    pub flows: u32,
    /// Numbers of the samples.
    pub samples: Vec<u32>,
    /// Time that counts, s after the load started: from, to.
    pub window_s: [f64; 2],
    /// Payload that arrived, bit/s.
    pub goodput_bps: f64,
    /// The same of each repeat.
    pub goodputs: Vec<f64>,
    /// Segments retransmitted, of all repeats.
    pub retransmits: Option<f64>,
    /// Segments sent, of all repeats.
    pub segments: Option<f64>,
    /// Segments that the receivers got twice, in all repeats.
    pub dsack_dups: Option<f64>,
    /// Times a sender saw reordering, of all repeats.
    pub reord_seen: Option<f64>,
    /// Retransmission timeouts, of all repeats.
    pub timeouts: Option<f64>,
    /// Share of the busy time in which the receive window limited the senders.
    pub rwnd_limited: Option<f64>,
    /// Share of the busy time in which the send buffer limited them.
    pub sndbuf_limited: Option<f64>,
    /// Share of the samples at which the application limited them.
    pub app_limited: Option<f64>,
    /// Share of the time with something to send or unacknowledged.
    pub busy: Option<f64>,
    /// Smallest round trip of any flow of any repeat, µs.
    pub min_rtt_us: Option<f64>,
    /// Smoothed round trip, µs: the figure `tcp_rtt_p50_us`.
    pub rtt_p50_us: Option<f64>,
    /// Smoothed round trip, 95th percentile, µs.
    pub rtt_p95_us: Option<f64>,
    /// Congestion window, segments.
    pub cwnd_p50: Option<f64>,
    /// Window the receiver offers, bytes.
    pub snd_wnd_p50: Option<f64>,
    /// Longest segment, bytes.
    pub mss: Option<f64>,
    /// Options, the kernel's set.
    pub options: Option<u32>,
    /// Round trip of the probes beside it, median, µs.
    pub probe_p50_us: Option<f64>,
    /// Round trip of the probes beside it, 95th percentile, µs.
    pub probe_p95_us: Option<f64>,
    /// Round trip of the probes beside it, 99th percentile, µs.
    pub probe_p99_us: Option<f64>,
}

impl Load {
    /// The repeats of one key; `None` without any.
    pub(super) fn of(cc: &str, flows: u32, samples: &[&Sample]) -> Option<Self> {
        let loads: Vec<&Tcp> = samples.iter().filter_map(|s| s.tcp.as_ref()).collect();
        let goodputs: Vec<f64> = loads.iter().map(|t| t.goodput_bps).collect();
        let over = |of: &dyn Fn(&[FlowResult]) -> Option<f64>| -> Vec<f64> {
            loads.iter().filter_map(|tcp| of(&tcp.flows)).collect()
        };
        let mid = |of: fn(&[FlowResult]) -> Option<f64>| stats::median(&over(&of));
        let median = |field: fn(&FlowResult) -> Option<f64>| {
            stats::median(&over(&|flows| flows::median(flows, field)))
        };
        let sum = |field: fn(&FlowResult) -> Option<u64>| {
            let totals = over(&|flows| flows::total(flows, field).map(|n| n as f64));
            (!totals.is_empty()).then(|| totals.iter().sum())
        };
        let smallest = over(&|flows| flows::smallest(flows, |f| f.min_rtt_us));
        let figure = |kind| summary::median(samples, kind);
        Some(Self {
            cc: cc.to_owned(),
            flows,
            samples: samples.iter().map(|s| s.number).collect(),
            window_s: loads
                .first()
                .map_or([0.0; 2], |t| t.window_us.map(|us| us as f64 / 1e6)),
            goodput_bps: stats::median(&goodputs)?,
            retransmits: sum(|f| f.retransmits),
            segments: sum(|f| f.segments),
            dsack_dups: sum(|f| f.dsack_dups),
            reord_seen: sum(|f| f.reord_seen),
            timeouts: sum(|f| f.timeouts),
            rwnd_limited: mid(flows::rwnd_limited),
            sndbuf_limited: mid(flows::sndbuf_limited),
            app_limited: mid(flows::app_limited),
            busy: mid(flows::busy),
            min_rtt_us: smallest.into_iter().reduce(f64::min),
            rtt_p50_us: figure(FigureKind::TcpRttP50),
            rtt_p95_us: median(|f| f.rtt_p95_us),
            cwnd_p50: median(|f| f.cwnd_p50),
            snd_wnd_p50: median(|f| f.snd_wnd_p50),
            mss: median(|f| f.mss.map(f64::from)),
            options: loads.iter().flat_map(|t| &t.flows).find_map(|f| f.options),
            probe_p50_us: figure(FigureKind::RttP50),
            probe_p95_us: figure(FigureKind::RttP95),
            probe_p99_us: figure(FigureKind::RttP99),
            goodputs,
        })
    }

    /// Share of the segments that were retransmitted ([`flow::retransmitted_segments`]).
    pub fn retransmitted_segments(&self) -> Option<f64> {
        flow::retransmitted_segments(self.retransmits?, self.segments?)
    }

    /// Share of the segments that were lost: retransmitted ones, without those the receiver got
    /// twice (DSACK, RFC 2883; `tcpi_dsack_dups`, Linux 4.19).
    pub fn loss(&self) -> Option<f64> {
        let segments = self.segments.filter(|s| *s > 0.0)?;
        let spurious = self.dsack_dups.unwrap_or(0.0);
        Some((self.retransmits? - spurious).max(0.0) / segments)
    }

    /// Share of the retransmitted segments that the receiver had already.
    pub fn spurious_share(&self) -> Option<f64> {
        let again = self.retransmits.filter(|r| *r > 0.0)?;
        Some((self.dsack_dups? / again).min(1.0))
    }

    /// The 95 % interval of that share (Wilson's score interval): of one retransmission it is wide.
    pub fn spurious_interval(&self) -> Option<(f64, f64)> {
        let again = self.retransmits.filter(|r| *r > 0.0)?;
        let spurious = self.dsack_dups?.min(again);
        let interval = stats::wilson(spurious.round() as u64, again.round() as u64)?;
        Some((interval.low, interval.high))
    }

    /// The 95 % interval of the goodput, bit/s, as that of the figure ([`summary::interval`]).
    pub fn goodput_interval_bps(&self) -> Option<(f64, f64)> {
        let interval = summary::interval(&self.goodputs)?;
        Some((interval.low, interval.high))
    }

    /// Payload of a segment, bytes; that of an Ethernet path with timestamps if it is not known.
    pub fn mss_bytes(&self) -> f64 {
        self.mss.unwrap_or(models::ETHERNET_MSS)
    }

    /// Round trip while loaded, µs: that of the sender, else that of the probes.
    pub fn rtt_us(&self) -> Option<f64> {
        self.rtt_p50_us.or(self.probe_p50_us)
    }
}
