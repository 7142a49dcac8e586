//! Random paths similar to those of users.

use std::time::Duration;

use model::{
    cell::{Buffer, Cell, Queue},
    path::{Limit, Line, Loss, Nanos, Parameter, Path, PathError, Trial, Tunnel},
    units::{Bytes, Rate, Seed, Share},
};
use stats::Random;

use super::feature::{Feature, SPAN_S};

/// A drawn path.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// The path itself.
    pub path: Path,
    /// Its cell, with the seed with which it is measured for the fit.
    pub cell: Cell,
    /// What a twin cannot have; `None` of a path that a twin can be equal to.
    pub feature: Option<Feature>,
}

impl Drawn {
    /// A path, measured with this seed.
    pub(super) fn new(path: &Path, seed: u64, feature: Option<Feature>) -> Result<Self, PathError> {
        let cell = path.cell(&trial(path, seed))?;
        // With all keys of a spec, so that a question changes that alone.
        let path = Path::of(&cell);
        Ok(Self {
            path,
            cell,
            feature,
        })
    }
}

/// `count` paths: down 5 to 100 Mbit/s, up 2 to 50, RTT 4 to 150 ms, loss of none (half of them) to
/// 1 %, a plain queue of a quarter of a BDP to four (at least 20 packets), or fq_codel, codel, pie,
/// cake or a policer; every third with WireGuard.
///
/// # Errors
/// The lab cannot make a drawn path; that would be a bug.
pub fn draw(count: usize, seed: u64) -> Result<Vec<Drawn>, PathError> {
    let mut random = Random::new(seed);
    (0..count).map(|i| one(i, seed, &mut random)).collect()
}

/// A trial with this seed, as long as bursts of others may come.
pub(super) fn trial(path: &Path, seed: u64) -> Trial {
    let trial = Trial {
        seed: Seed(seed),
        ..Trial::default()
    };
    match path.competitors.is_empty() {
        true => trial,
        false => Trial {
            duration: Duration::from_secs_f64(SPAN_S),
            ..trial
        },
    }
}

pub(super) fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low * (high / low).powf(random.unit())
}

fn one(number: usize, seed: u64, random: &mut Random) -> Result<Drawn, PathError> {
    let path = path(&format!("twin-{seed}-{number:03}"), number, random);
    Drawn::new(&path, 7_000_000 + 1000 * seed + number as u64, None)
}

/// The path of this number.
pub(super) fn path(name: &str, number: usize, random: &mut Random) -> Path {
    let rtt_ms = between(random, 4.0, 150.0);
    let mut path = Path::named(name);
    let down_bps = between(random, 5e6, 100e6);
    path.underlay.down = line(down_bps, rtt_ms, random);
    let up_bps = between(random, 2e6, 50e6);
    path.underlay.up = line(up_bps, rtt_ms, random);
    if number % 3 == 2 {
        path.tunnel = Some(Tunnel::default());
    }
    path
}

fn line(bps: f64, rtt_ms: f64, random: &mut Random) -> Line {
    let queue = match random.below(12) {
        0 => Queue::FqCodel,
        1 => Queue::Codel,
        2 => Queue::Pie,
        3 => Queue::Cake,
        4 => Queue::Policer,
        _ => Queue::Fifo,
    };
    let bdp = bps * rtt_ms / 8e3;
    let buffer = match queue {
        Queue::Fifo => Some((bdp * between(random, 0.25, 4.0)).clamp(30_280.0, 8e6)),
        Queue::Policer => Some((bps * between(random, 0.005, 0.1) / 8.0).max(30_280.0)),
        _ => None,
    };
    let share = match random.below(2) {
        0 => 0.0,
        _ => between(random, 1e-4, 1e-2),
    };
    // Whole kilobits, microseconds and millionths, as people write them.
    let share = Share::new((share * 1e6).round() / 1e6).filter(|s| !s.is_zero());
    Line {
        rate_bps: Some(Parameter::given(Limit::At(Rate::from_bps(
            (bps / 1e3).round() as u64 * 1000,
        )))),
        queue: Some(Parameter::given(queue)),
        buffer: buffer.map(|b| Parameter::given(Buffer::Bytes(Bytes(b.round() as u64)))),
        delay_ns: Some(Parameter::given(Nanos(
            (rtt_ms * 500.0).round() as u64 * 1000,
        ))),
        loss: share.map(|share| Loss::Random {
            share: Parameter::given(share),
        }),
        ..Line::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_draws_the_same_paths_and_another_one_others() {
        let some = draw(20, 1).unwrap();
        assert_eq!(some, draw(20, 1).unwrap());
        assert_ne!(some[0].path, draw(20, 2).unwrap()[0].path);
        assert!(some.iter().any(|d| d.cell.tunnel.is_some()));
        assert!(some.iter().any(|d| d.cell.path.down.queue != Queue::Fifo));
    }
}
