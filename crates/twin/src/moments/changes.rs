//! The rate of a bottleneck over time, where it changes: radio links, satellites, a shaper that
//! somebody moves.
//!
//! While a queue is never empty, packets arrive at the rate of the bottleneck, whatever the
//! congestion control does. A load is cut into equal parts; those in which packets waited all the
//! time show the rate, and so do those in which BBR, which sends at the rate that it measures and
//! keeps queues short, had one rate for a while. If the rate differs beyond what packets and
//! samples explain, the twin has the rate over time of one load.

mod course;

use std::time::Duration;

use analysis::view::DirectionView;
use model::{
    cell::{RateStep, RateSteps, bounds::MIN_STEP},
    net::Direction,
    text,
    text::{Text, Value},
    units::Rate,
    wire::Wire,
};

use course::Course;

/// A load of which this share of the parts shows the rate has its course, and so many parts of such
/// loads decide.
const MOST: f64 = 0.5;
const ENOUGH: usize = 12;
/// Ratio of the slow tenth to the fast tenth of the parts from which the rate is constant: a part
/// has two packets more or less in forty, and samples that are late by a few ms.
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
            "{direction}: the rate changes, from {least} to {most}; the twin repeats the rates over time of one load, and what comes after is not known",
            direction = direction,
            least = Value::Bps(rates.clone().fold(f64::INFINITY, f64::min)),
            most = Value::Bps(rates.fold(0.0, f64::max))
        )
    }
}

/// The course of the rate; `None` if it is constant as far as the loads show, or if packets wait
/// without any load: then others use the line, and what they leave is no property of it.
pub(super) fn changes(dir: &DirectionView<'_>, wire: Wire) -> Option<Changes> {
    let others = dir.view.idle_rise_us().or(dir.view.idle_drift_us());
    if others.is_some() {
        return None;
    }
    let loads = dir.single_loads();
    let mut courses: Vec<Course> = loads
        .iter()
        .flat_map(|load| course::of_load(dir, load, wire))
        .collect();
    courses.retain(|c| c.rates_bps().count() as f64 >= MOST * c.parts.len() as f64);
    changing(&courses)
}

/// The course of all loads, if the rate is not constant.
fn changing(courses: &[Course]) -> Option<Changes> {
    let full: Vec<f64> = courses.iter().flat_map(Course::rates_bps).collect();
    let [slow, fast] = [10.0, 90.0].map(|p| stats::percentile(&full, p));
    if full.len() < ENOUGH || slow? >= CONSTANT * fast? {
        return None;
    }
    let parts = courses.iter().flat_map(|course| &course.parts);
    let waiting: Vec<f64> = parts.map(|p| p.waiting_bytes).collect();
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
    let mean = |course: &Course| stats::mean(&course.rates_bps().collect::<Vec<_>>());
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
    let first = course.rates_bps().next()?;
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

    use super::{course::Part, *};

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

    /// The rates of the lab are at least 64 kbit/s.
    #[test]
    fn an_outage_has_the_smallest_rate_that_the_lab_has() {
        let found = changing(&[waited(&[(10.0, 20), (0.01, 5)])]).unwrap();
        assert_eq!(found.steps.steps[1].rate, MIN_STEP);
        assert_eq!(model::cell::steps_alone_rule(&found.steps), None);
    }
}
