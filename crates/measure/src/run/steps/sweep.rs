//! UDP at rising rates to the knee: the capacity of the path, and its loss below that.
//!
//! Rates rise until less arrives than the losses at lower rates explain, twice: a burst of losses
//! looks like a knee once. At the first rate a very lossy path looks like one too, until a higher
//! rate delivers more. Then a rate above the capacity is offered for the whole time: the rate
//! received in the second half of it, when the queue has filled or the policer's bucket is empty,
//! is the capacity after losses. Last, four fifths of that are offered: their loss is the path's
//! own, and corrects the capacity.

use std::time::Duration;

use analysis::{datagrams, flow, pace::Line};
use model::{
    findings::Value,
    net::Direction,
    run::{Invalid, Sample, StepKind, SweepStep, Udp},
    text,
    text::Text,
    wire::payload_share,
};

use super::{
    Blank, Cost, Measure, Step, probes,
    udp::{self, Delivery, Offer},
};
use crate::{
    far::FarError,
    run::{bench::Bench, budget::bytes_left, task::Task},
};

/// Factor from one rate to the next.
const RISE: f64 = 3.0;
/// Minimum number of datagrams per rate: with fewer, chance can resemble a knee.
const FEWEST: f64 = 60.0;
/// Shortest and longest time of a rising rate.
const RISING: [Duration; 2] = [Duration::from_millis(300), Duration::from_secs(4)];
/// Offered over the apparent capacity.
const OVER: f64 = 1.25;
/// Share of the capacity offered to measure the path's own loss.
const BELOW: f64 = 0.8;
/// Missing share, beyond the loss at lower rates, that makes a knee.
const MISSING: f64 = 0.04;

/// Factor of the rate received at the second rate over the first from which the first is below the
/// knee: half of the way from none to [`RISE`].
const GROWS: f64 = 2.0;

/// Maximum duration of a load near the knee on slow paths, s.
const LONGEST_S: f64 = 10.0;

/// Rates that are tried below the knee, and the time of each, s: the usual ones of a sweep.
const USUAL: (f64, f64) = (6.0, 1.2);

/// UDP at rising rates in one direction.
pub(super) struct Sweep {
    pub(super) direction: Direction,
    /// The first rate, bit/s of payload.
    pub(super) from_bps: u64,
    /// Never more than this, bit/s of payload.
    pub(super) to_bps: u64,
}

/// Result of the sweep.
pub(super) struct Seen {
    /// Capacity of the path, bit/s of IP packets; absent if there was no knee.
    capacity_bps: Option<f64>,
    /// The load that represents the path: below the knee, or the fastest.
    udp: Option<Udp>,
    steps: Vec<SweepStep>,
    /// The reason why it shows no capacity, other than a path that carried all.
    invalid: Option<Text>,
}

impl Step for Sweep {
    fn kind(&self) -> StepKind {
        StepKind::UdpSweep
    }

    fn directions(&self) -> Vec<Option<Direction>> {
        vec![Some(self.direction)]
    }

    fn cost(&self, duration_s: f64) -> Cost {
        Cost {
            time_s: 2.0 * duration_s + USUAL.0 * USUAL.1,
            loaded_s: 2.0 * duration_s + 1.0,
        }
    }
}

impl Measure for Sweep {
    type Seen = Seen;

    fn measure(&self, bench: &mut Bench<'_>, task: &Task) -> Result<Seen, FarError> {
        let limit = bench.far.welcome.limits.rate_bps.unwrap_or(u64::MAX);
        let mut search = Search {
            payload: udp::largest_payload(bench, &task.layer),
            bench,
            task,
            direction: self.direction,
            steps: Vec::new(),
            base: (0, 0),
            probes_bps: 0.0,
            invalid: None,
        };
        let knee = search.rise(self.from_bps, self.to_bps.min(limit))?;
        let found = match knee {
            Some(knee) if search.invalid.is_none() => search.capacity_bps(knee)?,
            _ => None,
        };
        let last = search.steps.last().map(|s| s.udp);
        Ok(Seen {
            capacity_bps: found.map(|(capacity_bps, _)| capacity_bps),
            udp: found.map(|(_, below)| below).or(last),
            steps: search.steps,
            invalid: search.invalid,
        })
    }

    fn samples(&self, seen: Seen, blank: &Blank<'_>) -> Vec<Sample> {
        vec![Sample {
            capacity_bps: seen.capacity_bps,
            udp: seen.udp,
            sweep: seen.steps,
            invalid: seen.invalid.map(Invalid::failed).into_iter().collect(),
            ..blank.of(Some(self.direction))
        }]
    }
}

struct Search<'a, 'b> {
    bench: &'a mut Bench<'b>,
    task: &'a Task,
    direction: Direction,
    payload: u32,
    steps: Vec<SweepStep>,
    /// Datagrams sent and received below the knee.
    base: (u64, u64),
    /// Payload rate of the probes during the latest offer, bit/s.
    probes_bps: f64,
    /// The reason why the search ended.
    invalid: Option<Text>,
}

/// Payload bytes of a probe.
fn probe_payload() -> f64 {
    traffic::wire::datagram::PROBE as f64
}

impl Search<'_, '_> {
    /// Raises the rate up to the knee; returns the rate received there. `None`: the highest rate
    /// was delivered, or the search ended.
    fn rise(&mut self, from_bps: u64, to_bps: u64) -> Result<Option<f64>, FarError> {
        let mut rate = from_bps.min(to_bps);
        loop {
            let needed = FEWEST * f64::from(self.payload) * 8.0 / rate as f64;
            let span = Duration::from_secs_f64(needed).clamp(RISING[0], RISING[1]);
            let Some(delivery) = self.offer(rate, span)? else {
                return Ok(None);
            };
            if self.is_knee(&delivery) {
                let Some(again) = self.offer(rate, span)? else {
                    return Ok(None);
                };
                if self.is_knee(&again) && !self.grows(rate, to_bps, &again)? {
                    // The received data included the initial filling of the queue or bucket.
                    return Ok(Some(again.late_bps.unwrap_or(again.udp.received_bps)));
                }
                self.count(&again);
            }
            self.count(&delivery);
            if rate >= to_bps || self.bench.cancelled() {
                return Ok(None);
            }
            rate = ((rate as f64 * RISE) as u64).min(to_bps);
        }
    }

    /// Returns true if a higher rate delivers more than the first one, which had losses. There is
    /// no lower rate to measure the loss of the path itself; above the knee a higher rate delivers
    /// no more.
    fn grows(&mut self, rate: u64, to_bps: u64, first: &Delivery) -> Result<bool, FarError> {
        let higher = ((rate as f64 * RISE) as u64).min(to_bps);
        if self.base.0 > 0 || higher <= rate {
            return Ok(false);
        }
        let more = self.offer(higher, RISING[0])?;
        Ok(more.is_some_and(|more| more.udp.received_bps > GROWS * first.udp.received_bps))
    }

    /// Returns the capacity of the path, bit/s of IP packets, and the load below that; `None` if
    /// the search ended. `knee`: rate that arrived where less arrived than was sent, bit/s of
    /// payload.
    fn capacity_bps(&mut self, knee: f64) -> Result<Option<(f64, Udp)>, FarError> {
        if knee <= 0.0 {
            return Ok(self.nothing_arrives());
        }
        let span = self.span(knee);
        let Some(over) = self.offer((knee * OVER) as u64, span)? else {
            return Ok(None);
        };
        let probes_bps = self.probes_bps;
        let place = (self.task.layer.clone(), self.direction);
        if let Some(loaded_us) = self.steps.last().and_then(|step| step.rtt_p50_us) {
            self.bench.loaded_us.insert(place.clone(), loaded_us);
        }
        let arrived = over.late_bps.unwrap_or(over.udp.received_bps);
        if arrived <= 0.0 {
            return Ok(self.nothing_arrives());
        }
        let Some(below) = self.offer((arrived * BELOW) as u64, span)? else {
            return Ok(None);
        };
        if below.udp.received == 0 {
            return Ok(self.nothing_arrives());
        }
        let capacity = arrived / (1.0 - below.udp.lost).max(0.5);
        self.bench.capacity.insert(place, capacity);
        let headers = self.task.layer.family.udp_headers();
        // The probes used a share of the capacity.
        let probes = probes_bps / payload_share(probe_payload(), headers);
        let packets = capacity / payload_share(f64::from(self.payload), headers);
        Ok(Some((packets + probes, below.udp)))
    }

    /// Ends the search: the path carries no datagram of this size, or none any more. A rate of 0 is
    /// not its capacity.
    fn nothing_arrives<T>(&mut self) -> Option<T> {
        let bytes = Value::Bytes(f64::from(self.payload));
        self.invalid = Some(text!("no datagram of {bytes} arrived", bytes = bytes));
        None
    }

    /// Time of a load about the knee: on a slow path long enough for its datagrams to distinguish a
    /// loss from chance.
    fn span(&self, knee: f64) -> Duration {
        let line = Line {
            rate_bps: Some(knee),
            ..Line::default()
        };
        let needed_s = match self.bench.plan.adapt {
            true => line.datagrams_s().min(LONGEST_S),
            false => 0.0,
        };
        Duration::from_secs_f64(self.task.step.duration_s.max(needed_s))
    }

    /// Counts the datagrams at a rate below the knee.
    fn count(&mut self, delivery: &Delivery) {
        let Udp { sent, received, .. } = delivery.udp;
        self.base.0 += sent;
        self.base.1 += received.min(sent);
    }

    /// Returns true if less arrived than was offered, by more than chance and the losses at lower
    /// rates: either datagrams are missing, or they arrived more slowly because of a queue.
    fn is_knee(&self, delivery: &Delivery) -> bool {
        let Udp {
            sent,
            received,
            sent_bps,
            ..
        } = delivery.udp;
        let usual = datagrams::lost(self.base.0, self.base.1).unwrap_or(0.0);
        let expected = 1.0 - usual;
        let chance = 4.0 * (usual.max(0.005) * expected / sent.max(1) as f64).sqrt();
        let arrived = datagrams::lost(sent, received).map_or(0.0, |lost| 1.0 - lost);
        let slowly = delivery.late_bps.unwrap_or(delivery.udp.received_bps) / sent_bps.max(1.0);
        let least = expected - MISSING - if self.base.0 == 0 { 0.1 } else { chance };
        arrived < least || slowly < least
    }

    /// Offers a rate; `None` if that is more than the plan's budget still allows, which ends the
    /// search.
    fn offer(&mut self, rate_bps: u64, span: Duration) -> Result<Option<Delivery>, FarError> {
        let needed = rate_bps as f64 / 8.0 * span.as_secs_f64();
        let left = bytes_left(&self.bench.plan.budget, self.bench.bytes);
        if left.is_some_and(|left| needed > left as f64) {
            self.invalid = Some(text!("the byte budget is used up"));
            return Ok(None);
        }
        let probing = probes::start_beside(self.bench, &self.task.layer, Some(rate_bps as f64))?;
        let offer = Offer {
            direction: self.direction,
            rate_bps: rate_bps.max(1),
            payload: self.payload,
            span,
        };
        let delivery = udp::send(self.bench, &self.task.layer, offer, &probing)?;
        let seen = probing.finish(self.bench, delivery.zero, [0, span.as_micros() as i64])?;
        let sent = seen.as_ref().map_or(0, |p| p.sent) as f64;
        let span_us = span.as_secs_f64() * 1e6;
        self.probes_bps = flow::rate_bps(sent * probe_payload(), span_us).unwrap_or(0.0);
        self.steps.push(SweepStep {
            rate_bps,
            udp: delivery.udp,
            rtt_p50_us: seen.and_then(|p| p.p50_us),
        });
        Ok(Some(delivery))
    }
}
