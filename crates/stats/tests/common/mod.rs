//! Distributions with known medians and means to draw from.

#![allow(dead_code, missing_docs, unreachable_pub)]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::f64::consts::{LN_2, PI};

use stats::Random;

/// A standard normal number (Box and Muller 1958).
pub fn normal(random: &mut Random) -> f64 {
    let (u, v) = (random.unit(), random.unit());
    (-2.0 * u.ln()).sqrt() * (2.0 * PI * v).cos()
}

/// An exponential number with mean 1.
pub fn exponential(random: &mut Random) -> f64 {
    -random.unit().ln()
}

/// Generator of one number.
pub type Draw = fn(&mut Random) -> f64;

pub struct Source {
    pub name: &'static str,
    pub median: f64,
    pub mean: f64,
    pub draw: Draw,
}

impl Source {
    pub fn samples(&self, n: usize, random: &mut Random) -> Vec<f64> {
        (0..n).map(|_| (self.draw)(random)).collect()
    }
}

/// 5 % of normal noise, as goodput has.
pub const NORMAL: Source = Source {
    name: "normal",
    median: 100.0,
    mean: 100.0,
    draw: |r| 100.0 + 5.0 * normal(r),
};
/// 1 % of normal noise.
pub const NARROW: Source = Source {
    name: "narrow normal",
    median: 100.0,
    mean: 100.0,
    draw: |r| 100.0 + normal(r),
};
/// Skewed: one of twenty is 2.3 times the median or more.
pub const LOGNORMAL: Source = Source {
    name: "lognormal",
    median: 1.0,
    mean: 1.133_148_453_066_826,
    draw: |r| (0.5 * normal(r)).exp(),
};
/// Never below 1, and a long tail, as round-trip times have.
pub const EXPONENTIAL: Source = Source {
    name: "1 + exponential",
    median: 1.0 + LN_2,
    mean: 2.0,
    draw: |r| 1.0 + exponential(r),
};
/// Whole numbers with a spread of 1.5: many are equal.
pub const TIES: Source = Source {
    name: "ties",
    median: 10.0,
    mean: 10.0,
    draw: |r| (10.0 + 1.5 * normal(r)).round().max(1.0),
};
/// 1 % of noise, but one run in ten loses 30 %.
pub const DIPS: Source = Source {
    name: "dips",
    // The value below which lie 10 % and 4/9 of the rest: 100 + quantile(4/9) of the normal.
    median: 100.0 - 0.139_710_3,
    mean: 97.0,
    draw: |r| {
        let x = 100.0 + normal(r);
        if r.unit() < 0.1 { 0.7 * x } else { x }
    },
};

/// Returns how often `covers` holds in `rounds` rounds with different seeds, %.
pub fn coverage(rounds: u64, covers: impl Fn(&mut Random) -> bool) -> f64 {
    let hits = (0..rounds)
        .filter(|&seed| covers(&mut Random::new(seed * 1_000_003 + 17)))
        .count();
    100.0 * hits as f64 / rounds as f64
}

/// A table in Markdown.
pub struct Table(Vec<String>);

impl Table {
    pub fn new(head: &[String]) -> Self {
        let rule = head.iter().map(|_| "---".to_owned()).collect::<Vec<_>>();
        Self(vec![line(head), line(&rule)])
    }

    pub fn add(&mut self, name: &str, values: &[f64]) {
        let cells: Vec<String> = std::iter::once(name.to_owned())
            .chain(values.iter().map(|v| format!("{v:.1}")))
            .collect();
        self.0.push(line(&cells));
    }

    /// The table is the one after the marker in docs/statistics.md, to 0.3 (mathematical functions
    /// of another C library may move a rare case).
    pub fn is_in_the_docs(&self, marker: &str) {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/statistics.md");
        let text = std::fs::read_to_string(path).unwrap();
        let start = format!("<!-- {marker} -->\n");
        let there = text.split(&start).nth(1).unwrap_or_default();
        for (expected, actual) in self
            .0
            .iter()
            .zip(there.lines().chain(std::iter::repeat("")))
        {
            assert!(
                alike(expected, actual),
                "in docs/statistics.md after {start}:\n{actual}\nshould be\n{}",
                self.0.join("\n")
            );
        }
    }
}

fn line(cells: &[String]) -> String {
    format!("| {} |", cells.join(" | "))
}

fn alike(a: &str, b: &str) -> bool {
    let (a, b): (Vec<_>, Vec<_>) = (a.split('|').collect(), b.split('|').collect());
    a.len() == b.len()
        && a.iter().zip(&b).all(
            |(a, b)| match (a.trim().parse::<f64>(), b.trim().parse::<f64>()) {
                (Ok(a), Ok(b)) => (a - b).abs() <= 0.3,
                _ => a.trim() == b.trim(),
            },
        )
}
