//! A token bucket that explains the losses of a transfer.

use super::transfer::Transfer;
use crate::tokens::lacks;

/// Loss samples between whose pairs the rate is sought.
const ANCHORS: usize = 14;
/// Widths of the search around the best rate, as shares of it, and steps to either side.
const WIDTHS: [f64; 3] = [3e-3, 6e-4, 1.5e-4];
const STEPS: i32 = 5;
/// Share of the loss samples at or below the bucket's size: single losses may have another cause,
/// and delivery is known to a few packets only.
const BELOW: f64 = 0.95;
/// Smallest bucket that samples can show, as a multiple of the bytes of a round trip at its rate:
/// smaller ones drop from the bursts within one round trip.
const LEAST: f64 = 1.5;
/// Distance from the empty bucket, in round trips at the rate or [`PACKETS`], at which a loss still
/// counts as the bucket's: delivery is seen a round trip later, at any time of which it may be
/// lost.
const NEAR: f64 = 2.0;
const PACKETS: f64 = 3.0;
/// The same as a share of the bucket. Without this bound, random losses all are near a small
/// bucket.
const NEAR_SHARE: f64 = 0.4;
/// Largest distance that counts in the search.
const FURTHEST: f64 = 2.0;

/// A bucket, and how well it explains the losses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bucket {
    /// Payload let through in the long run, bytes/s.
    pub(super) rate: f64,
    /// Payload let through at once after a pause, bytes.
    pub(super) size: f64,
    /// Share of loss samples at which it was not empty.
    pub(super) unexplained: f64,
    /// Mean distance of the loss samples from the empty bucket, as a multiple of that still near.
    distance: f64,
}

impl Bucket {
    /// The rate and the size at which the bucket is empty at as many losses as possible. Between
    /// two losses at an empty bucket, the rate is the bytes delivered over the time, unless the
    /// bucket was full in between.
    pub(super) fn fitted(transfer: &Transfer) -> Option<Self> {
        let mut best = rates(transfer)
            .into_iter()
            .filter_map(|rate| Self::at(transfer, rate))
            .min_by(|a, b| a.distance.total_cmp(&b.distance))?;
        for width in WIDTHS {
            let around = (-STEPS..=STEPS).map(|n| best.rate * (1.0 + width * f64::from(n)));
            let found = around.filter_map(|rate| Self::at(transfer, rate));
            best = found
                .min_by(|a, b| a.distance.total_cmp(&b.distance))
                .unwrap_or(best);
        }
        Some(best)
    }

    /// The bucket of a rate; `None` if it is too small to be seen.
    fn at(transfer: &Transfer, rate: f64) -> Option<Self> {
        let missing = missing(transfer, rate);
        let mut sorted = missing.clone();
        sorted.sort_by(f64::total_cmp);
        let size = *sorted.get((BELOW * missing.len() as f64) as usize)?;
        let trip = rate * transfer.base_s;
        if size < LEAST * trip {
            return None;
        }
        let near = (NEAR * trip.max(PACKETS * transfer.mss)).min(NEAR_SHARE * size);
        let n = missing.len() as f64;
        let distances = missing.iter().map(|m| (size - m) / near);
        Some(Self {
            rate,
            size,
            unexplained: distances.clone().filter(|d| *d > 1.0).count() as f64 / n,
            distance: distances.map(|d| d.abs().min(FURTHEST)).sum::<f64>() / n,
        })
    }
}

/// Tokens that a bucket of this rate lacks at each loss sample, bytes.
fn missing(transfer: &Transfer, rate: f64) -> Vec<f64> {
    let mut losses = transfer.losses.iter().peekable();
    let points = transfer.points.iter().map(|p| (p.at_s, p.bytes));
    let each = lacks(points, rate).enumerate();
    each.filter_map(|(at, lacks)| losses.next_if_eq(&&(at + 1)).map(|_| lacks))
        .collect()
}

/// Rates between pairs of loss samples.
fn rates(transfer: &Transfer) -> Vec<f64> {
    let losses = &transfer.losses;
    let anchors = ANCHORS.min(losses.len());
    let points: Vec<_> = (0..anchors)
        .map(|n| n * (losses.len() - 1) / (anchors - 1).max(1))
        .map(|n| &transfer.points[losses[n]])
        .collect();
    let mut rates = Vec::new();
    for (n, first) in points.iter().enumerate() {
        for second in &points[n + 1..] {
            let over_s = second.at_s - first.at_s;
            if over_s > transfer.base_s {
                rates.push((second.bytes - first.bytes) / over_s);
            }
        }
    }
    rates.retain(|rate| *rate > 0.0);
    rates
}
