//! What drops the excess of an overload: a bucket of tokens, or a queue that others fill, too.

use model::run::{SweepStep, Udp};

use super::Sweep;
use crate::datagrams::span_s;

/// Ratio of the times of two overloads from which the burst that passes at their beginning shows.
const LONGER: f64 = 2.0;

/// Ratio of the rates of two overloads from which their received rates are compared ...
const FASTER: f64 = 1.15;
/// ... within which they count as the same ...
const SAME: f64 = 1.05;
/// ... number of their datagrams from which those rates are not chance ...
const ENOUGH: u64 = 100;
/// ... and their ratio from which neither is their difference.
const RISES: f64 = 1.02;

/// What passes at the beginning of an overload, beyond the rate that passes for long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// Bytes of payload.
    pub bytes: f64,
    /// Rate received during a short overload over that during the longest, less 1.
    pub share: f64,
}

/// What other traffic takes from the queue of an overload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Taken {
    /// Share of the bottleneck's rate that it offers, 0 to 1.
    pub share: f64,
    /// Rate offered and rate received of the slowest overload, bit/s of payload.
    pub slow_bps: [f64; 2],
    /// The same of the fastest.
    pub fast_bps: [f64; 2],
}

impl Sweep {
    /// The burst that passes at the beginning of an overload, the median over those at most half as
    /// long as the longest; `None` without any. A bucket of `B` bytes lets `B + C t` pass in a time
    /// `t` (RFC 2697 section 3), so that the rates received in two times differ by
    /// `B (1 / t1 - 1 / t2)`. Behind a queue datagrams arrive at `C` from the first on, however
    /// many it holds.
    pub fn burst(&self) -> Option<Burst> {
        let overloads: Vec<Udp> = self.overloads().iter().map(|s| s.udp).collect();
        let longest = overloads
            .iter()
            .max_by(|a, b| span_s(a).total_cmp(&span_s(b)))?;
        let [long_s, long_bps] = [span_s(longest), longest.received_bps];
        let is_short = |udp: &&Udp| LONGER * span_s(udp) <= long_s;
        let of = |udp: &Udp| {
            let more_bps = udp.received_bps - long_bps;
            let bytes = more_bps / 8.0 / (1.0 / span_s(udp) - 1.0 / long_s);
            (bytes, more_bps / long_bps)
        };
        let (bytes, shares): (Vec<f64>, Vec<f64>) =
            overloads.iter().filter(is_short).map(of).unzip();
        Some(Burst {
            bytes: stats::median(&bytes)?,
            share: stats::median(&shares).filter(|share| share.is_finite())?,
        })
    }

    /// What other traffic, which does not give way, takes from the queue of these datagrams. A full
    /// queue serves all in proportion to what they offer: of `o` beside `x` of others, `C o /
    /// (o + x)` arrives, so that the offered over the received rate rises linearly with the offered
    /// one, from `x / C` at none (Melander, Björkman, Gunningberg: A New End-to-End Probing and
    /// Analysis Method for Estimating Bandwidth Bottlenecks, Globecom 2000). The bucket of a
    /// policer lets as much more pass in a short overload: only for one that fills a queue. `None`
    /// where the received rate does not rise, or only one rate of overload was measured.
    pub fn taken(&self) -> Option<Taken> {
        let enough = |s: &SweepStep| s.udp.sent >= ENOUGH && Self::is_mostly_full(&s.udp);
        let full: Vec<Udp> = self
            .overloads()
            .into_iter()
            .filter(enough)
            .map(|s| s.udp)
            .collect();
        let [slow, fast] = [full.first()?.sent_bps, full.last()?.sent_bps];
        // Repeats differ by chance: the pair that rises least decides.
        let slowest = full.iter().filter(|udp| udp.sent_bps <= SAME * slow);
        let fastest = full.iter().filter(|udp| udp.sent_bps * SAME >= fast);
        let slow = slowest.max_by(|a, b| a.received_bps.total_cmp(&b.received_bps))?;
        let fast = fastest.min_by(|a, b| a.received_bps.total_cmp(&b.received_bps))?;
        let rises = |of: fn(&Udp) -> f64, least: f64| of(fast) >= least * of(slow);
        if !rises(|udp| udp.sent_bps, FASTER) || !rises(|udp| udp.received_bps, RISES) {
            return None;
        }
        let over = |udp: &Udp| udp.sent_bps / udp.received_bps;
        let slope = (over(fast) - over(slow)) / (fast.sent_bps - slow.sent_bps);
        let share = over(slow) - slope * slow.sent_bps;
        let rates = |udp: &Udp| [udp.sent_bps, udp.received_bps];
        (0.0..1.0).contains(&share).then(|| Taken {
            share,
            slow_bps: rates(slow),
            fast_bps: rates(fast),
        })
    }
}

#[cfg(test)]
mod tests {
    use model::net::IpVersion;
    use proptest::prelude::*;

    use super::*;
    use crate::view::sweep::tests::sample;

    /// A sweep of steps with these times, s, offered and received rates, Mbit/s, without those
    /// below the capacity.
    fn sweep(capacity: f64, steps: &[[f64; 3]]) -> Sweep {
        let mut sample = sample(IpVersion::V4);
        sample.capacity_bps = Some(capacity * 1e6);
        let step = |[time_s, sent, received]: &[f64; 3]| {
            let payload = 1_000_u32;
            let datagrams = (time_s * sent * 1e6 / 8.0 / f64::from(payload)).round();
            SweepStep {
                rate_bps: (sent * 1e6) as u64,
                udp: Udp {
                    payload,
                    sent: datagrams as u64,
                    received: (datagrams * received / sent) as u64,
                    lost: 1.0 - received / sent,
                    sent_bps: datagrams * f64::from(payload) * 8.0 / time_s,
                    received_bps: received * 1e6,
                    ..Udp::default()
                },
                rtt_p50_us: None,
            }
        };
        sample.sweep = steps.iter().map(step).collect();
        Sweep::of_sample(&sample).unwrap()
    }

    proptest! {
        /// A bucket of `B` bytes at a rate `C` passes `B + C t` in a time `t`.
        #[test]
        fn the_burst_is_the_bucket(capacity in 1.0..900.0_f64, bucket in 4e3..1e6_f64) {
            let steps = [[0.3, 3.0], [0.3, 3.0], [1.5, 1.25]].map(|[time_s, over]| {
                let passes = capacity + bucket * 8.0 / time_s / 1e6;
                [time_s, over * passes, passes]
            });
            let burst = sweep(capacity, &steps).burst().unwrap();
            prop_assert!((burst.bytes / bucket - 1.0).abs() < 1e-6, "{burst:?}");
            prop_assert!(burst.share > 0.0);
        }

        /// A queue forwards at its rate, and serves all that share it in proportion.
        #[test]
        fn others_take_what_they_offer_of_a_queue(
            capacity in 10.0..900.0_f64,
            others in 0.1..0.8_f64,
        ) {
            let of = |offered: f64| capacity * offered / (offered + others * capacity);
            let steps = [1.25, 3.0].map(|over| [0.3, over * capacity, of(over * capacity)]);
            let taken = sweep(of(1.25 * capacity), &steps).taken();
            prop_assert!((taken.unwrap().share - others).abs() < 0.01, "{taken:?}");
        }

        #[test]
        fn a_queue_alone_passes_no_burst_and_nobody_takes_from_it(capacity in 1.0..900.0_f64) {
            let steps = [[0.3, 3.0], [0.3, 3.0], [1.5, 1.25]]
                .map(|[time_s, over]| [time_s, over * capacity, capacity]);
            let sweep = sweep(capacity, &steps);
            prop_assert!(sweep.burst().unwrap().bytes.abs() < 1e-3);
            prop_assert_eq!(sweep.taken(), None);
        }
    }

    #[test]
    fn one_overload_shows_neither() {
        let sweep = sweep(100.0, &[[1.5, 125.0, 100.0]]);
        assert_eq!((sweep.burst(), sweep.taken()), (None, None));
    }
}
