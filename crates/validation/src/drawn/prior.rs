//! Prior distributions of drawn paths.
//!
//! First a path without a fault, then none to three faults. Both parts are wide on purpose: rules
//! are made and evaluated on paths that nobody chose.

mod base;
mod inject;

use std::{collections::BTreeMap, fmt::Write as _};

use model::net::Direction;
use stats::Random;

/// The keys of a drawn spec.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keys {
    /// Dotted keys with their values as TOML.
    keys: BTreeMap<String, String>,
    /// Tables of competing traffic, as TOML.
    cross: Vec<String>,
}

impl Keys {
    /// The keys as TOML.
    pub fn toml(&self) -> String {
        let mut out = String::new();
        for (key, value) in &self.keys {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "{key} = {value}");
        }
        for cross in &self.cross {
            let _ = write!(out, "[[cross]]\n{cross}");
        }
        out
    }

    fn text(&mut self, key: &str, value: &str) {
        self.keys.insert(key.to_owned(), format!("\"{value}\""));
    }

    fn plain(&mut self, key: &str, value: impl std::fmt::Display) {
        self.keys.insert(key.to_owned(), value.to_string());
    }
}

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

    /// A buffer of so many ms at the rate, bytes: at least so many packets, at most 16 MB.
    fn buffer(&self, direction: Direction, ms: f64, packets: u32) -> u64 {
        let least = f64::from(packets * (self.mtu + 14));
        (self.kbit(direction) * ms / 8.0).clamp(least, 16e6) as u64
    }
}

/// Draws a path.
pub fn path(seed: u64) -> Keys {
    let mut random = Random::new(seed);
    let mut keys = Keys::default();
    let scale = base::draw(&mut random, &mut keys);
    let faults = pick(&mut random, &[(0, 16), (1, 58), (2, 20), (3, 6)]);
    for _ in 0..faults {
        inject::draw(&mut random, &scale, &mut keys);
    }
    keys
}

/// One of some values with weights.
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

/// Whether an event with this chance occurs.
fn chance(random: &mut Random, share: f64) -> bool {
    random.unit() < share
}

/// A value between two, evenly on the scale of logarithms.
fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    (low.ln() + random.unit() * (high / low).ln()).exp()
}

/// One or both directions, each of the three with the same chance.
fn directions(random: &mut Random) -> &'static [Direction] {
    const OF: [&[Direction]; 3] = [
        &[Direction::Down],
        &[Direction::Up],
        &[Direction::Down, Direction::Up],
    ];
    OF[random.below(3)]
}

/// Milliseconds as a duration of the spec.
fn duration(ms: f64) -> String {
    format!("{}us", (ms * 1e3).round().max(1.0) as u64)
}

/// kbit/s as a rate of the spec.
fn rate(kbit: f64) -> String {
    format!("{}kbit", kbit.round() as u64)
}

/// A percentage of the spec.
fn percent(percent: f64) -> String {
    format!("{}%", (percent * 1e4).round() / 1e4)
}
