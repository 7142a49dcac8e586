//! Transfers through simulated bottlenecks, by arithmetic. Each has a round trip of 100 ms and a
//! sender that adds a segment a round trip, and after a loss sends 0.7 of its window.

use model::run::Column;
use proptest::prelude::*;

use super::*;

const MSS: f64 = 1448.0;
const TRIP_S: f64 = 0.1;
const SAMPLE_S: f64 = 0.01;

/// A bottleneck: of a number of segments at a time, how many are lost, and the delay of the rest.
trait Path {
    fn passes(&mut self, at_s: f64, segments: f64) -> (f64, f64);
}

/// A token bucket: no delay.
struct Policer {
    rate: f64,
    size: f64,
    tokens: f64,
    at_s: f64,
}

impl Policer {
    fn full(rate: f64, size: f64) -> Self {
        let (tokens, at_s) = (size, 0.0);
        Self {
            rate,
            size,
            tokens,
            at_s,
        }
    }
}

impl Path for Policer {
    fn passes(&mut self, at_s: f64, segments: f64) -> (f64, f64) {
        self.tokens = self.size.min(self.tokens + self.rate * (at_s - self.at_s));
        self.at_s = at_s;
        let passed = segments.min((self.tokens / MSS).floor());
        self.tokens -= passed * MSS;
        (segments - passed, 0.0)
    }
}

/// A queue of a size, bytes.
struct Fifo {
    rate: f64,
    size: f64,
    backlog: f64,
    at_s: f64,
}

impl Path for Fifo {
    fn passes(&mut self, at_s: f64, segments: f64) -> (f64, f64) {
        self.backlog = (self.backlog - self.rate * (at_s - self.at_s)).max(0.0);
        self.at_s = at_s;
        let passed = segments.min(((self.size - self.backlog) / MSS).floor());
        self.backlog += passed * MSS;
        (segments - passed, self.backlog / self.rate)
    }
}

/// Each segment is lost with this chance, by a linear congruential generator (Knuth, MMIX).
struct Random {
    chance: f64,
    state: u64,
}

impl Path for Random {
    fn passes(&mut self, _: f64, segments: f64) -> (f64, f64) {
        let mut lost = 0.0;
        for _ in 0..segments as u64 {
            let next = self.state.wrapping_mul(6_364_136_223_846_793_005);
            self.state = next.wrapping_add(1_442_695_040_888_963_407);
            lost += f64::from((self.state >> 32) as u32 <= (self.chance * 2f64.powi(32)) as u32);
        }
        (lost, 0.0)
    }
}

/// Samples of a sender for some seconds. Every 10 ms it sends its share of the window; both the
/// arrival and the loss of a segment are known a round trip later.
fn samples(path: &mut dyn Path, for_s: f64) -> Series {
    let (mut window, mut due, mut calm_at_s) = (10.0_f64, 0.0, 0.0);
    let (mut delivered, mut lost, mut rtt_s) = (0.0, 0.0, TRIP_S);
    let mut starts = true;
    let mut values: Vec<[u64; 4]> = Vec::new();
    for n in 0..(for_s / SAMPLE_S) as usize {
        let at_s = n as f64 * SAMPLE_S;
        due += window * SAMPLE_S / rtt_s;
        let sent = f64::floor(due);
        due -= sent;
        let (dropped, delay_s) = path.passes(at_s, sent);
        delivered += sent - dropped;
        lost += dropped;
        rtt_s += (TRIP_S + delay_s - rtt_s) / 8.0;
        if dropped > 0.0 && at_s >= calm_at_s {
            (window, starts) = ((0.7 * window).max(2.0), false);
            calm_at_s = at_s + TRIP_S;
        }
        window += if starts { sent } else { SAMPLE_S / rtt_s };
        values.push([
            delivered as u64,
            lost as u64,
            (rtt_s * 1e6) as u64,
            sent as u64,
        ]);
    }
    let mut series = Series {
        at_us: (0..values.len() as i64).map(|n| n * 10_000).collect(),
        ..Series::default()
    };
    let column = |n: usize| values.iter().map(|v| Some(v[n])).collect::<Vec<_>>();
    series.push(Column::Delivered, column(0));
    series.push(Column::TotalRetrans, column(1));
    series.push(Column::RttUs, column(2));
    series.push(Column::SndMss, vec![Some(MSS as u64); values.len()]);
    series
}

fn close(found: Option<f64>, truth: f64, share: f64) -> bool {
    found.is_some_and(|value| (value / truth - 1.0).abs() <= share)
}

#[test]
fn a_policer_is_named_with_its_rate_and_burst() {
    // 3 Mbit/s and 200 kB: slow start passes the bucket before the first loss.
    let judged = Judgement::of(&samples(&mut Policer::full(375_000.0, 200_000.0), 30.0));
    assert_eq!(
        (judged.dropper, judged.rule),
        (Dropper::Policer, Rule::Bucket)
    );
    assert!(close(judged.rate_bps, 3e6, 0.01), "{judged:?}");
    // Within the slack of a fit, a round trip's bytes: 37.5 kB of 200 kB.
    assert!(close(judged.burst_bytes, 200_000.0, 0.1), "{judged:?}");
}

#[test]
fn a_full_queue_is_not_a_policer() {
    // 50 ms at 3 Mbit/s.
    let mut path = Fifo {
        rate: 375_000.0,
        size: 18_750.0,
        backlog: 0.0,
        at_s: 0.0,
    };
    let judged = Judgement::of(&samples(&mut path, 60.0));
    assert_eq!(
        (judged.dropper, judged.rule),
        (Dropper::Queue, Rule::Delay),
        "{judged:?}"
    );
}

/// All losses were near a bucket of two round trips, so that half of the transfers of 30 s seemed
/// policed.
#[test]
fn random_losses_have_no_bucket() {
    let mut policed = 0;
    for for_s in [15.0, 30.0, 60.0] {
        for chance in [0.001, 0.003, 0.01, 0.02, 0.05] {
            for seed in 1..=20 {
                let state = seed * 7919;
                let judged = Judgement::of(&samples(&mut Random { chance, state }, for_s));
                assert_ne!(judged.dropper, Dropper::Queue, "{judged:?}");
                policed += u32::from(judged.dropper == Dropper::Policer);
            }
        }
    }
    assert!(policed <= 3, "{policed} of 300, more than one in a hundred");
}

#[test]
fn a_transfer_within_the_burst_shows_nothing() {
    // 30 s at up to 300 segments a round trip would need more; in 0.5 s slow start sends 250 kB.
    let judged = Judgement::of(&samples(&mut Policer::full(375_000.0, 2e6), 0.5));
    assert_eq!(
        (judged.dropper, judged.rule),
        (Dropper::Unknown, Rule::FewLosses)
    );
    assert_eq!(judged.lost, 0.0);
}

#[test]
fn a_series_without_the_columns_is_not_judged() {
    assert_eq!(Judgement::of(&Series::default()).rule, Rule::NoSeries);
}

/// The kernel's gauge of lost segments counts those that are retransmitted and in flight.
#[test]
fn a_lost_segment_counts_once_while_it_is_repaired() {
    let mut series = Series {
        at_us: (0..5).map(|n| n * 10_000).collect(),
        ..Series::default()
    };
    // Two are taken for lost, retransmitted, and arrive one after the other.
    let columns = [
        (Column::Lost, [0, 2, 2, 1, 0]),
        (Column::TotalRetrans, [0, 0, 2, 2, 2]),
        (Column::Retrans, [0, 0, 2, 1, 0]),
        (Column::Delivered, [5, 8, 9, 10, 11]),
        (Column::RttUs, [100_000; 5]),
    ];
    for (column, values) in columns {
        series.push(column, values.map(Some).to_vec());
    }
    let transfer = Transfer::of(&series).unwrap();
    assert_eq!((transfer.lost(), transfer.losses.len()), (2.0, 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn policers_of_any_rate_and_burst_are_named(
        mbit in 1.0..20.0_f64,
        trips in 3.0..20.0_f64,
    ) {
        let rate = mbit * 125_000.0;
        let size = trips * TRIP_S * rate;
        let judged = Judgement::of(&samples(&mut Policer::full(rate, size), 120.0));
        // Where the window takes longer than the bucket to come back, too few losses follow.
        prop_assume!(judged.rule != Rule::FewLosses);
        prop_assert_eq!(judged.dropper, Dropper::Policer, "{:?}", judged);
        prop_assert!(close(judged.rate_bps, 8.0 * rate, 0.02), "{:?}", judged);
        prop_assert!(close(judged.burst_bytes, size, 0.2), "{:?}", judged);
    }
}
