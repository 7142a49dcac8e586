//! The plans of a watch.

use model::{
    net::LoadDirection,
    plan::{Budget, Measurement, PLAN_SCHEMA, Plan, Repeats, Step},
    text,
    text::{Text, Value},
    units::Bytes,
};
use serde::{Deserialize, Serialize};

use crate::{budget as cost, config::PathConfig};

/// Longest and shortest load of a direction, s; the first part of it is not counted.
const LOAD_S: (f64, f64) = (0.6, 3.0);
const WARMUP: f64 = 0.25;
/// Share of a load's allowance that it is sized for: rates vary.
const SIZED: f64 = 0.7;
/// Longest time that a run may take, s.
const LONGEST_S: f64 = 3600.0;
/// Rate of a line of which no load has shown any, bit/s: a slow one, whose first load shows more.
const UNKNOWN_BPS: f64 = 10e6;
/// Least bytes are rounded up to a multiple of this, so that rounded texts suffice, too.
const ROUNDED: u64 = 1_000_000;

/// The bytes of a path's short loads are too few for its line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TooSmall {
    /// Bytes that a short load may cost.
    pub load_bytes: u64,
    /// Rate of the line, as far as is known, bit/s.
    pub rate_bps: f64,
    /// Bytes that the shortest load needs at this rate.
    pub least_bytes: u64,
}

impl TooSmall {
    /// Whether the bytes of a path are too few at a rate.
    pub(crate) fn of(path: &PathConfig, rate_bps: Option<f64>) -> Option<Self> {
        let rate_bps = rate_bps.unwrap_or(UNKNOWN_BPS);
        let payload = LOAD_S.0 * rate_bps / 8.0 * loads(path) / SIZED;
        let least_bytes = cost::cost(payload.ceil() as u64).next_multiple_of(ROUNDED);
        let load_bytes = path.load_bytes;
        (least_bytes > load_bytes).then_some(Self {
            load_bytes,
            rate_bps,
            least_bytes,
        })
    }

    /// The problem, with the least value that suffices.
    pub fn text(&self) -> Text {
        text!(
            "load_bytes = \"{given}\" is too small for short loads on a line of {rate}: they need \
             \"{least}\"",
            given = Bytes(self.load_bytes).to_string(),
            rate = Value::Bps(self.rate_bps),
            least = Bytes(self.least_bytes).to_string()
        )
    }
}

/// Loads of a short plan: one in each direction on each layer with each congestion control.
fn loads(path: &PathConfig) -> f64 {
    let layers = match path.layers.len() {
        0 => 1 + path.via.len(),
        some => some,
    };
    (2 * layers * path.cc.len().max(1)) as f64
}

/// A short load in each direction with probes before it, which moves at most `payload`
/// bytes on a line of this rate.
pub(crate) fn short(path: &PathConfig, payload: u64, rate_bps: Option<f64>) -> Plan {
    let loads = loads(path);
    let (least, most) = LOAD_S;
    let each_s = rate_bps.map_or(most, |rate| {
        SIZED * payload as f64 * 8.0 / loads / rate.max(1.0)
    });
    let duration_s = each_s.clamp(least, most);
    let step = |measurement, duration_s| Step {
        measurement,
        duration_s,
        repeat: true,
    };
    let tcp = |direction| Measurement::Tcp {
        direction,
        flows: 1,
        cc: path.cc.clone(),
        warmup_s: WARMUP * duration_s,
    };
    let steps = vec![
        step(Measurement::Idle, 1.0),
        step(tcp(LoadDirection::Down), duration_s),
        step(tcp(LoadDirection::Up), duration_s),
    ];
    Plan {
        schema: PLAN_SCHEMA,
        name: "watch".to_owned(),
        seed: None,
        layers: path.layers.clone(),
        families: Vec::new(),
        probe_ms: Some(20.0),
        hotspots: false,
        adapt: false,
        repeats: Repeats {
            min: 1,
            max: 1,
            width: None,
        },
        budget: budget(payload),
        steps,
    }
}

/// A plan within a budget.
pub(crate) fn within(plan: Plan, path: &PathConfig, payload: u64) -> Plan {
    Plan {
        layers: match path.layers.is_empty() {
            true => plan.layers,
            false => path.layers.clone(),
        },
        budget: budget(payload),
        ..plan
    }
}

fn budget(payload: u64) -> Budget {
    Budget {
        bytes: Some(payload),
        time_s: Some(LONGEST_S),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::config;

    #[test]
    fn a_load_is_as_long_as_its_bytes_allow() {
        let config = config::parse("w.toml", "[[path]]\nhost = \"a\"\n").unwrap();
        let seconds = |payload, rate| short(&config.paths[0], payload, rate).steps[1].duration_s;
        // 70 % of 20 MB in two loads at 80 Mbit/s: 0.7 s each.
        assert!((seconds(20_000_000, Some(80e6)) - 0.7).abs() < 1e-9);
        assert_eq!(seconds(20_000_000, Some(1e6)), 3.0);
        assert_eq!(seconds(20_000_000, Some(1e9)), 0.6);
        assert_eq!(seconds(20_000_000, None), 3.0);
    }

    #[test]
    fn the_least_bytes_suffice_and_fewer_do_not() {
        let config = |bytes: u64| {
            let text = format!("[[path]]\nhost = \"a\"\nload_bytes = \"{bytes}B\"\n");
            config::parse("w.toml", &text).unwrap().paths.remove(0)
        };
        for rate_bps in [None, Some(1e6), Some(100e6), Some(10e9)] {
            let found = TooSmall::of(&config(1_000_000), rate_bps).unwrap();
            let enough = config(found.least_bytes);
            assert_eq!(TooSmall::of(&enough, rate_bps), None);
            assert!(TooSmall::of(&config(found.least_bytes - 1), rate_bps).is_some());
            // Two loads of the shortest duration fit the payload of what is enough.
            let payload = cost::payload(enough.load_bytes);
            let moved = 2.0 * LOAD_S.0 * rate_bps.unwrap_or(UNKNOWN_BPS) / 8.0;
            assert!(moved <= payload as f64, "{rate_bps:?}");
        }
    }
}
