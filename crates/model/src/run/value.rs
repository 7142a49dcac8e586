//! The figures that one sample gives.

use super::{FlowResult, Sample};
use crate::evidence::Evidence;

impl Sample {
    /// What this sample says of a kind of figure (a name of [`super::FIGURES`]); `None` if it says
    /// nothing of it. Whether the sample counts is not asked.
    pub fn value(&self, kind: &str) -> Option<f64> {
        let flows = || self.tcp.as_ref().map(|tcp| tcp.flows.as_slice());
        match kind {
            "goodput_bps" => self.tcp.as_ref().map(|tcp| tcp.goodput_bps),
            "capacity_bps" => self.capacity_bps,
            "udp_lost" => Some(self.udp?.lost),
            "udp_reordered" => self.udp_share(|udp| udp.reordered),
            "udp_jitter_us" => self.udp?.jitter_us,
            "retransmitted" => weighted(flows()?, |flow| flow.retransmitted),
            "rtt_p50_us" => self.probes.as_ref()?.p50_us,
            "rtt_p95_us" => self.probes.as_ref()?.p95_us,
            "rtt_p99_us" => self.probes.as_ref()?.p99_us,
            "probe_lost" => self
                .probes
                .as_ref()
                .filter(|probes| probes.sent > 0)
                .map(|probes| probes.lost),
            "tcp_rtt_p50_us" => weighted(flows()?, |flow| flow.rtt_p50_us),
            "complete_p50_us" => self.short.as_ref()?.complete_p50_us,
            "complete_p95_us" => self.short.as_ref()?.complete_p95_us,
            "pmtu_bytes" => self.pmtu_bytes(),
            "near_cpu_s_per_gb" => self.cpu_s_per_gb(self.near.as_ref()),
            "far_cpu_s_per_gb" => self.cpu_s_per_gb(self.far.as_ref()),
            _ => None,
        }
    }

    fn udp_share(&self, count: impl Fn(&super::Udp) -> u64) -> Option<f64> {
        let udp = self.udp.as_ref().filter(|udp| udp.received > 0)?;
        Some(count(udp) as f64 / udp.received as f64)
    }

    /// The smaller of the two directions.
    fn pmtu_bytes(&self) -> Option<f64> {
        let pmtu = self.pmtu.as_ref()?;
        pmtu.up
            .zip(pmtu.down)
            .map(|(up, down)| f64::from(up.min(down)))
    }

    /// Payload that arrived in the whole sample.
    fn bytes(&self) -> Option<u64> {
        let udp = || self.udp.map(|udp| udp.received * u64::from(udp.payload));
        self.tcp.as_ref().map(|tcp| tcp.bytes).or_else(udp)
    }

    /// Busy time of all processors of a host for each 10⁹ bytes that arrived. What else the host did
    /// is in it.
    fn cpu_s_per_gb(&self, evidence: Option<&Evidence>) -> Option<f64> {
        let evidence = evidence?;
        let cores = &evidence
            .cpu
            .as_ref()
            .filter(|cpu| !cpu.cores.is_empty())?
            .cores;
        let busy: f64 = cores.iter().map(|c| 1.0 - c.idle).sum();
        let bytes = self.bytes().filter(|&bytes| bytes > 0)?;
        Some(busy * evidence.interval_us as f64 / 1e6 / (bytes as f64 / 1e9))
    }
}

/// The mean over the flows that have a value, each weighing as much as the segments it sent.
fn weighted(flows: &[FlowResult], value: impl Fn(&FlowResult) -> Option<f64>) -> Option<f64> {
    let mut sum = 0.0;
    let mut weights = 0.0;
    for flow in flows {
        if let Some(value) = value(flow) {
            let weight = flow.segments.unwrap_or(1).max(1) as f64;
            sum += weight * value;
            weights += weight;
        }
    }
    (weights > 0.0).then(|| sum / weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        evidence::{CoreShares, CpuUse},
        net::{IpVersion, Layer},
        run::{FIGURES, Key, Probes, StepKind, Tcp},
    };

    fn sample() -> Sample {
        let key = Key {
            step: StepKind::Tcp,
            layer: Layer::Underlay,
            family: IpVersion::V4,
            direction: None,
            opposed: false,
            flows: Some(2),
            cc: None,
            rate_bps: None,
            bytes: None,
        };
        Sample::new(key, 0)
    }

    fn flow(segments: u64, retransmitted: f64) -> FlowResult {
        FlowResult {
            segments: Some(segments),
            retransmitted: Some(retransmitted),
            ..FlowResult::default()
        }
    }

    #[test]
    fn a_sample_without_a_load_has_no_figures() {
        for kind in FIGURES {
            assert_eq!(sample().value(kind.name), None, "{}", kind.name);
        }
    }

    #[test]
    fn flows_weigh_what_they_sent() {
        let mut sample = sample();
        sample.tcp = Some(Tcp {
            goodput_bps: 8e6,
            flows: vec![flow(300, 0.0), flow(100, 0.04)],
            ..Tcp::default()
        });
        assert_eq!(sample.value("goodput_bps"), Some(8e6));
        assert!((sample.value("retransmitted").unwrap() - 0.01).abs() < 1e-12);
        assert_eq!(sample.value("tcp_rtt_p50_us"), None);
    }

    #[test]
    fn two_busy_processors_for_a_second_cost_two_seconds() {
        let mut sample = sample();
        sample.tcp = Some(Tcp {
            bytes: 500_000_000,
            ..Tcp::default()
        });
        sample.near = Some(Evidence {
            interval_us: 1_000_000,
            cpu: Some(CpuUse {
                cores: vec![CoreShares::default(); 2],
                threads: Vec::new(),
            }),
            ..Evidence::default()
        });
        assert_eq!(sample.value("near_cpu_s_per_gb"), Some(4.0));
        assert_eq!(sample.value("far_cpu_s_per_gb"), None);
    }

    #[test]
    fn probes_that_were_never_sent_lose_nothing() {
        let mut sample = sample();
        sample.probes = Some(Probes::default());
        assert_eq!(sample.value("probe_lost"), None);
    }
}
