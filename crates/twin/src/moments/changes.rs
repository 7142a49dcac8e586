//! The rate of a bottleneck over time, where it changes: radio links, satellites, a shaper that
//! somebody moves.
//!
//! While a queue is never empty, packets arrive at the rate of the bottleneck, whatever the
//! congestion control does. A load is cut into equal parts; those in which packets waited all the
//! time show the rate, and so do those in which BBR, which sends at the rate that it measures and
//! keeps queues short, had one rate for a while. If the rate differs beyond what packets and
//! samples explain, the twin has the course of it instead of one rate.

use std::time::Duration;

use analysis::{
    flow,
    models::packet_us,
    view::{DirectionView, Load},
};
use model::{
    cell::{RateStep, RateSteps, bounds::MIN_STEP},
    counter,
    net::Direction,
    run::{Column, FlowResult, Sample},
    text,
    text::{Text, Value},
    units::Rate,
    wire::Wire,
};

use super::{payload::on_wire, queue::TRAINS_US};

/// Shortest part of a load, µs: twenty samples of its series ...
const SHORTEST_US: f64 = 200_000.0;
/// ... and so many full packets, of which one at either end is chance.
const PACKETS: f64 = 40.0;
/// A queue is not empty while the smoothed round trip exceeds the slowest without load by so many
/// packets at the observed rate: one is sent, and one more may be chance.
const WAITING: f64 = 3.0;
/// BBR fills the path while so many parts in a row are within this share of their mean.
const STEADY: (usize, f64) = (3, 0.02);
/// A load of which this share of the parts shows the rate has its course, and so many parts of such
/// loads decide.
const MOST: f64 = 0.5;
const ENOUGH: usize = 12;
/// Ratio of the slow tenth to the fast tenth of the parts from which the rate is constant: two
/// packets in [`PACKETS`], and samples that are late by a few ms.
const CONSTANT: f64 = 0.8;
/// Parts in a row within this ratio of their mean have one rate.
const ALIKE: f64 = 0.1;

/// The rate over time of a bottleneck that changes it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Changes {
    /// The course of one load, which repeats.
    pub(super) steps: RateSteps,
    /// Mean over that time, bit/s with Ethernet headers.
    pub(super) mean_bps: f64,
    /// Bytes that waited at the end of a part; in nine of ten parts it was less.
    pub(super) waiting_bytes: f64,
}

impl Changes {
    /// What the reader should know of it.
    pub(super) fn note(&self, direction: Direction) -> Text {
        let rates = self.steps.steps.iter().map(|step| step.rate.bps() as f64);
        text!(
            "{direction}: the rate changes, from {least} to {most}; the twin repeats its course during one load, and what comes after is not known",
            direction = direction,
            least = Value::Bps(rates.clone().fold(f64::INFINITY, f64::min)),
            most = Value::Bps(rates.fold(0.0, f64::max))
        )
    }
}

/// A part of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Part {
    /// Bit/s with Ethernet headers.
    rate_bps: f64,
    /// Bytes that waited at its end, by the smoothed round trip.
    waiting_bytes: f64,
    /// True if it shows the rate of the bottleneck.
    full: bool,
}

/// Equal parts of one sample.
#[derive(Debug)]
struct Course {
    part_us: f64,
    parts: Vec<Part>,
}

/// The course of the rate; `None` if it is constant as far as the loads show, or if packets wait
/// without any load: then others use the line, and what they leave is no property of it.
pub(super) fn changes(dir: &DirectionView<'_>, wire: Wire) -> Option<Changes> {
    let others = dir.view.idle_rise_us().or(dir.view.idle_drift_us());
    if others.is_some() {
        return None;
    }
    let loads = dir.single_loads();
    let courses: Vec<Course> = loads
        .iter()
        .flat_map(|load| of_load(dir, load, wire))
        .collect();
    changing(&courses)
}

fn of_load(dir: &DirectionView<'_>, load: &Load, wire: Wire) -> Vec<Course> {
    let Some(idle_us) = dir.view.unqueued_us() else {
        return Vec::new();
    };
    let varies = dir.view.idle().and_then(|idle| idle.range_us());
    let base_us = idle_us + without_queue_us(varies);
    let mss = load.mss_bytes();
    let packet = mss * on_wire(dir, load, wire);
    let samples = dir.samples_of(load).into_iter();
    let mut courses: Vec<Course> = samples
        .filter_map(|sample| course(sample, packet, base_us))
        .collect();
    if load.cc == "bbr" {
        courses.iter_mut().for_each(|c| mark_steady(&mut c.parts));
    }
    courses.retain(|c| {
        c.parts.iter().filter(|p| p.full).count() as f64 >= MOST * c.parts.len() as f64
    });
    courses
}

/// Increase of TCP's round trip without a queue, µs: the variation of the idle path, and trains of
/// packets and acknowledgements.
fn without_queue_us(varies_us: Option<f64>) -> f64 {
    varies_us.unwrap_or(0.0) + TRAINS_US
}

/// Marks parts of a load of BBR in which it had one rate.
fn mark_steady(parts: &mut [Part]) {
    let (row, near) = STEADY;
    for start in 0..(parts.len() + 1).saturating_sub(row) {
        let some = &mut parts[start..start + row];
        let mean = some.iter().map(|p| p.rate_bps).sum::<f64>() / row as f64;
        let steady = some
            .iter()
            .all(|p| (p.rate_bps - mean).abs() <= near * mean);
        if steady && mean > 0.0 {
            some.iter_mut().for_each(|p| p.full = true);
        }
    }
}

/// The parts of a sample of one flow, whose packets have `packet` bytes on the line. Packets wait
/// where the smoothed round trip exceeds `base_us`.
fn course(sample: &Sample, packet: f64, base_us: f64) -> Option<Course> {
    let tcp = sample.tcp.as_ref()?;
    let [flow] = tcp.flows.as_slice() else {
        return None;
    };
    let seen = Seen::of(flow, packet, base_us)?;
    let [from, to] = tcp.window_us.map(|us| us as f64);
    let all = seen.packets([from as i64, to as i64])?;
    let packets_s = all / (to - from).max(1.0) * 1e6;
    let part_us = SHORTEST_US.max(PACKETS / packets_s.max(f64::MIN_POSITIVE) * 1e6);
    let count = ((to - from) / part_us).floor();
    let part_us = (to - from) / count;
    let at = |i: u32| (from + f64::from(i) * part_us).round() as i64;
    let parts: Option<Vec<Part>> = (0..count as u32)
        .map(|i| seen.part([at(i), at(i + 1)]))
        .collect();
    Some(Course {
        part_us,
        parts: parts.filter(|parts| !parts.is_empty())?,
    })
}

/// Series of one flow.
struct Seen {
    /// Full segments that the receiver got until a time, µs, in order or not: the bytes of those
    /// behind a gap count together when it is filled.
    arrived: Vec<(i64, f64)>,
    /// Smoothed round trips of the sender above that without a queue, µs.
    waited: Vec<(i64, f64)>,
    packet: f64,
}

impl Seen {
    fn of(flow: &FlowResult, packet: f64, base_us: f64) -> Option<Self> {
        let arrived = flow.received.as_ref()?.grown(Column::DataSegsIn);
        let rtts = flow.series.as_ref()?.points(Column::RttUs);
        let above = |us: u64| (us as f64 - base_us).max(0.0);
        Some(Self {
            arrived,
            waited: rtts.into_iter().map(|(at, us)| (at, above(us))).collect(),
            packet,
        })
    }

    fn packets(&self, [from, to]: [i64; 2]) -> Option<f64> {
        Some(counter::at(&self.arrived, to)? - counter::at(&self.arrived, from)?)
    }

    fn part(&self, [from, to]: [i64; 2]) -> Option<Part> {
        let bytes = self.packets([from, to])? * self.packet;
        let rate_bps = flow::rate_bps(bytes, (to - from) as f64)?;
        let before = |us: i64| self.waited.partition_point(|(at, _)| *at < us);
        let waited = &self.waited[before(from)..before(to).max(before(from))];
        let least = waited.iter().map(|(_, us)| *us).reduce(f64::min)?;
        let (_, last) = waited.last()?;
        Some(Part {
            rate_bps,
            waiting_bytes: last / 1e6 * rate_bps / 8.0,
            full: rate_bps > 0.0 && least > WAITING * packet_us(rate_bps),
        })
    }
}

/// The course of all loads, if the rate is not constant.
fn changing(courses: &[Course]) -> Option<Changes> {
    let all = || courses.iter().flat_map(|course| &course.parts);
    let full: Vec<f64> = all().filter(|p| p.full).map(|p| p.rate_bps).collect();
    let [slow, fast] = [10.0, 90.0].map(|p| stats::percentile(&full, p));
    if full.len() < ENOUGH || slow? >= CONSTANT * fast? {
        return None;
    }
    let waiting: Vec<f64> = all().map(|p| p.waiting_bytes).collect();
    let middle = stats::mean(&full)?;
    let typical = typical(courses, middle)?;
    let steps = steps(typical)?;
    Some(Changes {
        mean_bps: steps.average(Rate::from_bps(middle.round() as u64)).bps() as f64,
        steps,
        waiting_bytes: stats::percentile(&waiting, 90.0)?,
    })
}

/// Of the longest courses, the one whose mean is nearest to that of all.
fn typical(courses: &[Course], mean_bps: f64) -> Option<&Course> {
    let mean = |course: &Course| {
        let full = course.parts.iter().filter(|p| p.full);
        stats::mean(&full.map(|p| p.rate_bps).collect::<Vec<_>>())
    };
    let length = |course: &Course| course.part_us * course.parts.len() as f64;
    let longest = courses.iter().map(length).fold(0.0, f64::max);
    let long = courses.iter().filter(|c| length(c) > 0.9 * longest);
    let near = long.filter_map(|c| Some((c, (mean(c)? / mean_bps).ln().abs())));
    let best = near.min_by(|a, b| a.1.total_cmp(&b.1));
    best.map(|(course, _)| course)
}

/// The changes of a course: parts in a row that are alike have their mean. A part without a queue
/// shows no rate, and has that of the one before. `None` if there are none: then the rate of each
/// load is constant, and no course would be that of another.
fn steps(course: &Course) -> Option<RateSteps> {
    let first = course.parts.iter().find(|p| p.full)?.rate_bps;
    let rates = course.parts.iter().scan(first, |rate, part| {
        if part.full {
            *rate = part.rate_bps;
        }
        Some(*rate)
    });
    // Sum and number of the parts of each rate.
    let mut alike: Vec<(f64, u32)> = Vec::new();
    for rate in rates {
        match alike.last_mut() {
            Some((sum, n)) if (rate / (*sum / f64::from(*n)) - 1.0).abs() < ALIKE => {
                *sum += rate;
                *n += 1;
            }
            _ => alike.push((rate, 1)),
        }
    }
    let mut passed = 0;
    let mut all = Vec::new();
    let at = |parts: u32| Duration::from_micros((f64::from(parts) * course.part_us).round() as u64);
    for (sum, n) in alike {
        let bps = (sum / f64::from(n)).round() as u64;
        let rate = Rate::from_bps(bps).max(MIN_STEP);
        all.push(RateStep {
            at: at(passed),
            rate,
        });
        passed += n;
    }
    (all.len() > 1).then(|| RateSteps {
        steps: all,
        repeat: Some(at(passed)),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use model::run::Series;

    use super::*;

    const PART_US: f64 = 200_000.0;

    /// Parts of a load: their rates in Mbit/s, and whether a queue waited.
    fn course(rates: impl IntoIterator<Item = (f64, bool)>) -> Course {
        let part = |(mbps, full): (f64, bool)| Part {
            rate_bps: mbps * 1e6,
            waiting_bytes: if full { 100e3 } else { 0.0 },
            full,
        };
        Course {
            part_us: PART_US,
            parts: rates.into_iter().map(part).collect(),
        }
    }

    /// So many parts of each rate, with a queue.
    fn waited(levels: &[(f64, usize)]) -> Course {
        let each = levels.iter().map(|&(mbps, n)| vec![(mbps, true); n]);
        course(each.flatten())
    }

    #[test]
    fn a_rate_that_changes_has_the_course_of_its_levels() {
        let found = changing(&[waited(&[(40.0, 10), (20.0, 10), (30.0, 10)])]).unwrap();
        let steps = &found.steps;
        let at: Vec<(u128, u64)> = (steps.steps.iter())
            .map(|s| (s.at.as_millis(), s.rate.bps()))
            .collect();
        let levels = [(0, 40_000_000), (2000, 20_000_000), (4000, 30_000_000)];
        assert_eq!(at, levels);
        assert_eq!(steps.repeat, Some(Duration::from_secs(6)));
        assert!((found.mean_bps / 30e6 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn one_rate_is_no_course() {
        // Two packets more or less in forty.
        let noisy = (0..30).map(|i| (if i % 2 == 0 { 28.6 } else { 31.4 }, true));
        assert_eq!(changing(&[course(noisy)]), None);
    }

    #[test]
    fn a_window_below_the_rate_shows_none() {
        // CUBIC on a line of 20 Mbit/s, whose queue is empty after each loss.
        let saw = (0..60).map(|i| {
            let mbps = 14.0 + f64::from(i % 20) * 0.4;
            (mbps.min(20.0), mbps >= 20.0)
        });
        assert_eq!(changing(&[course(saw)]), None);
    }

    #[test]
    fn parts_without_a_queue_have_the_rate_before_them() {
        let gap = [(40.0, true); 10].into_iter().chain([(31.0, false); 5]);
        let found = changing(&[course(gap.chain([(20.0, true); 10]))]).unwrap();
        let rates: Vec<u64> = found.steps.steps.iter().map(|s| s.rate.bps()).collect();
        assert_eq!(rates, [40_000_000, 20_000_000]);
        assert_eq!(found.steps.steps[1].at, Duration::from_secs(3));
    }

    #[test]
    fn bbr_shows_the_rate_while_it_is_constant_without_any_queue() {
        let levels = [25.0, 24.9, 25.0, 25.1, 18.2, 12.0, 12.0, 11.9, 14.0];
        let mut bbr = course(levels.map(|mbps| (mbps, false)));
        mark_steady(&mut bbr.parts);
        let full: Vec<bool> = bbr.parts.iter().map(|p| p.full).collect();
        let known = [true, true, true, true, false, true, true, true, false];
        assert_eq!(full, known);
        mark_steady(&mut []);
    }

    /// Bug: the smallest round trip of TCP is of whole milliseconds on some hosts, 0.8 ms below
    /// that of the idle path. Each part of a load with random loss then seemed to wait in a queue,
    /// and a rate that never changed had the course of CUBIC's window.
    #[test]
    fn round_trips_of_acknowledgements_that_wait_for_one_another_are_no_queue() {
        let (idle_us, packet) = (31_774.0, 1514.0);
        let of = |rtt_us: u64| {
            let mut received = Series {
                at_us: vec![0, 200_000],
                ..Series::default()
            };
            // 41 Mbit/s of 61.
            received.push(Column::DataSegsIn, vec![Some(0), Some(677)]);
            let mut sent = Series {
                at_us: vec![50_000, 150_000],
                ..Series::default()
            };
            sent.push(Column::RttUs, vec![Some(rtt_us), Some(rtt_us + 300)]);
            let flow = FlowResult {
                received: Some(received),
                series: Some(sent),
                ..FlowResult::default()
            };
            let seen = Seen::of(&flow, packet, idle_us + without_queue_us(Some(0.6))).unwrap();
            seen.part([0, 200_000]).unwrap()
        };
        assert!(!of(32_232).full && !of(33_000).full);
        let waits = of(41_767);
        assert!(waits.full && (waits.rate_bps / 41e6 - 1.0).abs() < 0.01);
    }

    /// The rates of the lab are at least 64 kbit/s.
    #[test]
    fn an_outage_has_the_smallest_rate_that_the_lab_has() {
        let found = changing(&[waited(&[(10.0, 20), (0.01, 5)])]).unwrap();
        assert_eq!(found.steps.steps[1].rate, MIN_STEP);
        assert_eq!(model::cell::steps_alone_rule(&found.steps), None);
    }
}
