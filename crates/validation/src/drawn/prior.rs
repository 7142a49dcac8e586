//! Prior distributions of drawn paths.
//!
//! First a path without a fault, then none to three faults. Both parts are wide on purpose: rules
//! are made and evaluated on random paths.

mod base;
mod inject;

use std::time::Duration;

use model::{
    net::Direction,
    path::{Limit, Nanos, Parameter, Path},
    units::{Bytes, Rate, Share},
};
use stats::Random;

/// The figures of a path that its faults are scaled by.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scale {
    /// Rate down and up, kbit/s.
    kbit: [f64; 2],
    /// Two-way propagation delay, ms.
    rtt_ms: f64,
    /// MTU of the path, bytes.
    mtu: u32,
    /// Bytes that a tunnel adds to a packet on this path: 60 over IPv4, 80 over IPv6.
    overhead: u32,
}

impl Scale {
    fn kbit(&self, direction: Direction) -> f64 {
        self.kbit[usize::from(direction == Direction::Up)]
    }

    /// Bandwidth-delay product, bytes.
    fn bdp(&self, direction: Direction) -> f64 {
        self.kbit(direction) * self.rtt_ms / 8.0
    }

    /// A buffer of this many ms at the rate, bytes: within a minimum of packets and 16 MB.
    fn buffer(&self, direction: Direction, ms: f64, packets: u32) -> Bytes {
        let least = f64::from(packets * (self.mtu + 14));
        Bytes((self.kbit(direction) * ms / 8.0).clamp(least, 16e6) as u64)
    }
}

/// Draws a path with this name: its differences from the defaults of a spec.
pub fn path(name: &str, seed: u64) -> Path {
    let mut random = Random::new(seed);
    let mut path = Path::named(name);
    let scale = base::draw(&mut random, &mut path);
    let faults = pick(&mut random, &[(0, 16), (1, 58), (2, 20), (3, 6)]);
    for _ in 0..faults {
        inject::draw(&mut random, &scale, &mut path);
    }
    path
}

/// A parameter that the draw sets.
fn given<T>(value: T) -> Option<Parameter<T>> {
    Some(Parameter::given(value))
}

/// A limit that the draw sets.
fn limit<T>(value: T) -> Option<Parameter<Limit<T>>> {
    given(Limit::At(value))
}

/// A random one of some weighted values.
fn pick<T: Copy>(random: &mut Random, of: &[(T, usize)]) -> T {
    let mut at = random.below(of.iter().map(|(_, weight)| weight).sum());
    for (value, weight) in of {
        match at.checked_sub(*weight) {
            Some(rest) => at = rest,
            None => return *value,
        }
    }
    // Not reached: `at` is below the sum of the weights.
    of[of.len() - 1].0
}

/// Returns true with this probability.
fn chance(random: &mut Random, share: f64) -> bool {
    random.unit() < share
}

/// A value between two, evenly on the scale of logarithms.
fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    (low.ln() + random.unit() * (high / low).ln()).exp()
}

/// Down, up or both, with equal probability.
fn directions(random: &mut Random) -> &'static [Direction] {
    const OF: [&[Direction]; 3] = [
        &[Direction::Down],
        &[Direction::Up],
        &[Direction::Down, Direction::Up],
    ];
    OF[random.below(3)]
}

/// Milliseconds as whole microseconds, at least one.
fn duration(ms: f64) -> Duration {
    Duration::from_micros((ms * 1e3).round().max(1.0) as u64)
}

/// Milliseconds as a parameter.
fn nanos(ms: f64) -> Option<Parameter<Nanos>> {
    given(duration(ms).into())
}

/// kbit/s, rounded, as a rate.
fn rate(kbit: f64) -> Rate {
    Rate::from_bps(kbit.round() as u64 * 1000)
}

/// A percentage as a share, in whole millionths, as people write them.
fn percent(percent: f64) -> Share {
    // No draw is above 80 %.
    Share::new((percent * 1e4).round() / 1e6).unwrap_or(Share::ONE)
}
