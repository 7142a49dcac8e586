//! The plans of a watch.

use model::{
    net::LoadDirection,
    plan::{Budget, Measurement, PLAN_SCHEMA, Plan, Repeats, Step},
};

use crate::config::PathConfig;

/// Longest and shortest load of a direction, s; the first part of it is not counted.
const LOAD_S: (f64, f64) = (0.6, 3.0);
const WARMUP: f64 = 0.25;
/// Share of a load's allowance that it is sized for: rates vary.
const SIZED: f64 = 0.7;
/// Longest time that a run may take, s.
const LONGEST_S: f64 = 3600.0;

/// A short load in each direction with probes before it, which moves at most `payload`
/// bytes on a line of this rate.
pub(crate) fn short(path: &PathConfig, payload: u64, rate_bps: Option<f64>) -> Plan {
    let layers = match path.layers.len() {
        0 => 1 + path.via.len(),
        some => some,
    };
    let loads = (2 * layers * path.cc.len().max(1)) as f64;
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
}
