//! UDP at rising rates in one direction: capacity, loss and delay below and above it.

use model::run::{Sample, SweepStep, Udp};

use crate::figures::share;

/// Up to this share of the capacity, the queue at the bottleneck stays empty.
const BELOW: f64 = 0.82;
/// From this share of the capacity on, packets follow each other closely.
const DENSE: f64 = 0.25;
/// From this share of the capacity on, it is full.
const ABOVE: f64 = 1.1;

/// Most that a capacity may be above what arrived: the correction of a loss of a quarter.
const CORRECTED: f64 = 4.0 / 3.0;

/// UDP at rising rates, all repeats together.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Numbers of the samples.
    pub samples: Vec<u32>,
    /// What the path carries, bit/s of IP packets.
    pub capacity_bps: f64,
    /// Below the knee.
    pub below: Datagrams,
    /// Highest rate below the knee that was tried, bit/s of payload.
    pub below_bps: f64,
    /// Round trip of the probes beside the fastest steps below the knee, the highest median, µs.
    /// Where delay varies without overtaking, dense traffic meets more of it than single probes do.
    pub below_rtt_us: Option<f64>,
    /// Above the knee; absent if the sweep never got there.
    pub above: Option<Above>,
}

/// Counts of datagrams.
#[derive(Clone, Copy, Debug, Default)]
pub struct Datagrams {
    /// Sent.
    pub sent: f64,
    /// Not arrived.
    pub lost: f64,
    /// Arrived.
    pub received: f64,
    /// Arrived after one with a higher number.
    pub reordered: f64,
    /// Longest run lost one after the other.
    pub longest_loss: f64,
    /// Runs lost one after the other; as many as lost where that was not counted.
    pub loss_runs: f64,
    /// Payload bytes of one.
    pub payload: f64,
}

/// The steps above the knee.
#[derive(Clone, Copy, Debug)]
pub struct Above {
    /// Round trip of the probes, the highest median, µs.
    pub rtt_us: Option<f64>,
    /// Share of the datagrams that did not arrive, at the highest rate.
    pub lost: f64,
    /// What arrived at the highest rate, bit/s of payload.
    pub received_bps: f64,
    /// The highest rate that was sent, bit/s of payload.
    pub sent_bps: f64,
}

impl Datagrams {
    fn add(&mut self, udp: &Udp) {
        self.sent += udp.sent as f64;
        self.lost += udp.sent.saturating_sub(udp.received) as f64;
        self.received += udp.received as f64;
        self.reordered += udp.reordered as f64;
        self.longest_loss = self.longest_loss.max(udp.longest_loss.unwrap_or(0) as f64);
        let lost = udp.sent.saturating_sub(udp.received);
        self.loss_runs += udp.loss_runs.unwrap_or(lost).min(lost) as f64;
        self.payload = f64::from(udp.payload);
    }

    /// Share that was lost.
    pub fn loss(&self) -> f64 {
        self.lost / self.sent.max(1.0)
    }

    /// Runs of lost datagrams per datagram sent: the rate of loss events.
    pub fn loss_events(&self) -> f64 {
        self.loss_runs / self.sent.max(1.0)
    }

    /// Share of those that arrived that was overtaken, as the figure `udp_reordered` (RFC 4737).
    pub fn reordered_share(&self) -> f64 {
        share(self.reordered, self.received).unwrap_or(0.0)
    }

    /// The 95 % interval of the share that was overtaken (Wilson's score interval).
    pub fn reordered_interval(&self) -> (f64, f64) {
        let interval = stats::wilson(
            self.reordered.min(self.received).round() as u64,
            self.received.round() as u64,
        );
        interval.map_or((0.0, 1.0), |interval| (interval.low, interval.high))
    }

    /// The 95 % interval of the loss (Wilson's score interval), if the losses are independent.
    pub fn loss_interval(&self) -> (f64, f64) {
        let interval = stats::wilson(self.lost.round() as u64, self.sent.round() as u64);
        interval.map_or((0.0, 1.0), |interval| (interval.low, interval.high))
    }
}

impl Sweep {
    /// The sweeps and single rates of one direction together; `None` without a sweep.
    pub(super) fn of(sweeps: &[&Sample], rates: &[&Sample]) -> Option<Self> {
        let steps: Vec<&SweepStep> = sweeps.iter().flat_map(|s| &s.sweep).collect();
        let headers = f64::from(sweeps.first()?.key.family.udp_headers());
        let offered = |udp: &Udp| packets_bps(udp, udp.sent_bps, headers);
        let capacity_bps = capacity(sweeps, &steps, headers)?;
        let single = rates.iter().filter_map(|s| s.udp.as_ref());
        let mut below = Datagrams::default();
        let mut below_bps = 0.0_f64;
        for udp in steps.iter().map(|s| &s.udp).chain(single) {
            if offered(udp) <= BELOW * capacity_bps {
                below.add(udp);
                below_bps = below_bps.max(udp.sent_bps);
            }
        }
        let mut over: Vec<&&SweepStep> = steps
            .iter()
            .filter(|s| offered(&s.udp) >= ABOVE * capacity_bps)
            .collect();
        over.sort_by(|a, b| a.udp.sent_bps.total_cmp(&b.udp.sent_bps));
        let rtts = over.iter().filter_map(|s| s.rtt_p50_us);
        let dense = steps
            .iter()
            .filter(|s| (DENSE..=BELOW).contains(&(offered(&s.udp) / capacity_bps)));
        let below_rtt_us = dense.filter_map(|s| s.rtt_p50_us).reduce(f64::max);
        Some(Self {
            samples: sweeps.iter().map(|s| s.number).collect(),
            capacity_bps,
            below,
            below_bps,
            below_rtt_us,
            above: over.last().map(|last| Above {
                rtt_us: rtts.reduce(f64::max),
                lost: last.udp.lost,
                received_bps: last.udp.received_bps,
                sent_bps: last.udp.sent_bps,
            }),
        })
    }
}

/// A rate of payload as one of IP packets, bit/s.
fn packets_bps(udp: &Udp, payload_bps: f64, headers: f64) -> f64 {
    let payload = f64::from(udp.payload.max(1));
    payload_bps * (payload + headers) / payload
}

/// The measured capacity: that of the samples, else the most that arrived. A capacity is corrected
/// by the loss below it, which is no measure of the path where nearly all is lost there.
fn capacity(sweeps: &[&Sample], steps: &[&SweepStep], headers: f64) -> Option<f64> {
    let measured: Vec<f64> = sweeps.iter().filter_map(|s| s.capacity_bps).collect();
    let arrived = steps
        .iter()
        .map(|s| packets_bps(&s.udp, s.udp.received_bps, headers));
    let arrived = arrived.reduce(f64::max);
    match (stats::median(&measured), arrived) {
        (Some(measured), Some(arrived)) if measured > CORRECTED * arrived => Some(arrived),
        (measured, arrived) => measured.or(arrived),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{
        net::{IpVersion, Layer},
        run::{Key, StepKind},
    };

    /// The packets of an IPv6 path counted as 20 bytes shorter than they are.
    #[test]
    fn packets_of_ipv6_have_48_bytes_of_headers() {
        for (family, headers) in [(IpVersion::V4, 28.0), (IpVersion::V6, 48.0)] {
            let key = Key {
                step: StepKind::UdpSweep,
                layer: Layer::Underlay,
                family,
                direction: None,
                bidirectional: false,
                flows: None,
                cc: None,
                rate_bps: None,
                bytes: None,
            };
            let mut sample = Sample::new(key, 0);
            sample.sweep = vec![SweepStep {
                rate_bps: 8_000_000,
                udp: Udp {
                    payload: 1000,
                    sent_bps: 8e6,
                    received_bps: 8e6,
                    ..Udp::default()
                },
                rtt_p50_us: None,
            }];
            let sweep = Sweep::of(&[&sample], &[]);
            let capacity = sweep.map_or(0.0, |s| s.capacity_bps);
            assert!((capacity - 8e6 * (1000.0 + headers) / 1000.0).abs() < 1e-3);
        }
    }

    #[test]
    fn the_interval_of_no_loss_still_has_an_upper_end() {
        let none = Datagrams {
            sent: 1000.0,
            ..Datagrams::default()
        };
        let (low, high) = none.loss_interval();
        // Wilson: z² / (n + z²), with z² = 3.841459, the 95 % point of chi squared.
        assert_eq!(low, 0.0);
        assert!((high - 3.841_459 / 1_003.841_459).abs() < 1e-8);
    }
}
