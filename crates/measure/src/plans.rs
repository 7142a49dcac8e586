//! The plans that come with the program, and plans from files.

use model::{
    net::Direction,
    plan::{Budget, LoadDirection, Measurement, Plan, Repeats, Step},
};

/// Highest rate a sweep tries, bit/s of payload.
const SWEEP_TO: u64 = 2_000_000_000;
/// The first rate of a sweep, bit/s of payload.
const SWEEP_FROM: u64 = 500_000;

/// About a minute: each thing a few times.
pub fn quick() -> Plan {
    let mut steps = vec![
        step(Measurement::Pmtu, 3.0),
        step(Measurement::Idle, 2.0),
        step(sweep(Direction::Down), 1.5),
        step(sweep(Direction::Up), 1.5),
    ];
    for direction in [LoadDirection::Down, LoadDirection::Up] {
        steps.push(again(tcp(direction, 1, 0.5), 2.5));
    }
    Plan {
        repeats: Repeats {
            min: 3,
            max: 3,
            width: None,
        },
        ..plan("quick", steps)
    }
}

/// What is measured if nothing else is asked for.
pub fn default() -> Plan {
    let mut steps = before(4.0);
    for direction in [LoadDirection::Down, LoadDirection::Up] {
        steps.push(again(tcp(direction, 1, 2.0), 8.0));
        steps.push(again(tcp(direction, 8, 2.0), 8.0));
    }
    steps.push(again(tcp(LoadDirection::Both, 1, 2.0), 8.0));
    steps.push(again(Measurement::Idle, 2.0));
    steps.push(again(Measurement::Short { bytes: 100_000 }, 3.0));
    steps.push(again(Measurement::Http { bytes: 1_000_000 }, 3.0));
    steps.push(again(
        Measurement::Quic {
            direction: Direction::Down,
            warmup_s: 2.0,
        },
        6.0,
    ));
    plan("default", steps)
}

/// Longer and more often, for narrow intervals.
pub fn thorough() -> Plan {
    let mut steps = before(8.0);
    for direction in [LoadDirection::Down, LoadDirection::Up] {
        for flows in [1, 4, 16] {
            steps.push(again(tcp(direction, flows, 3.0), 15.0));
        }
    }
    steps.push(again(tcp(LoadDirection::Both, 1, 3.0), 15.0));
    steps.push(again(tcp(LoadDirection::Both, 8, 3.0), 15.0));
    steps.push(again(Measurement::Idle, 5.0));
    for bytes in [10_000, 100_000, 1_000_000] {
        steps.push(again(Measurement::Short { bytes }, 4.0));
    }
    steps.push(again(Measurement::Http { bytes: 1_000_000 }, 5.0));
    for direction in [Direction::Down, Direction::Up] {
        let warmup_s = 3.0;
        steps.push(again(
            Measurement::Quic {
                direction,
                warmup_s,
            },
            10.0,
        ));
    }
    Plan {
        repeats: Repeats {
            min: 8,
            max: 20,
            width: Some(0.02),
        },
        ..plan("thorough", steps)
    }
}

fn before(seconds: f64) -> Vec<Step> {
    vec![
        step(Measurement::Pmtu, 5.0),
        step(Measurement::Idle, seconds),
        step(Measurement::Sizes, 3.0),
        step(sweep(Direction::Down), seconds),
        step(sweep(Direction::Up), seconds),
    ]
}

fn plan(name: &str, steps: Vec<Step>) -> Plan {
    Plan {
        schema: model::plan::PLAN_SCHEMA,
        name: name.to_owned(),
        seed: None,
        layers: Vec::new(),
        families: Vec::new(),
        probe_ms: Some(10.0),
        hotspots: true,
        repeats: Repeats::default(),
        budget: Budget::default(),
        steps,
    }
}

fn step(measurement: Measurement, duration_s: f64) -> Step {
    Step {
        measurement,
        duration_s,
        repeat: false,
    }
}

fn again(measurement: Measurement, duration_s: f64) -> Step {
    Step {
        measurement,
        duration_s,
        repeat: true,
    }
}

fn sweep(direction: Direction) -> Measurement {
    Measurement::UdpSweep {
        direction,
        from_bps: SWEEP_FROM,
        to_bps: SWEEP_TO,
    }
}

fn tcp(direction: LoadDirection, flows: u32, warmup_s: f64) -> Measurement {
    Measurement::Tcp {
        direction,
        flows,
        cc: Vec::new(),
        warmup_s,
    }
}

/// Why a plan's text is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Not TOML, or not of a plan's shape; names line and reason.
    #[error("{0}")]
    Format(String),
    /// A key that no plan has.
    #[error("unknown key {0}; docs/reference/plan.md lists all keys")]
    Unknown(String),
    /// A value that cannot be.
    #[error("{0}")]
    Value(String),
}

/// Reads a plan from TOML.
///
/// # Errors
///
/// It is no TOML, has a key that no plan has, or a value that cannot be.
pub fn parse(text: &str) -> Result<Plan, PlanError> {
    let format = |e: toml::de::Error| PlanError::Format(e.to_string().trim_end().to_owned());
    let plan: Plan = toml::from_str(text).map_err(format)?;
    // What is not written back was not read: the flattened parts of a step hide unknown keys.
    let written: toml::Value = toml::from_str(text).map_err(format)?;
    let read = toml::Value::try_from(&plan).map_err(|e| PlanError::Format(e.to_string()))?;
    if let Some(key) = extra(&written, &read, "") {
        return Err(PlanError::Unknown(key));
    }
    check(&plan)?;
    Ok(plan)
}

/// The first key of `written` that `read` has not.
fn extra(written: &toml::Value, read: &toml::Value, path: &str) -> Option<String> {
    match (written, read) {
        (toml::Value::Table(w), toml::Value::Table(r)) => w.iter().find_map(|(key, value)| {
            let path = format!("{path}{}{key}", if path.is_empty() { "" } else { "." });
            match r.get(key) {
                Some(read) => extra(value, read, &path),
                // An empty list is not written back.
                None if value.as_array().is_some_and(Vec::is_empty) => None,
                None => Some(path),
            }
        }),
        (toml::Value::Array(w), toml::Value::Array(r)) => w
            .iter()
            .zip(r)
            .enumerate()
            .find_map(|(i, (w, r))| extra(w, r, &format!("{path}[{i}]"))),
        _ => None,
    }
}

fn check(plan: &Plan) -> Result<(), PlanError> {
    let bad = |text: String| Err(PlanError::Value(text));
    if plan.schema > model::plan::PLAN_SCHEMA {
        return bad(format!(
            "the plan has schema {}, and this program knows up to {}: update pathtwin",
            plan.schema,
            model::plan::PLAN_SCHEMA
        ));
    }
    if plan.steps.is_empty() {
        return bad("the plan has no step".to_owned());
    }
    if plan.repeats.min > plan.repeats.max || plan.repeats.max > 1000 {
        return bad("repeats.min must not be above repeats.max, nor that above 1000".to_owned());
    }
    if plan
        .probe_ms
        .is_some_and(|ms| !(0.1..=10_000.0).contains(&ms))
    {
        return bad("probe_ms must be between 0.1 and 10000".to_owned());
    }
    for (i, step) in plan.steps.iter().enumerate() {
        let name = |text: &str| bad(format!("step[{i}]: {text}"));
        if !(0.1..=3600.0).contains(&step.duration_s) {
            return name("duration_s must be between 0.1 and 3600");
        }
        match &step.measurement {
            Measurement::Tcp { flows, .. } if !(1..=128).contains(flows) => {
                return name("flows must be between 1 and 128");
            }
            Measurement::Tcp { warmup_s, .. } | Measurement::Quic { warmup_s, .. }
                if !(0.0..step.duration_s).contains(warmup_s) =>
            {
                return name("warmup_s must be less than duration_s");
            }
            Measurement::Udp { rate_bps: 0, .. } | Measurement::UdpSweep { from_bps: 0, .. } => {
                return name("a rate must not be 0");
            }
            Measurement::Short { bytes } | Measurement::Http { bytes }
                if !(1..=1 << 30).contains(bytes) =>
            {
                return name("bytes must be between 1 and 1073741824");
            }
            Measurement::UdpSweep {
                from_bps, to_bps, ..
            } if from_bps > to_bps => return name("from_bps must not be above to_bps"),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_plans_of_every_name_are_read_back() {
        for plan in [quick(), default(), thorough()] {
            let text = toml::to_string(&plan).unwrap();
            assert_eq!(parse(&text), Ok(plan), "{text}");
        }
    }

    #[test]
    fn a_short_plan_is_enough() {
        let plan = parse(
            "[[step]]\nkind = \"tcp\"\ndirection = \"down\"\nflows = 1\nduration_s = 5\nrepeat = true\n",
        )
        .unwrap();
        assert_eq!(plan.name, "own");
        assert_eq!(plan.probe_ms, Some(10.0));
    }

    #[test]
    fn wrong_plans_name_the_place() {
        let wrong = |text: &str, part: &str| {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        };
        let step = "[[step]]\nkind = \"idle\"\nduration_s = 5\n";
        wrong("", "step");
        wrong(&format!("{step}flow = 3\n"), "step[0].flow");
        wrong(&format!("sed = 3\n{step}"), "sed");
        wrong("[[step]]\nkind = \"idle\"\nduration_s = -1\n", "duration_s");
        wrong("[[step]]\nkind = \"idel\"\nduration_s = 1\n", "idel");
        wrong(
            "[[step]]\nkind = \"tcp\"\ndirection = \"up\"\nflows = 0\nduration_s = 5\n",
            "flows",
        );
        wrong(
            "[[step]]\nkind = \"http\"\nbytes = 0\nduration_s = 1\n",
            "bytes",
        );
        wrong(&format!("schema = 9\n{step}"), "update");
    }
}
