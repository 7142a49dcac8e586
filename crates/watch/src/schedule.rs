//! Schedule: random intervals within the budget.
//!
//! Intervals are random, so that they are not in phase with other timers, and time averages are
//! unbiased. Those between loads are exponential and clipped, as M-Lab requires of unattended
//! clients (ndt7 protocol 0.11, "mean 6 h, from 36 min to 15 h").

use std::time::Duration;

use stats::Random;

use crate::config::{Config, PathConfig};

/// Waits are clipped to these shares of their mean.
const CLIPPED: (f64, f64) = (0.1, 2.5);
/// Probes of a group on each layer.
pub const PROBES: u32 = 10;
/// Bytes of a probe and its reply, with the headers of a tunnel: 138 in each direction.
const PROBE_BYTES: u64 = 2 * 138;
/// Bytes of a session for one group, both ways, TCP and IP included.
const SESSION_BYTES: u64 = 8192;
/// Days of the longest month.
const DAYS: f64 = 31.0;
/// Share of the budget that probes may take at most; they are made rarer above it.
const OF_PROBES: f64 = 0.5;
/// Allowance for repeats of suspicious measurements.
const REPEATS: f64 = 1.15;

/// Mean times between measurements of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Between groups of probes.
    pub probe: Option<Duration>,
    /// Between short loads.
    pub load: Option<Duration>,
    /// Between runs of the full plan.
    pub full: Option<Duration>,
}

/// A random wait for loads, ns.
pub(crate) fn wait(mean: Duration, random: &mut Random) -> u64 {
    let (least, most) = CLIPPED;
    let times = (-random.unit().ln()).clamp(least, most);
    (mean.as_nanos() as f64 * times) as u64
}

/// A random wait for probes, ns: half to one and a half of the mean.
pub(crate) fn short_wait(mean: Duration, random: &mut Random) -> u64 {
    (mean.as_nanos() as f64 * (0.5 + random.unit())) as u64
}

/// A random wait until a suspicious load is repeated, ns: five minutes to half an hour, so that a
/// short disturbance has ended by then.
pub(crate) fn retest_wait(random: &mut Random) -> u64 {
    ((300.0 + 1500.0 * random.unit()) * 1e9) as u64
}

/// Layers that a path may have.
fn layers(path: &PathConfig) -> u64 {
    match path.layers.len() {
        0 => 1 + path.via.len() as u64,
        some => some as u64,
    }
}

/// Bytes on the line that one group of probes costs.
pub fn probe_cost(path: &PathConfig) -> u64 {
    SESSION_BYTES + layers(path) * u64::from(PROBES) * PROBE_BYTES
}

/// Returns the pace of each path: as configured, or slower if the monthly budget requires it.
pub fn paces(config: &Config) -> Vec<Pace> {
    let paths = &config.paths;
    let probes: f64 = paths.iter().map(probes_of_month).sum();
    let loads: f64 = paths.iter().map(loads_of_month).sum();
    let month = config.month_bytes as f64;
    let all = slower(probes, loads, month);
    let pace = |path: &PathConfig| {
        let own = path.month_bytes.map_or((1.0, 1.0), |month| {
            slower(probes_of_month(path), loads_of_month(path), month as f64)
        });
        let (probes, loads) = (all.0.max(own.0), all.1.max(own.1));
        let times = |every: Option<Duration>, by: f64| every.map(|every| every.mul_f64(by));
        Pace {
            probe: times(path.probe, probes),
            load: times(path.load, loads),
            full: times(path.full, loads),
        }
    };
    paths.iter().map(pace).collect()
}

/// By how much probes and loads must be rarer for a budget.
fn slower(probes: f64, loads: f64, month: f64) -> (f64, f64) {
    let rarer = (probes / (OF_PROBES * month).max(1.0)).max(1.0);
    let left = (month - probes / rarer).max(1.0);
    // Bounded so that the numbers do not overflow: a millionth of the frequency is practically
    // never.
    (rarer.min(1e6), (loads / left).clamp(1.0, 1e6))
}

/// Bytes that are set aside for a day of a path: twice the mean, as waits are random.
pub(crate) fn cost_of_day(path: &PathConfig, pace: &Pace) -> u64 {
    let of = |every, bytes: u64| times_of_month(every) / DAYS * bytes as f64;
    let mean = of(pace.probe, probe_cost(path))
        + of(pace.load, path.load_bytes)
        + of(pace.full, path.full_bytes);
    (2.0 * mean) as u64
}

fn times_of_month(every: Option<Duration>) -> f64 {
    every.map_or(0.0, |every| DAYS * 86_400.0 / every.as_secs_f64().max(1.0))
}

fn probes_of_month(path: &PathConfig) -> f64 {
    times_of_month(path.probe) * probe_cost(path) as f64
}

fn loads_of_month(path: &PathConfig) -> f64 {
    REPEATS
        * (times_of_month(path.load) * path.load_bytes as f64
            + times_of_month(path.full) * path.full_bytes as f64)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::config;

    fn of(text: &str) -> Vec<Pace> {
        paces(&config::parse("w.toml", text).unwrap())
    }

    #[test]
    fn waits_have_the_mean_of_the_clipped_exponential() {
        let mut random = Random::new(3);
        let mean = Duration::from_secs(1000);
        let waits: Vec<f64> = (0..20_000)
            .map(|_| wait(mean, &mut random) as f64 / 1e12)
            .collect();
        // The integral of min(max(x, a), b) e^-x: a + e^-a - e^-b.
        let expected = 0.1 + (-0.1f64).exp() - (-2.5f64).exp();
        assert!((stats::mean(&waits).unwrap() - expected).abs() < 0.02);
        assert!(waits.iter().all(|w| (0.1..=2.5).contains(w)));
    }

    #[test]
    fn a_budget_that_is_too_small_makes_loads_rarer() {
        let path = "[[path]]\nhost = \"a\"\nprobe = \"5m\"\n";
        let rich = of(&format!("[budget]\nmonth = \"1GB\"\n{path}").replace("1GB", "900GB"));
        assert_eq!(rich[0].load, Some(Duration::from_secs(7200)));
        let poor = of(&format!("[budget]\nmonth = \"2GB\"\n{path}"));
        let times = |every: Option<Duration>| DAYS * 86_400.0 / every.unwrap().as_secs_f64();
        let spent = times(poor[0].load) * 30e6 + times(poor[0].full) * 300e6;
        assert!(spent < 1.9e9 && spent > 1.2e9, "{spent}");
        assert_eq!(poor[0].probe, Some(Duration::from_secs(300)));
    }

    #[test]
    fn a_path_with_a_separate_budget_keeps_it() {
        let text = "[budget]\nmonth = \"900GB\"\n[[path]]\nhost = \"a\"\nmonth = \"1GB\"\n[[path]]\nhost = \"b\"\n";
        let paces = of(text);
        assert!(paces[0].load > paces[1].load);
        assert_eq!(paces[1].load, Some(Duration::from_secs(7200)));
    }
}
