//! Random paths with a feature that no twin has, and that the fit is not told of.

use std::time::Duration;

use model::{
    cell::{Policer, Queue, RateStep, RateSteps},
    net::{Direction, LoadDirection},
    path::{Competitor, CompetitorKind, Limit, Nanos, Parameter, Path, PathError},
    units::{Bytes, Rate},
};
use stats::Random;

use super::{
    draw::{self, Drawn, between},
    feature::{Feature, SPAN_S},
};

/// `count` paths like those of [`draw::draw`], each with one feature.
///
/// # Errors
/// The lab cannot make a drawn path; that would be a bug.
pub fn beyond(count: usize, seed: u64) -> Result<Vec<Drawn>, PathError> {
    let mut random = Random::new(seed);
    let one = |number: usize| {
        let feature = Feature::DRAWN[number % Feature::DRAWN.len()];
        let name = format!("beyond-{seed}-{number:03}");
        // Every third path has a tunnel: of each feature, some.
        let mut path = draw::path(&name, number / Feature::DRAWN.len(), &mut random);
        add(feature, &mut path, &mut random);
        Drawn::new(
            &path,
            8_000_000 + 1000 * seed + number as u64,
            Some(feature),
        )
    };
    (0..count).map(one).collect()
}

fn add(feature: Feature, path: &mut Path, random: &mut Random) {
    let rate = match path.underlay.down.rate_bps.as_ref().map(|rate| &rate.value) {
        Some(Limit::At(rate)) => rate.bps() as f64,
        _ => return,
    };
    // Neither a second policer nor a changing one exists.
    let queue = path.underlay.line_mut(Direction::Down);
    if queue
        .queue
        .as_ref()
        .is_some_and(|q| q.value == Queue::Policer)
    {
        queue.queue = Some(Parameter::given(Queue::FqCodel));
        queue.buffer = None;
    }
    match feature {
        Feature::Rate => {
            let steps = steps(rate, random);
            path.underlay.down.rate_steps = Some(Parameter::given(steps));
        }
        Feature::TwoQueues => {
            let policed = rate * between(random, 0.7, 1.3);
            let burst = (policed * between(random, 0.005, 0.1) / 8.0).max(30_280.0);
            path.underlay.down.policer = Some(Parameter::given(Policer {
                rate: whole(policed),
                burst: Bytes(burst as u64),
            }));
        }
        Feature::Bursts => path.competitors = bursts(rate, random),
        Feature::Profile => {}
    }
}

/// A rate in whole kilobits.
fn whole(bps: f64) -> Rate {
    Rate::from_bps((bps / 1e3).round() as u64 * 1000)
}

fn steps(rate: f64, random: &mut Random) -> RateSteps {
    const STEPS: usize = 8;
    let width = between(random, 1.2, 3.0).sqrt();
    let every_s = between(random, 0.2, 8.0);
    let step = |i: usize| RateStep {
        at: Duration::from_secs_f64(i as f64 * every_s),
        rate: whole(rate * between(random, 1.0 / width, width)),
    };
    RateSteps {
        steps: (0..STEPS).map(step).collect(),
        repeat: Some(Duration::from_secs_f64(STEPS as f64 * every_s)),
    }
}

fn bursts(rate: f64, random: &mut Random) -> Vec<Competitor> {
    const MOST: usize = 6;
    let count = 2 + random.below(MOST);
    let one = |_| {
        let start_s = SPAN_S * random.unit();
        let stop_s = start_s + between(random, 0.5, 6.0);
        let nanos = |s: f64| Nanos((s * 1e9) as u64);
        let load = match random.below(2) {
            0 => Competitor {
                kind: Some(Parameter::given(CompetitorKind::Tcp)),
                ..Competitor::default()
            },
            _ => Competitor {
                kind: Some(Parameter::given(CompetitorKind::Udp)),
                rate_bps: Some(Parameter::given(whole(rate * between(random, 0.2, 0.8)))),
                ..Competitor::default()
            },
        };
        Competitor {
            direction: Some(Parameter::given(LoadDirection::Down)),
            start_ns: Some(Parameter::given(nanos(start_s))),
            stop_ns: Some(Parameter::given(Limit::At(nanos(stop_s)))),
            ..load
        }
    };
    (0..count).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_has_the_feature_that_is_named() {
        for drawn in beyond(30, 5).unwrap() {
            let down = &drawn.cell.path.down;
            let has = [
                down.rate_steps.is_some(),
                down.policer.is_some(),
                !drawn.cell.cross.is_empty(),
            ];
            let named = Feature::DRAWN.map(|feature| drawn.feature == Some(feature));
            assert_eq!(has, named, "{}", drawn.cell.name);
        }
    }
}
