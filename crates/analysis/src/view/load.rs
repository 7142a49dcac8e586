//! What the repeats of one TCP load say together.

use model::run::{FlowResult, Sample, Tcp};

/// One TCP load: the repeats of the same key as one. Values are medians over the repeats; of several
/// flows, rates are sums and shares are means. What no repeat has is absent.
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
    /// Segments sent again, of all repeats.
    pub retransmits: Option<f64>,
    /// Segments sent, of all repeats.
    pub segments: Option<f64>,
    /// Segments the receivers had twice, of all repeats.
    pub dsack_dups: Option<f64>,
    /// Times a sender saw reordering, of all repeats.
    pub reord_seen: Option<f64>,
    /// Retransmission timeouts, of all repeats.
    pub timeouts: Option<f64>,
    /// Share of the busy time in which the receive window held the sender back.
    pub rwnd_limited: Option<f64>,
    /// Share of the busy time in which the send buffer held it back.
    pub sndbuf_limited: Option<f64>,
    /// Share of the looks at which the application held it back.
    pub app_limited: Option<f64>,
    /// Share of the time with something to send or unacknowledged.
    pub busy: Option<f64>,
    /// Smallest round trip, µs.
    pub min_rtt_us: Option<f64>,
    /// Smoothed round trip, median, µs.
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
}

impl Load {
    /// The repeats of one key; `None` without any.
    pub(super) fn of(cc: &str, flows: u32, samples: &[&Sample]) -> Option<Self> {
        let loads: Vec<&Tcp> = samples.iter().filter_map(|s| s.tcp.as_ref()).collect();
        let goodputs: Vec<f64> = loads.iter().map(|t| t.goodput_bps).collect();
        let sum = |field: fn(&FlowResult) -> Option<u64>| total(&loads, field);
        let mid = |field: fn(&FlowResult) -> Option<f64>| median_of_means(&loads, field);
        let probe = |field: fn(&model::run::Probes) -> Option<f64>| {
            let values: Vec<f64> = samples
                .iter()
                .filter_map(|s| field(s.probes.as_ref()?))
                .collect();
            stats::median(&values)
        };
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
            rwnd_limited: mid(|f| f.rwnd_limited),
            sndbuf_limited: mid(|f| f.sndbuf_limited),
            app_limited: mid(|f| f.app_limited),
            busy: mid(|f| f.busy),
            min_rtt_us: mid(|f| f.min_rtt_us),
            rtt_p50_us: mid(|f| f.rtt_p50_us),
            rtt_p95_us: mid(|f| f.rtt_p95_us),
            cwnd_p50: mid(|f| f.cwnd_p50),
            snd_wnd_p50: mid(|f| f.snd_wnd_p50),
            mss: mid(|f| f.mss.map(f64::from)),
            options: loads.iter().flat_map(|t| &t.flows).find_map(|f| f.options),
            probe_p50_us: probe(|p| p.p50_us),
            probe_p95_us: probe(|p| p.p95_us),
            goodputs,
        })
    }

    /// Share of the segments that were sent again.
    pub fn retransmitted(&self) -> Option<f64> {
        let segments = self.segments.filter(|s| *s > 0.0)?;
        Some(self.retransmits? / segments)
    }

    /// Share of the segments that were sent again for a reason: without those the receiver had twice.
    pub fn loss(&self) -> Option<f64> {
        let segments = self.segments.filter(|s| *s > 0.0)?;
        let spurious = self.dsack_dups.unwrap_or(0.0);
        Some((self.retransmits? - spurious).max(0.0) / segments)
    }

    /// Share of the segments sent again that the receiver had already.
    pub fn spurious_share(&self) -> Option<f64> {
        let again = self.retransmits.filter(|r| *r > 0.0)?;
        Some((self.dsack_dups? / again).min(1.0))
    }

    /// Payload of a segment, bytes; that of an Ethernet path with timestamps if it is not known.
    pub fn mss_bytes(&self) -> f64 {
        self.mss.unwrap_or(1448.0)
    }

    /// Round trip while loaded, µs: that of the sender, else that of the probes.
    pub fn rtt_us(&self) -> Option<f64> {
        self.rtt_p50_us.or(self.probe_p50_us)
    }
}

fn total(loads: &[&Tcp], field: fn(&FlowResult) -> Option<u64>) -> Option<f64> {
    let values: Vec<u64> = loads
        .iter()
        .flat_map(|t| &t.flows)
        .filter_map(field)
        .collect();
    (!values.is_empty()).then(|| values.iter().map(|v| *v as f64).sum())
}

fn median_of_means(loads: &[&Tcp], field: fn(&FlowResult) -> Option<f64>) -> Option<f64> {
    let of = |tcp: &&Tcp| {
        let values: Vec<f64> = tcp.flows.iter().filter_map(field).collect();
        stats::mean(&values)
    };
    let values: Vec<f64> = loads.iter().filter_map(of).collect();
    stats::median(&values)
}
