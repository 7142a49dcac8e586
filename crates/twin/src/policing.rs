//! What drops the segments of a TCP load: a policer, a queue, or neither for sure.
//!
//! From the samples of the sender alone. A queue delays before it drops. A policer drops when its
//! token bucket is empty, without a delay: there is one rate and one size of the bucket at which
//! it is empty at nearly all losses (the idea of Flach et al., An Internet-Wide Analysis of
//! Traffic Policing, SIGCOMM 2016, for samples instead of packets, and for any start of the
//! bucket). Random losses, and a policer that others use, too, have no such bucket.

mod bucket;
#[cfg(test)]
mod tests;
mod transfer;

use bucket::Bucket;
use model::run::Series;
use serde::{Deserialize, Serialize};
use transfer::Transfer;

/// Segments lost, and samples and round trips with losses, below which a bucket is not sought.
const ENOUGH_LOST: f64 = 15.0;
const ENOUGH_SAMPLES: usize = 8;
const ENOUGH_TRIPS: usize = 3;
/// Round trips with losses from which a bucket, which has two free parameters, is no accident.
const BUCKET_TRIPS: usize = 20;
/// Rise of the smoothed round trip that counts as a queue's, as a share of the shortest, and s:
/// what trains of packets explain.
const RISE: f64 = 0.1;
const RISE_S: f64 = 1e-3;
/// Share of round trips with losses before which it had risen, from which a queue drops, and up to
/// which a policer may.
const BY_QUEUE: f64 = 0.5;
const BY_CHANCE: f64 = 0.2;
/// Share of losses that a bucket need not explain.
const UNEXPLAINED: f64 = 0.25;

/// What drops the segments of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dropper {
    /// A policer.
    Policer,
    /// A queue.
    Queue,
    /// It cannot be told.
    Unknown,
}

/// The rule that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The series lacks a column.
    NoSeries,
    /// The round trip had risen before losses, or most of the time.
    Delay,
    /// It had risen before some losses only.
    SomeDelay,
    /// There are too few losses.
    FewLosses,
    /// Rates and buckets are too small for samples.
    NoBucket,
    /// The best bucket was not empty at many losses.
    NotEmpty,
    /// A bucket was empty at the losses, without delay.
    Bucket,
}

/// A judgement with its evidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// What drops.
    pub dropper: Dropper,
    /// The rule that decided.
    pub rule: Rule,
    /// Segments lost.
    pub lost: f64,
    /// Round trips with losses.
    pub trips: usize,
    /// Share of these before which the round trip had risen.
    pub delayed: f64,
    /// Payload that the best bucket lets through, bit/s.
    pub rate_bps: Option<f64>,
    /// Its size, bytes of payload.
    pub burst_bytes: Option<f64>,
    /// Share of loss samples at which it was not empty.
    pub unexplained: Option<f64>,
}

impl Judgement {
    /// From the series of one sender.
    pub fn of(sent: &Series) -> Self {
        let mut judged = Self {
            dropper: Dropper::Unknown,
            rule: Rule::NoSeries,
            lost: 0.0,
            trips: 0,
            delayed: 0.0,
            rate_bps: None,
            burst_bytes: None,
            unexplained: None,
        };
        let Some(transfer) = Transfer::of(sent) else {
            return judged;
        };
        let has_risen = |rtt_s: f64| rtt_s - transfer.base_s > RISE_S.max(RISE * transfer.base_s);
        let before = transfer.before_losses_s();
        let delayed = before.iter().filter(|s| has_risen(**s)).count();
        judged.lost = transfer.lost();
        judged.trips = before.len();
        judged.delayed = delayed as f64 / before.len().max(1) as f64;
        judged.decide(&transfer, has_risen(transfer.rtt_s));
        judged
    }

    fn decide(&mut self, transfer: &Transfer, mostly_delayed: bool) {
        let enough = self.lost >= ENOUGH_LOST
            && self.trips >= ENOUGH_TRIPS
            && transfer.losses.len() >= ENOUGH_SAMPLES;
        let by_queue = match enough {
            true => self.delayed >= BY_QUEUE,
            false => mostly_delayed && (self.trips == 0 || self.delayed >= BY_QUEUE),
        };
        if by_queue {
            (self.dropper, self.rule) = (Dropper::Queue, Rule::Delay);
            return;
        }
        let enough = enough && self.trips >= BUCKET_TRIPS;
        self.rule = match (enough, self.delayed <= BY_CHANCE) {
            (false, _) => Rule::FewLosses,
            (true, false) => Rule::SomeDelay,
            (true, true) => self.explained(Bucket::fitted(transfer)),
        };
        if self.rule == Rule::Bucket {
            self.dropper = Dropper::Policer;
        }
    }

    fn explained(&mut self, bucket: Option<Bucket>) -> Rule {
        let Some(bucket) = bucket else {
            return Rule::NoBucket;
        };
        self.rate_bps = Some(bucket.rate * 8.0);
        self.burst_bytes = Some(bucket.size);
        self.unexplained = Some(bucket.unexplained);
        match bucket.unexplained <= UNEXPLAINED {
            true => Rule::Bucket,
            false => Rule::NotEmpty,
        }
    }
}
