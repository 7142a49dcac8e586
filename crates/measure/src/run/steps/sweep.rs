//! UDP at rising rates to the knee: what the path carries, and what it loses below that.
//!
//! Rates rise until less arrives than the losses at lower rates explain, twice: a burst of losses
//! looks like a knee once. Then more than the path
//! carries is offered for the whole time: what arrives in the second half of it, when the queue
//! has filled or the policer's bucket is empty, is the capacity after losses. Last, four fifths of
//! that are offered: their loss is the path's own, and corrects the capacity.

use std::time::Duration;

use model::{
    net::Direction,
    plan::Measurement,
    run::{Sample, SweepStep, Udp},
};

use super::{
    blank, probes,
    udp::{self, Became, Offer},
};
use crate::{
    far::FarError,
    run::{bench::Bench, key::key, schedule::Task},
};

/// Factor from one rate to the next.
const RISE: f64 = 3.0;
/// Datagrams of a rising rate, at least: with fewer, chance looks like a knee.
const FEWEST: f64 = 60.0;
/// Shortest and longest time of a rising rate.
const RISING: [Duration; 2] = [Duration::from_millis(300), Duration::from_secs(4)];
/// Offered over what seems to be the capacity.
const OVER: f64 = 1.25;
/// Offered of the capacity to see the path's own loss.
const BELOW: f64 = 0.8;
/// Missing share, beyond what lower rates lose, that makes a knee.
const MISSING: f64 = 0.04;

pub(crate) fn run(bench: &mut Bench<'_>, task: &Task) -> Result<Vec<Sample>, FarError> {
    let Measurement::UdpSweep {
        direction,
        from_bps,
        to_bps,
    } = &task.step.measurement
    else {
        return Err(FarError::Confused);
    };
    let key = key(&task.step.measurement, &task.layer, None, Some(*direction));
    let mut sample = blank(bench, key);
    let limit = bench.far.welcome.limits.rate_bps.unwrap_or(u64::MAX);
    let mut sweep = Sweep {
        bench,
        task,
        direction: *direction,
        payload: 0,
        steps: Vec::new(),
        base: (0, 0),
        probes_bps: 0.0,
    };
    sweep.payload = udp::largest_payload(sweep.bench, &task.layer);
    let knee = sweep.rise(*from_bps, (*to_bps).min(limit))?;
    let span = Duration::from_secs_f64(task.step.duration_s);
    if let Some(knee) = knee {
        let over = sweep.offer((knee * OVER) as u64, span)?;
        let beside_bps = sweep.probes_bps;
        let arrived = over.late_bps.unwrap_or(over.udp.received_bps);
        let below = sweep.offer((arrived * BELOW) as u64, span)?;
        let capacity = arrived / (1.0 - below.udp.lost).max(0.5);
        let payload = f64::from(sweep.payload);
        let headers = f64::from(udp::headers(task.layer.family));
        // The probes beside the load had their part.
        let probes = beside_bps * (probe_payload() + headers) / probe_payload();
        sample.capacity_bps = Some(capacity * (payload + headers) / payload + probes);
        sample.udp = Some(below.udp);
        let place = (task.layer.clone(), *direction);
        sweep.bench.capacity.insert(place, capacity);
    } else {
        sample.udp = sweep.steps.last().map(|s| s.udp);
    }
    sample.sweep = sweep.steps;
    Ok(vec![sample])
}

struct Sweep<'a, 'b> {
    bench: &'a mut Bench<'b>,
    task: &'a Task,
    direction: Direction,
    payload: u32,
    steps: Vec<SweepStep>,
    /// Datagrams sent and lost below the knee.
    base: (u64, u64),
    /// Payload of the probes beside the latest offer, bit/s.
    probes_bps: f64,
}

/// Payload bytes of a probe.
fn probe_payload() -> f64 {
    traffic::wire::datagram::PROBE as f64
}

impl Sweep<'_, '_> {
    /// Raises the rate until there is a knee; the rate that arrived there. `None`: the highest rate
    /// came through.
    fn rise(&mut self, from_bps: u64, to_bps: u64) -> Result<Option<f64>, FarError> {
        let mut rate = from_bps.min(to_bps);
        loop {
            let needed = FEWEST * f64::from(self.payload) * 8.0 / rate as f64;
            let span = Duration::from_secs_f64(needed).clamp(RISING[0], RISING[1]);
            let became = self.offer(rate, span)?;
            if self.is_knee(&became) {
                let again = self.offer(rate, span)?;
                if self.is_knee(&again) {
                    // What arrived includes what the queue or bucket could take at first.
                    return Ok(Some(again.late_bps.unwrap_or(again.udp.received_bps)));
                }
                self.count(&again);
            }
            self.count(&became);
            if rate >= to_bps || self.bench.cancelled() {
                return Ok(None);
            }
            rate = ((rate as f64 * RISE) as u64).min(to_bps);
        }
    }

    /// Counts what a rate below the knee lost.
    fn count(&mut self, became: &Became) {
        let Udp { sent, received, .. } = became.udp;
        self.base.0 += sent;
        self.base.1 += sent - received.min(sent);
    }

    /// Whether less arrived than was offered, by more than chance and the losses at lower rates:
    /// either it is missing, or it came more slowly, having waited in a queue.
    fn is_knee(&self, became: &Became) -> bool {
        let Udp {
            sent,
            received,
            sent_bps,
            ..
        } = became.udp;
        let usual = self.base.1 as f64 / self.base.0.max(1) as f64;
        let expected = 1.0 - usual;
        let chance = 4.0 * (usual.max(0.005) * expected / sent.max(1) as f64).sqrt();
        let arrived = received as f64 / sent.max(1) as f64;
        let slowly = became.late_bps.unwrap_or(became.udp.received_bps) / sent_bps.max(1.0);
        let least = expected - MISSING - if self.base.0 == 0 { 0.1 } else { chance };
        arrived < least || slowly < least
    }

    fn offer(&mut self, rate_bps: u64, span: Duration) -> Result<Became, FarError> {
        let beside = probes::start_beside(self.bench, &self.task.layer, Some(rate_bps as f64))?;
        let offer = Offer {
            direction: self.direction,
            rate_bps: rate_bps.max(1),
            payload: self.payload,
            span,
        };
        let became = udp::send(self.bench, &self.task.layer, offer, &beside)?;
        let seen = beside.finish(self.bench, became.zero, [0, span.as_micros() as i64])?;
        let sent = seen.as_ref().map_or(0, |p| p.sent) as f64;
        self.probes_bps = sent * probe_payload() * 8.0 / span.as_secs_f64();
        self.steps.push(SweepStep {
            rate_bps,
            udp: became.udp,
            rtt_p50_us: seen.and_then(|p| p.p50_us),
        });
        Ok(became)
    }
}
