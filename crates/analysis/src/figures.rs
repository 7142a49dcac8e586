//! Figures of one sample, each defined here and nowhere else.

use model::{
    evidence::Evidence,
    run::{FigureKind, Sample},
};

use crate::{datagrams, flows};

/// The figure of a kind of a sample; `None` if the sample does not have it. The validity of the
/// sample is not checked.
pub fn value(sample: &Sample, kind: FigureKind) -> Option<f64> {
    let tcp = || sample.tcp.as_ref();
    let probes = || sample.probes.as_ref();
    let short = || sample.short.as_ref();
    match kind {
        FigureKind::Goodput => Some(tcp()?.goodput_bps),
        FigureKind::Capacity => sample.capacity_bps,
        FigureKind::UdpLost => Some(sample.udp?.lost),
        FigureKind::UdpReordered => {
            let udp = sample.udp?;
            datagrams::reordered(udp.reordered, udp.received)
        }
        FigureKind::UdpJitter => sample.udp?.jitter_us,
        FigureKind::Retransmitted => flows::retransmitted(&tcp()?.flows),
        FigureKind::RttP50 => probes()?.p50_us,
        FigureKind::RttP95 => probes()?.p95_us,
        FigureKind::RttP99 => probes()?.p99_us,
        FigureKind::ProbeLost => Some(probes().filter(|p| p.sent > 0)?.lost),
        FigureKind::TcpRttP50 => flows::median(&tcp()?.flows, |flow| flow.rtt_p50_us),
        FigureKind::CompleteP50 => short()?.complete_p50_us,
        FigureKind::CompleteP95 => short()?.complete_p95_us,
        FigureKind::Pmtu => pmtu_bytes(sample),
        FigureKind::NearCpu => cpu_s_per_gb(sample, sample.near.as_ref()),
        FigureKind::FarCpu => cpu_s_per_gb(sample, sample.far.as_ref()),
    }
}

/// Added delay, µs: a round trip under load above the base round trip of the path without own load,
/// [`crate::view::View::base_us`]; at least 0.
pub fn added_us(loaded_us: f64, base_us: f64) -> f64 {
    (loaded_us - base_us).max(0.0)
}

/// Definition of a figure, with its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The computation, in a sentence.
    pub text: &'static str,
    /// The kernel's field, the RFC or the program's own measurement.
    pub source: &'static str,
}

/// Definition of the quantity that [`value`] computes. Over several samples of a key a figure is
/// the median, with the interval of [`crate::summary`].
pub const fn definition(kind: FigureKind) -> Definition {
    let (text, source) = match kind {
        FigureKind::Goodput => (
            "Σ over the flows of the growth of `bytes_received` in the time that counts, over that time; of TCP at \
             most what the growth of `data_segs_in` holds",
            "`tcpi_bytes_received`, Linux 4.1, include/uapi/linux/tcp.h: bytes in order, RFC 4898 \
             tcpEStatsAppHCThruOctetsReceived; where the receiver's kernel lacks it, what its program read",
        ),
        FigureKind::Capacity => (
            "rate at which UDP arrives when more is offered than the path carries, over the share that \
             arrives when less is offered, plus the probes' rate; as IP packets",
            "measure/src/run/steps/sweep.rs; a method of RFC 9097 section 8 is close to it. The quantity is \
             the IP-type-P Path Capacity of RFC 5136 section 2.3.3, less what others use of it",
        ),
        FigureKind::UdpLost => (
            "datagrams sent and not arrived, over those sent; while a load lasts (rows of the lab) of those up \
             to the highest number that has arrived",
            "`datagrams::decided`: counts of both ends; the one-way loss ratio of RFC 7680",
        ),
        FigureKind::UdpReordered => (
            "datagrams that arrived after one with a higher number, over those that arrived, duplicates not \
             counted",
            "the reordered packet and the ratio of RFC 4737 sections 3.3 and 4.1",
        ),
        FigureKind::UdpJitter => (
            "the estimate J at the end of the load",
            "RFC 3550 section 6.4.1",
        ),
        FigureKind::Retransmitted => (
            "growth of `bytes_retrans` over that of `bytes_sent`; of several flows the mean, each \
             weighing as much as the segments it sent; of QUIC bytes declared lost over bytes sent",
            "`tcpi_bytes_retrans`, `tcpi_bytes_sent`, Linux 4.19, include/uapi/linux/tcp.h",
        ),
        FigureKind::RttP50 => (
            "median of the answered probes beside the load",
            "the round-trip delay of RFC 2681, by kernel timestamps of both ends where they have them \
             (SO_TIMESTAMPING)",
        ),
        FigureKind::RttP95 => (
            "95th percentile of the answered probes; absent below 20",
            "as `rtt_p50_us`",
        ),
        FigureKind::RttP99 => (
            "99th percentile of the answered probes; absent below 100",
            "as `rtt_p50_us`",
        ),
        FigureKind::ProbeLost => (
            "probes without an answer, over those sent",
            "counts of the near end; the round-trip loss of RFC 6673",
        ),
        FigureKind::TcpRttP50 => (
            "median over the samples of `rtt_us` in the time that counts; of several flows the median \
             of their medians",
            "`tcpi_rtt` of the sender: the smoothed RTT of RFC 6298, Linux include/uapi/linux/tcp.h",
        ),
        FigureKind::CompleteP50 => (
            "median of the times to the last byte of the answer: from opening the connection where each \
             request has its own (`short`), from sending the request where it is kept open (`http`)",
            "clock of the near end's program",
        ),
        FigureKind::CompleteP95 => (
            "95th percentile of those times; absent below 20",
            "as `complete_p50_us`",
        ),
        FigureKind::Pmtu => (
            "the smaller of the two directions' largest packets that arrive with fragmentation forbidden",
            "search by size; RFC 8899",
        ),
        FigureKind::NearCpu | FigureKind::FarCpu => (
            "busy time of all processors of the host while the sample was taken, over 10⁹ bytes of \
             payload that arrived",
            "/proc/stat, Documentation/filesystems/proc.rst; includes other work of the host",
        ),
    };
    Definition { text, source }
}

/// The smaller of the two directions.
fn pmtu_bytes(sample: &Sample) -> Option<f64> {
    let pmtu = sample.pmtu.as_ref()?;
    Some(f64::from(pmtu.up?.min(pmtu.down?)))
}

/// Payload that arrived in the whole sample.
fn bytes(sample: &Sample) -> Option<u64> {
    let udp = || {
        let udp = sample.udp?;
        Some(udp.received.saturating_mul(u64::from(udp.payload)))
    };
    sample.tcp.as_ref().map(|tcp| tcp.bytes).or_else(udp)
}

/// Busy time of all processors of a host for each 10⁹ bytes that arrived. It includes all other
/// work of the host.
fn cpu_s_per_gb(sample: &Sample, evidence: Option<&Evidence>) -> Option<f64> {
    let evidence = evidence?;
    let cpu = evidence.cpu.as_ref().filter(|cpu| !cpu.cores.is_empty())?;
    let busy: f64 = cpu.cores.iter().map(|c| 1.0 - c.idle).sum();
    let bytes = bytes(sample).filter(|&bytes| bytes > 0)?;
    Some(busy * evidence.interval_us as f64 / 1e6 / (bytes as f64 / 1e9))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{
        evidence::{CoreShares, CpuUse},
        net::{IpVersion, Layer},
        run::{FlowResult, Key, Probes, StepKind, Tcp},
    };

    fn sample() -> Sample {
        let key = Key {
            step: StepKind::Tcp,
            layer: Layer::Underlay,
            family: IpVersion::V4,
            direction: None,
            bidirectional: false,
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
        for kind in FigureKind::ALL {
            assert_eq!(value(&sample(), kind), None, "{kind}");
        }
    }

    #[test]
    fn flows_are_weighted_by_segments_sent() {
        let mut sample = sample();
        sample.tcp = Some(Tcp {
            goodput_bps: 8e6,
            flows: vec![flow(300, 0.0), flow(100, 0.04)],
            ..Tcp::default()
        });
        assert_eq!(value(&sample, FigureKind::Goodput), Some(8e6));
        assert!((value(&sample, FigureKind::Retransmitted).unwrap() - 0.01).abs() < 1e-12);
        assert_eq!(value(&sample, FigureKind::TcpRttP50), None);
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
        assert_eq!(value(&sample, FigureKind::NearCpu), Some(4.0));
        assert_eq!(value(&sample, FigureKind::FarCpu), None);
    }

    #[test]
    fn probes_that_were_never_sent_lose_nothing() {
        let mut sample = sample();
        sample.probes = Some(Probes::default());
        assert_eq!(value(&sample, FigureKind::ProbeLost), None);
    }
}
