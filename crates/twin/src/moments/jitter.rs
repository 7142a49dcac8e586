//! Variation of the delay, from idle probes and from denser traffic.
//!
//! Probes without load see how far packets are delayed, but not in which direction, nor whether
//! each packet is delayed on its own. Both show beside UDP that fills no queue: what follows a
//! delayed packet waits for it, so that the denser the packets of a direction with such a delay,
//! the longer its median; a delay that comes and goes for all packets together is the same for
//! dense traffic.

use std::time::Duration;

use analysis::{
    distribution::Distribution,
    view::{DirectionView, View},
};
use model::{
    cell::{Quantile, Quantiles, bounds::MAX_QUANTILE},
    net::Direction,
    run::{StepKind, SweepStep},
    units::Share,
};
use stats::Random;

/// Variation of the delay of a path.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Jitter {
    /// Half width of a uniform variation in each direction, s; 0 beside a distribution.
    pub(super) half_width_s: f64,
    /// Distributions of the added delay, down and up.
    pub(super) quantiles: [Option<Quantiles>; 2],
}

/// Fewest idle probes that show the slowest hundredth.
const PROBES: usize = 150;
/// Ratio of the 99th to the 95th percentile, both above the median, from which delays are not
/// uniform: the sum of two uniform ones has 1.26, and none has more than 1.46.
const TAIL: f64 = 1.6;
/// Smallest such tail, s: less is the scheduling of hosts.
const LEAST_S: f64 = 1e-3;
/// Shares at which a distribution is described.
const SHARES: [f64; 11] = [
    0.25, 0.5, 0.75, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 1.0,
];
/// Packets of a simulation, and rounds of the search.
const PACKETS: usize = 6000;
const ROUNDS: usize = 12;
/// Median beside a load of UDP that differs from the predicted one by this much is as predicted: s,
/// and share of it. It is one of some hundred probes, which wait for the same packets.
const NEAR: (f64, f64) = (1.5e-3, 0.5);
/// Medians above the idle one by less than this show nothing, s.
const SHOWS_S: f64 = 1e-3;

impl Jitter {
    /// Of a view; a uniform variation is at most `most_s`.
    pub(super) fn of(view: &View<'_>, most_s: f64) -> Self {
        match tables(view) {
            Some(quantiles) => Self {
                half_width_s: 0.0,
                quantiles,
            },
            None => Self {
                half_width_s: uniform_s(view).min(most_s),
                quantiles: [None, None],
            },
        }
    }
}

/// Delays above the smallest of the idle probes at [`SHARES`], s, if they have a tail.
fn tail(view: &View<'_>) -> Option<Vec<f64>> {
    let idle = view.samples().filter(|s| s.key.step == StepKind::Idle);
    let all = Distribution::of(idle);
    if all.len() < PROBES {
        return None;
    }
    let least = all.min_us()?;
    let at = |share: f64| Some((all.at_us(share)? - least) / 1e6);
    let [p50, p95, p99] = [at(0.5)?, at(0.95)?, at(0.99)?];
    let heavy = p99 - p50 > TAIL * (p95 - p50) && p99 - p50 > LEAST_S;
    let delays: Option<Vec<f64>> = SHARES.iter().map(|share| at(*share)).collect();
    delays.filter(|_| heavy)
}

/// The distributions that explain both the idle probes and those beside UDP; `None` if none does.
fn tables(view: &View<'_>) -> Option<[Option<Quantiles>; 2]> {
    let idle = tail(view)?;
    let spacing_s = view.idle_interval_us().filter(|us| *us > 0.0)? / 1e6;
    let directions = [Direction::Down, Direction::Up].map(|d| view.direction(d));
    let floor_s = view.idle()?.min_us / 1e6;
    let dense: [Vec<Dense>; 2] = directions.map(|dir| dense(&dir, floor_s));
    let places = [[true, false], [false, true], [true, true]];
    let tried = places.iter().filter_map(|place| {
        let table = fitted(&idle, *place, spacing_s);
        let error = error(&table, *place, &dense, spacing_s)?;
        Some((error, *place, table))
    });
    let (error, place, table) = tried.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let quantiles = described(&table)?;
    (error <= 1.0).then(|| place.map(|is| is.then(|| quantiles.clone())))
}

/// UDP that fills no queue: interval of its packets, and the median delay beside it above the
/// smallest, s.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Dense {
    spacing_s: f64,
    delay_s: f64,
}

fn dense(dir: &DirectionView<'_>, floor_s: f64) -> Vec<Dense> {
    let Some(sweep) = dir.sweep() else {
        return Vec::new();
    };
    let of = |step: &SweepStep| {
        let spacing_s = f64::from(step.udp.payload) * 8.0 / step.udp.sent_bps;
        let delay_s = step.rtt_p50_us? / 1e6 - floor_s;
        spacing_s
            .is_finite()
            .then_some(Dense { spacing_s, delay_s })
    };
    let below = sweep.steps.iter().filter(|s| sweep.leaves_room(&s.udp));
    below.filter_map(of).collect()
}

/// The largest error of the predicted medians beside UDP, in units of [`NEAR`]; `None` if none of
/// them would differ from the idle one: then nothing tells the directions apart.
fn error(table: &[f64], place: [bool; 2], dense: &[Vec<Dense>; 2], spacing_s: f64) -> Option<f64> {
    let median = |delays: &[f64]| stats::median(delays).unwrap_or(0.0);
    let idle = median(&sum(table, place, spacing_s));
    let own = held(table, spacing_s, 1);
    let mut shown = false;
    let mut worst = 0.0_f64;
    for (direction, steps) in dense.iter().enumerate() {
        for step in steps {
            let with = || held(table, step.spacing_s, 2);
            let predicted = match place {
                _ if !place[direction] => idle,
                [true, true] => median(&added(with(), &own)),
                _ => median(&with()),
            };
            shown |= predicted > idle + SHOWS_S;
            let near = NEAR.0.max(NEAR.1 * predicted);
            worst = worst.max((predicted - step.delay_s).abs() / near);
        }
    }
    shown.then_some(worst)
}

/// The distribution of one direction with which probes have these delays.
fn fitted(idle: &[f64], place: [bool; 2], spacing_s: f64) -> Vec<f64> {
    let mut table = idle.to_vec();
    for _ in 0..ROUNDS {
        let all = sum(&table, place, spacing_s);
        for ((value, share), wanted) in table.iter_mut().zip(SHARES).zip(idle) {
            let now = stats::percentile(&all, share * 100.0).unwrap_or(0.0);
            if now > 0.0 {
                *value *= (wanted / now).clamp(0.5, 2.0);
            }
        }
        for i in 1..table.len() {
            table[i] = table[i].max(table[i - 1]);
        }
    }
    table
}

/// Round trips above the smallest with a distribution in some directions, for packets of this
/// interval, s.
fn sum(table: &[f64], place: [bool; 2], spacing_s: f64) -> Vec<f64> {
    let with = [1, 2].into_iter().zip(place).filter(|(_, is)| *is);
    with.map(|(seed, _)| held(table, spacing_s, seed))
        .fold(vec![0.0; PACKETS], |all, more| added(all, &more))
}

fn added(all: Vec<f64>, more: &[f64]) -> Vec<f64> {
    all.into_iter().zip(more).map(|(a, b)| a + b).collect()
}

/// Delays of packets with an interval, of which each is delayed on its own and none overtakes, s.
fn held(table: &[f64], spacing_s: f64, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    let mut last = f64::NEG_INFINITY;
    let packet = |i: usize| {
        let sent = i as f64 * spacing_s;
        last = last.max(sent + drawn(table, random.unit()));
        last - sent
    };
    (0..PACKETS).map(packet).collect()
}

/// The value of a table at a share: 0 at none, linear between.
fn drawn(table: &[f64], share: f64) -> f64 {
    let (mut from, mut low) = (0.0, 0.0);
    for (to, high) in SHARES.into_iter().zip(table) {
        if share <= to {
            return low + (share - from) / (to - from) * (high - low);
        }
        (from, low) = (to, *high);
    }
    low
}

/// A table as the lab takes it; `None` if there is nothing in it.
fn described(table: &[f64]) -> Option<Quantiles> {
    let one = |(share, delay_s): (f64, &f64)| {
        let delay = Duration::from_secs_f64(delay_s.max(0.0)).min(MAX_QUANTILE);
        let delay = Duration::from_micros(delay.as_micros() as u64);
        Some(Quantile {
            share: Share::new(share)?,
            delay,
        })
    };
    let all: Option<Vec<Quantile>> = SHARES.into_iter().zip(table).map(one).collect();
    all.map(Quantiles).filter(|q| !q.most().is_zero())
}

/// Half width of a uniform variation in each direction, from the idle probes. The sum of two such
/// has a triangular distribution on [-2j, 2j], whose 95th percentile is 2j (1 - sqrt(0.1)) above
/// its median, and whose smallest value of some 150 is about as far below it as 2j (1 - sqrt(2 /
/// 150)). A host that pauses delays some probes and hastens none: then the smallest decides.
fn uniform_s(view: &View<'_>) -> f64 {
    const P95: f64 = 2.0 * (1.0 - 0.316_227_766);
    const SMALLEST: f64 = 1.77;
    /// Ratio of the two below which the variation is not that of a path.
    const ONE_SIDED: f64 = 0.5;
    /// Variation that the scheduling of two hosts explains, s; and that of the lab.
    const OF_HOSTS: f64 = 300e-6;
    const OF_LAB: f64 = 100e-6;
    let own = if view.lab() { OF_LAB } else { OF_HOSTS };
    let variation = |us: f64| Some(us / 1e6).filter(|s| *s > own).unwrap_or(0.0);
    let Some(idle) = view.idle() else { return 0.0 };
    let above = idle.variation_us().map_or(0.0, variation) / P95;
    let below = variation(idle.p50_us - idle.min_us) / SMALLEST;
    if below < ONE_SIDED * above {
        below
    } else {
        above
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds at [`SHARES`]: half a millisecond in nine of ten packets, and up to 25 ms.
    const LONG_TAIL: [f64; 11] = [
        0.14e-3, 0.28e-3, 0.42e-3, 0.47e-3, 0.5e-3, 2e-3, 2.8e-3, 4e-3, 9e-3, 15e-3, 25e-3,
    ];
    const PROBE_S: f64 = 0.01;
    const DENSE_S: f64 = 0.5e-3;

    fn quantiles_of(delays: &[f64]) -> Vec<f64> {
        let at = |share: f64| stats::percentile(delays, share * 100.0).unwrap_or(0.0);
        SHARES.iter().map(|share| at(*share)).collect()
    }

    /// What the medians beside UDP are with a table in some directions; other random numbers than
    /// those of the fit.
    fn medians(place: [bool; 2]) -> [Vec<Dense>; 2] {
        [0, 1].map(|direction| {
            let held_by = |d: usize| match (place[d], d == direction) {
                (false, _) => vec![0.0; PACKETS],
                (true, true) => held(&LONG_TAIL, DENSE_S, 11),
                (true, false) => held(&LONG_TAIL, PROBE_S, 12),
            };
            let both: Vec<f64> = (held_by(0).iter().zip(held_by(1)))
                .map(|(a, b)| a + b)
                .collect();
            vec![Dense {
                spacing_s: DENSE_S,
                delay_s: stats::median(&both).unwrap_or(0.0),
            }]
        })
    }

    fn error_with(place: [bool; 2], truth: [bool; 2]) -> f64 {
        let probes = quantiles_of(&sum(&LONG_TAIL, truth, PROBE_S));
        let table = fitted(&probes, place, PROBE_S);
        error(&table, place, &medians(truth), PROBE_S).unwrap_or(f64::INFINITY)
    }

    #[test]
    fn denser_traffic_tells_in_which_direction_packets_are_delayed() {
        for truth in [[true, false], [false, true]] {
            let wrong = [truth[1], truth[0]];
            let [right, other] = [truth, wrong].map(|place| error_with(place, truth));
            assert!(right < 0.5 && other > 1.0, "{truth:?}: {right} {other}");
        }
        let [both, one] = [[true, true], [true, false]].map(|p| error_with(p, [true, true]));
        assert!(both < 1.0 && both < one, "{both} {one}");
    }

    #[test]
    fn a_table_of_one_direction_is_recovered_from_probes_that_wait_for_one_another() {
        let probes = quantiles_of(&held(&LONG_TAIL, PROBE_S, 5));
        let table = fitted(&probes, [true, false], PROBE_S);
        for (found, truth) in table.iter().zip(LONG_TAIL).skip(4) {
            assert!((found / truth - 1.0).abs() < 0.4, "{table:?}");
        }
    }

    /// A host that pauses, or a radio that sleeps, delays all packets of a moment together: dense
    /// traffic then has no longer median, and no distribution of single packets is like it.
    #[test]
    fn delays_that_come_and_go_for_all_packets_are_no_table() {
        let probes = quantiles_of(&held(&LONG_TAIL, PROBE_S, 5));
        let table = fitted(&probes, [true, false], PROBE_S);
        let calm = Dense {
            spacing_s: DENSE_S / 4.0,
            delay_s: 0.3e-3,
        };
        let error = error(&table, [true, false], &[vec![calm], vec![calm]], PROBE_S);
        assert!(error.is_some_and(|e| e > 1.0), "{error:?}");
    }

    #[test]
    fn without_dense_traffic_nothing_tells_the_directions_apart() {
        let nothing = error(&LONG_TAIL, [true, false], &[vec![], vec![]], PROBE_S);
        assert_eq!(nothing, None);
    }
}
