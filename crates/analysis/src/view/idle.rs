//! How the idle round trip varies: slowly, as a queue does that others fill and drain, or from
//! packet to packet, as jitter does.

use model::run::{Column, Probes, StepKind};

use super::View;
use crate::{models, over_time::interval_us};

/// Rise of the round trip above the smallest of the Run that shows a queue, µs ...
const RISES_US: f64 = 2_000.0;
/// ... and as a share of that smallest one.
const RISES: f64 = 0.05;
/// Idle median above the smallest round trip that a queue makes if probes also get lost, µs: jitter
/// is mostly a part of the round trip, and where radio makes it a multiple, its retransmissions
/// leave no loss.
const FAR_US: f64 = 10_000.0;
/// Share of idle probes that a full queue drops at least.
const DROPS: f64 = 0.01;

/// Time over which the delays of two probes are independent where they vary by chance, µs: jitter
/// is drawn for each packet, a queue fills and empties over many round trips.
const APART_US: i64 = 40_000;
/// Correlation of idle delay over that time from which its variation is attributed to a queue, not
/// to chance.
const SLOW: f64 = 0.6;
/// The same from which it is not chance that it varies slowly, for some hundred probes: of 109
/// drawn paths with random loss and without other traffic, none varied by more than [`DRIFTS_US`]
/// with as much correlation (draws 1, 2, 1000 and 1001 of docs/drawn.md).
const DRIFT: f64 = 0.3;
/// The same below which it varies from packet to packet: two standard errors above 0, of 200
/// probes.
const CHANCE: f64 = 0.15;
/// Variation of the idle round trip above that of hosts and clocks, µs.
const DRIFTS_US: f64 = 1_000.0;

/// Share of the falls of the round trip that are as fast as time passes, from which packets are
/// held and released together, in order, as by jitter or a radio that sends again: a queue of
/// others falls like this only while nothing of theirs arrives.
const RELEASED: f64 = 0.5;
/// Slope of such a fall.
const AS_TIME: f64 = 0.9;
/// Slope from which the round trip falls.
const FALLS: f64 = 0.1;
/// Minimum number of falls that are not chance.
const MIN_FALLS: usize = 20;
/// Packets of the slowest direction in the time between two probes from which a queue of others
/// shows its growth between them, not single packets.
const PACKETS: f64 = 2.5;

impl View<'_> {
    /// Rise above the smallest round trip from which a queue shows, µs.
    pub fn rise_limit_us(&self) -> f64 {
        RISES_US.max(RISES * self.floor_us().unwrap_or(0.0))
    }

    /// Idle round trip above the path's smallest, µs, if a queue that others fill explains it: it
    /// never returns to the smallest one, varies as slowly as a queue, or mostly waits where
    /// packets get lost.
    pub fn idle_rise_us(&self) -> Option<f64> {
        let (idle, floor, limit) = (self.idle()?, self.floor_us()?, self.rise_limit_us());
        let never = idle.min_us - floor > limit.max(self.idle_chance_us());
        let slow = self.varies_slowly(SLOW);
        let rise = idle.p50_us - floor;
        let varies = idle.variation_us().is_some_and(|us| us > limit);
        let drops = idle.lost > DROPS * idle.sent;
        let far = varies && drops && rise > floor.max(FAR_US);
        (never || far || slow && rise > limit).then_some(rise)
    }

    /// Returns true if the idle round trip does not vary, so that nothing of others passes.
    pub fn is_calm(&self) -> bool {
        let varies = self.idle().and_then(|idle| idle.variation_us());
        varies.is_some_and(|us| us <= DRIFTS_US)
    }

    /// Variation of the idle round trip, µs, if it is slow, as that of a queue that others fill and
    /// drain: a sign of other traffic also where its queue is short.
    pub fn idle_drift_us(&self) -> Option<f64> {
        let varies = self.idle()?.variation_us().filter(|us| *us > DRIFTS_US)?;
        self.varies_slowly(DRIFT).then_some(varies)
    }

    /// Range of the idle round trip, µs, if it varies from packet to packet: the smallest of some
    /// hundred is chance then, and only what exceeds that range shows a queue. 0 otherwise.
    pub fn idle_chance_us(&self) -> f64 {
        let by_chance = self.idle_correlation().is_some_and(|c| c < CHANCE);
        let range = self.idle().and_then(|idle| idle.range_us());
        range
            .filter(|_| by_chance || self.releases_together())
            .unwrap_or(0.0)
    }

    /// Round trip, µs, that 19 of 20 idle ones stay below by chance, because delay varies from
    /// packet to packet: a higher one shows a queue. 0 where it does not.
    pub fn usual_by_chance_us(&self) -> f64 {
        let varies = self.idle_chance_us() > 0.0;
        let p95_us = self.idle().and_then(|idle| idle.p95_us);
        p95_us.filter(|_| varies).unwrap_or(0.0)
    }

    /// Correlation of the delay of idle probes with that of probes 40 ms later: close to 1 while a
    /// queue drains and fills, close to 0 where delay varies by chance. `None` without the series.
    pub fn idle_correlation(&self) -> Option<f64> {
        self.of_idle_probes(correlation)
    }

    /// Usual interval between idle probes, µs; `None` without the series.
    pub fn idle_interval_us(&self) -> Option<f64> {
        self.of_idle_probes(|probes| interval_us(probes.series.as_ref()?))
    }

    fn varies_slowly(&self, least: f64) -> bool {
        let slow = self.idle_correlation().is_some_and(|c| c >= least);
        slow && !self.releases_together()
    }

    /// Returns true if idle probes that wait arrive together, and single packets of a queue cannot
    /// be the reason. Jitter of more than 40 ms in order then correlates over that time.
    fn releases_together(&self) -> bool {
        let directions = self.directions();
        let slowest = directions.iter().filter_map(|dir| dir.carried_bps());
        let Some(slowest) = slowest.reduce(f64::min) else {
            return false;
        };
        let packets_us = PACKETS * models::packet_us(slowest);
        let share = self.of_idle_probes(|probes| released(probes, packets_us));
        share.is_some_and(|share| share >= RELEASED)
    }

    /// The median of a figure over the idle samples with a series.
    fn of_idle_probes(&self, of: impl Fn(&Probes) -> Option<f64>) -> Option<f64> {
        let idle = self.samples().filter(|s| s.key.step == StepKind::Idle);
        let values: Vec<f64> = idle.filter_map(|s| of(s.probes.as_ref()?)).collect();
        stats::median(&values)
    }
}

/// Autocorrelation of round trips at [`APART_US`].
fn correlation(probes: &Probes) -> Option<f64> {
    let points = probes.series.as_ref()?.points(Column::RttNs);
    let (first, second) = (points.first()?, points.get(1)?);
    let apart = (second.0 - first.0).max(1);
    let lag = (APART_US / apart).max(1) as usize;
    let values: Vec<f64> = points.iter().map(|(_, ns)| *ns as f64).collect();
    if values.len() < 4 * lag {
        return None;
    }
    let mean = stats::mean(&values)?;
    let total: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    let pairs = values.iter().zip(values.iter().skip(lag));
    let shared: f64 = pairs.map(|(a, b)| (a - mean) * (b - mean)).sum();
    (total > 0.0).then(|| shared / total)
}

/// Share of the falls of the round trip that are as fast as time passes; `None` with few of them,
/// or with probes closer than `least_us`.
fn released(probes: &Probes, least_us: f64) -> Option<f64> {
    let points = probes.series.as_ref()?.points(Column::RttNs);
    let slope = |pair: &[(i64, u64)]| {
        let apart_us = (pair[1].0 - pair[0].0) as f64;
        let falls_us = (pair[0].1 as f64 - pair[1].1 as f64) / 1e3;
        (apart_us >= least_us).then(|| falls_us / apart_us)
    };
    let slopes = points.windows(2).filter_map(slope);
    let falls: Vec<f64> = slopes.filter(|slope| *slope >= FALLS).collect();
    let fast = falls.iter().filter(|slope| **slope >= AS_TIME).count();
    (falls.len() >= MIN_FALLS).then(|| fast as f64 / falls.len() as f64)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use model::run::Series;

    /// 200 probes, every 10 ms, with these round trips in ns.
    fn probes(rtt: impl Fn(i64) -> u64) -> Probes {
        let mut series = Series {
            at_us: (0..200).map(|n| n * 10_000).collect(),
            ..Series::default()
        };
        series.push(Column::RttNs, (0..200).map(|n| Some(rtt(n))).collect());
        Probes {
            series: Some(series),
            ..Probes::default()
        }
    }

    /// Jitter of ±10 ms and a queue of 20 ms that others fill have the same percentiles.
    #[test]
    fn a_queue_is_distinguished_from_jitter_by_its_slowness() {
        let queue = probes(|n| 30_000_000 + 100_000 * n as u64);
        assert!(correlation(&queue).unwrap() > 0.8);
        let mut random = stats::Random::new(7);
        let drawn: Vec<u64> = (0..200).map(|_| random.next_u64() % 20_000_000).collect();
        let jitter = probes(|n| 30_000_000 + drawn[n as usize]);
        assert!(correlation(&jitter).unwrap().abs() < 0.3);
    }

    /// Bug: jitter of more than 40 ms in order, behind which packets wait for one another, varied
    /// as slowly as a queue of others. They arrive together, so that each round trip is as much
    /// shorter than the one before as time has passed.
    #[test]
    fn packets_behind_a_late_one_arrive_with_it() {
        let late = probes(|n| 110_000_000 - 10_000_000 * (n as u64 % 7));
        assert_eq!(released(&late, 0.0), Some(1.0));
        // Behind one packet of 20 ms, probes wait in the same way.
        assert_eq!(released(&late, 20_000.0), None);
    }

    #[test]
    fn a_queue_into_which_others_send_drains_slower_than_time_passes() {
        let queue = probes(|n| 110_000_000 - 5_000_000 * (n as u64 % 13));
        assert_eq!(released(&queue, 0.0), Some(0.0));
    }
}
