//! UDP at rising rates in one direction: capacity, loss and delay below and above it.

use model::{
    run::{Sample, SweepStep, Udp},
    wire::payload_share,
};

use crate::{models, share::share};

/// Up to this share of the capacity, the queue at the bottleneck stays empty.
const BELOW: f64 = 0.82;
/// From this share of the capacity on, packets follow each other closely.
const DENSE: f64 = 0.25;
/// From this share of the capacity on, it is full.
const ABOVE: f64 = 1.1;

/// Share of a step in which its queue fills, up to which the median probe saw it full.
const FILLING: f64 = 0.4;

/// Share and number of the datagrams of a step that count as nearly all ...
const GONE: (f64, u64) = (0.9, 20);
/// ... and share lost up to which one got through.
const PASSED: f64 = 0.75;
/// Maximum ratio of a capacity to the rate that arrived, or the reverse: the correction of a loss
/// of a quarter.
const CORRECTED: f64 = 4.0 / 3.0;

/// Variation of the spacing of datagrams, as a share of the time of a full packet at the capacity,
/// from which they wait for one another.
const WAITS: f64 = 0.1;

/// Offered rate, as a share of the capacity, of a step that begins a sweep: after a pause.
const SLOW: f64 = 0.25;

/// UDP at rising rates, all repeats together.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Numbers of the samples.
    pub samples: Vec<u32>,
    /// Capacity of the path, bit/s of IP packets.
    pub capacity_bps: f64,
    /// Below the knee.
    pub below: Datagrams,
    /// Highest rate below the knee that was tried, bit/s of payload.
    pub below_bps: f64,
    /// Round trip of the probes beside the fastest steps below the knee, the highest median, µs. If
    /// delay varies without reordering, dense traffic has more of it than single probes.
    pub below_rtt_us: Option<f64>,
    /// Above the knee; absent if the sweep did not reach it.
    pub above: Option<Above>,
    /// All steps, in the order in which they were measured.
    pub steps: Vec<SweepStep>,
    /// Bytes of IP and UDP headers of a datagram.
    headers: u32,
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
    /// Longest run of consecutive losses.
    pub longest_loss: f64,
    /// Runs of consecutive losses; the number of losses if runs were not counted.
    pub loss_runs: f64,
    /// Payload bytes of one.
    pub payload: f64,
}

/// The steps above the knee.
#[derive(Clone, Copy, Debug)]
pub struct Above {
    /// Round trip of the probes, the highest median, µs.
    pub rtt_us: Option<f64>,
    /// Share of the datagrams that did not arrive, in the step with most datagrams.
    pub lost: f64,
    /// Received rate there, bit/s of payload.
    pub received_bps: f64,
    /// Rate that was offered there, bit/s of IP packets.
    pub offered_bps: f64,
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
        share(self.lost, self.sent).unwrap_or(0.0)
    }

    /// Mean length of a run of consecutive losses; `None` without any.
    pub fn mean_run(&self) -> Option<f64> {
        (self.loss_runs > 0.0).then(|| self.lost / self.loss_runs)
    }

    /// Runs of lost datagrams per datagram sent: the rate of loss events.
    pub fn loss_events(&self) -> f64 {
        share(self.loss_runs, self.sent).unwrap_or(0.0)
    }

    /// Share of the received datagrams that were overtaken, as the figure `udp_reordered` (RFC
    /// 4737).
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
    /// One sample of UDP at rising rates; `None` of another step.
    pub fn of_sample(sample: &Sample) -> Option<Self> {
        Self::of(&[sample], &[], None)
    }

    /// The sweeps and single rates of one direction together; `None` without a sweep.
    /// `tcp_bps` is the most that one flow of TCP got through, bit/s of IP packets.
    pub(super) fn of(sweeps: &[&Sample], rates: &[&Sample], tcp_bps: Option<f64>) -> Option<Self> {
        let steps: Vec<SweepStep> = sweeps.iter().flat_map(|s| &s.sweep).copied().collect();
        let headers = sweeps.first()?.key.family.udp_headers();
        let mut sweep = Self {
            samples: sweeps.iter().map(|s| s.number).collect(),
            capacity_bps: capacity(sweeps, &steps, headers, tcp_bps)?,
            below: Datagrams::default(),
            below_bps: 0.0,
            below_rtt_us: None,
            above: None,
            steps,
            headers,
        };
        let single = rates.iter().filter_map(|s| s.udp.as_ref());
        let (mut below, mut below_bps) = (Datagrams::default(), 0.0_f64);
        for udp in sweep.steps.iter().map(|s| &s.udp).chain(single) {
            if sweep.leaves_room(udp) {
                below.add(udp);
                below_bps = below_bps.max(udp.sent_bps);
            }
        }
        let dense = |s: &&SweepStep| (DENSE..=BELOW).contains(&sweep.offered_share(&s.udp));
        let dense = sweep.steps.iter().filter(dense);
        let below_rtt_us = dense.filter_map(|s| s.rtt_p50_us).reduce(f64::max);
        let above = sweep.above_knee();
        (sweep.below, sweep.below_bps) = (below, below_bps);
        (sweep.below_rtt_us, sweep.above) = (below_rtt_us, above);
        Some(sweep)
    }

    /// Returns the offered rate of a step, bit/s of IP packets.
    pub fn offered_bps(&self, udp: &Udp) -> f64 {
        packets_bps(udp, udp.sent_bps, self.headers)
    }

    /// Returns the offered rate of a step over the capacity of the path.
    fn offered_share(&self, udp: &Udp) -> f64 {
        self.offered_bps(udp) / self.capacity_bps
    }

    /// Returns true if the offered rate of a step is so low that the queue at the bottleneck stays
    /// empty.
    pub fn leaves_room(&self, udp: &Udp) -> bool {
        self.offered_share(udp) <= BELOW
    }

    /// Datagrams below the knee, without the steps after an overload until a slow one. A fair queue
    /// still sends what the overload left, beside the next step, without delay for the probes; at
    /// half of the line, that step overloads its share.
    pub fn below_before_overload(&self) -> Datagrams {
        let (mut below, mut flooded) = (Datagrams::default(), false);
        for step in &self.steps {
            let offered = self.offered_share(&step.udp);
            flooded = offered >= ABOVE || (flooded && offered > SLOW);
            if offered <= BELOW && !flooded {
                below.add(&step.udp);
            }
        }
        below
    }

    /// Returns true if nearly all datagrams of a step were lost although an earlier one, which
    /// offered no less, was delivered: a bottleneck still delivers its capacity under any load. A
    /// host that reassembles fragments does not: a fragment whose other half is lost stays in
    /// memory for 30 s (`ipfrag_time`), and while that is full all are dropped
    /// (`ipfrag_high_thresh`, Linux Documentation/networking/ip-sysctl.rst).
    pub fn collapses(&self) -> bool {
        let gone = |s: &SweepStep| s.udp.sent >= GONE.1 && s.udp.lost >= GONE.0;
        let passed = |s: &SweepStep, least: f64| s.udp.sent_bps >= least && s.udp.lost < PASSED;
        let after = |(at, step): (usize, &SweepStep)| {
            let before = self.steps.get(..at).unwrap_or_default();
            gone(step) && before.iter().any(|s| passed(s, 0.95 * step.udp.sent_bps))
        };
        self.steps.iter().enumerate().any(after)
    }

    /// Returns true if the queue was full most of the time of a step: a full one drops the excess
    /// over the rate, and while it fills, it drops nothing.
    pub fn is_mostly_full(udp: &Udp) -> bool {
        let expected = 1.0 - udp.received_bps / udp.sent_bps.max(1.0);
        udp.lost > 0.0 && udp.lost >= (1.0 - FILLING) * expected
    }

    /// The most that arrived in any step, bit/s of IP packets.
    pub fn most_received_bps(&self) -> f64 {
        most_received_bps(&self.steps, self.headers).unwrap_or(0.0)
    }

    /// The steps of overload, which offered clearly more than the path carries, the mildest first.
    pub fn overloads(&self) -> Vec<SweepStep> {
        let over = |s: &&SweepStep| self.offered_share(&s.udp) >= ABOVE;
        let mut over: Vec<SweepStep> = self.steps.iter().filter(over).copied().collect();
        over.sort_by(|a, b| a.udp.sent_bps.total_cmp(&b.udp.sent_bps));
        over
    }

    /// Returns whether datagrams above the capacity wait for those before them, by RFC 3550's
    /// jitter estimate at the mildest overload: in the shortest queue that drops the excess, each
    /// one waits for a part of a packet more or less than the one before; a policer delays none.
    /// `None` if that was not measured, or if the path itself varies as much.
    pub fn waits_above(&self) -> Option<bool> {
        let least_us = WAITS * models::packet_us(self.capacity_bps);
        let room = self.steps.iter().filter(|s| self.leaves_room(&s.udp));
        let calm_us = room.filter_map(|s| s.udp.jitter_us).reduce(f64::max)?;
        let above_us = self.overloads().first()?.udp.jitter_us?;
        (calm_us < least_us).then_some(above_us >= least_us)
    }

    fn above_knee(&self) -> Option<Above> {
        let over = self.overloads();
        let rtts = over.iter().filter_map(|s| s.rtt_p50_us);
        // The first steps of a sweep only look for the rate: a bucket passes most of their excess.
        let longest = over.iter().max_by_key(|s| s.udp.sent)?;
        Some(Above {
            rtt_us: rtts.reduce(f64::max),
            lost: longest.udp.lost,
            received_bps: longest.udp.received_bps,
            offered_bps: self.offered_bps(&longest.udp),
        })
    }
}

/// A rate of payload as one of IP packets, bit/s.
fn packets_bps(udp: &Udp, payload_bps: f64, headers: u32) -> f64 {
    payload_bps / payload_share(f64::from(udp.payload.max(1)), headers)
}

fn most_received_bps(steps: &[SweepStep], headers: u32) -> Option<f64> {
    let received = steps
        .iter()
        .map(|s| packets_bps(&s.udp, s.udp.received_bps, headers));
    received.reduce(f64::max)
}

/// The measured capacity: that of the samples, else the highest received rate. A capacity is
/// corrected by the loss below it, which is meaningless if nearly everything is lost there.
/// Overload can reduce the capacity for a while, for instance if a queue shuts a flow out: if both
/// TCP and a step of UDP achieved far more than was measured afterwards, it is the highest received
/// rate.
fn capacity(
    sweeps: &[&Sample],
    steps: &[SweepStep],
    headers: u32,
    tcp_bps: Option<f64>,
) -> Option<f64> {
    let measured: Vec<f64> = sweeps.iter().filter_map(|s| s.capacity_bps).collect();
    let arrived = most_received_bps(steps, headers);
    match (stats::median(&measured), arrived) {
        (Some(measured), Some(arrived)) if measured > CORRECTED * arrived => Some(arrived),
        (Some(measured), Some(arrived)) => {
            let refuted = tcp_bps.map_or(0.0, |tcp| tcp.min(arrived)) > CORRECTED * measured;
            Some(if refuted { arrived } else { measured })
        }
        (measured, arrived) => measured.or(arrived),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use model::{
        net::{IpVersion, Layer},
        run::{Key, StepKind},
    };

    /// A sample of a sweep without steps.
    pub(crate) fn sample(family: IpVersion) -> Sample {
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
        Sample::new(key, 0)
    }

    /// The packets of an IPv6 path counted as 20 bytes shorter than they are.
    #[test]
    fn packets_of_ipv6_have_48_bytes_of_headers() {
        for (family, headers) in [(IpVersion::V4, 28.0), (IpVersion::V6, 48.0)] {
            let mut sample = sample(family);
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
            let sweep = Sweep::of(&[&sample], &[], None);
            let capacity = sweep.map_or(0.0, |s| s.capacity_bps);
            assert!((capacity - 8e6 * (1000.0 + headers) / 1000.0).abs() < 1e-3);
        }
    }

    /// Whether datagrams wait at 100 Mbit/s, by their jitter below and above that, µs.
    fn waits(below_us: f64, above_us: f64) -> Option<bool> {
        let step = |sent_bps: f64, received_bps: f64, jitter_us: f64| SweepStep {
            rate_bps: sent_bps as u64,
            udp: Udp {
                payload: 1472,
                sent: 1000,
                received: (1000.0 * received_bps / sent_bps) as u64,
                jitter_us: Some(jitter_us),
                sent_bps,
                received_bps,
                ..Udp::default()
            },
            rtt_p50_us: None,
        };
        let mut sample = sample(IpVersion::V4);
        sample.sweep = vec![
            step(40e6, 40e6, below_us),
            step(300e6, 98e6, 200.0),
            step(122e6, 98e6, above_us),
        ];
        Sweep::of(&[&sample], &[], None)?.waits_above()
    }

    /// Bug: buffers of two to eight packets at 100 to 430 Mbit/s, which add less delay than timers
    /// do, were called policers.
    #[test]
    fn a_queue_of_few_packets_shows_in_the_spacing_of_datagrams() {
        assert_eq!(waits(0.3, 35.0), Some(true));
        assert_eq!(waits(0.3, 0.4), Some(false));
    }

    #[test]
    fn on_a_path_that_varies_the_spacing_shows_no_queue() {
        assert_eq!(waits(50.0, 60.0), None);
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
