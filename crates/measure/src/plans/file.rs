//! Plans from files, with their checks.

use std::{
    fs, io,
    ops::RangeInclusive,
    path::{Path, PathBuf},
};

use model::plan::{Measurement, PLAN_SCHEMA, Plan, Repeats, Step};

/// Error parsing a plan.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// Not TOML, or not of a plan's shape; names line and reason.
    #[error("{}", .0.to_string().trim_end())]
    Format(#[from] toml::de::Error),
    /// The plan cannot be written back, which shows unknown keys.
    #[error("check the keys of the plan: {0}")]
    Write(#[from] toml::ser::Error),
    /// A key that no plan has.
    #[error("unknown key {0}; docs/reference/plan.md lists all keys")]
    Unknown(String),
    /// A plan of a newer program.
    #[error("the plan has schema {found}, and this program knows up to {known}: update pathtwin")]
    Newer {
        /// Its schema.
        found: u32,
        /// The newest schema that is known.
        known: u32,
    },
    /// Nothing to measure.
    #[error("the plan has no step: add a [[step]]")]
    NoStep,
    /// Repeats that cannot be.
    #[error(
        "repeats.min is {min} and repeats.max {max}: min must not be above max, nor max above {MAX_REPEATS}"
    )]
    Repeats {
        /// At least.
        min: u32,
        /// At most.
        max: u32,
    },
    /// An interval of probes that cannot be.
    #[error("probe_ms is {0}: it must be in {least} to {most}", least = PROBE_MS.start(), most = PROBE_MS.end())]
    ProbeInterval(f64),
    /// A step that cannot be.
    #[error("step[{number}]: {error}")]
    Step {
        /// Its number, from 0.
        number: usize,
        /// Its fault.
        #[source]
        error: StepError,
    },
}

/// Invalid content of a step.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    /// Its length.
    #[error(
        "duration_s is {0}: it must be in {least} to {most}",
        least = DURATION_S.start(),
        most = DURATION_S.end()
    )]
    Duration(f64),
    /// Its number of connections.
    #[error("flows is {0}: it must be in {least} to {most}", least = FLOWS.start(), most = FLOWS.end())]
    Flows(u32),
    /// A warm-up that leaves no time.
    #[error(
        "warmup_s is {warmup_s}: it must be in 0 to less than duration_s, which is {duration_s}"
    )]
    Warmup {
        /// The warm-up, s.
        warmup_s: f64,
        /// The step, s.
        duration_s: f64,
    },
    /// A rate of 0.
    #[error("the rate is 0: give rate_bps or from_bps in bit/s")]
    NoRate,
    /// Rates in the wrong order.
    #[error("from_bps is {from_bps} and to_bps {to_bps}: from_bps must not be above to_bps")]
    Rates {
        /// The first rate, bit/s.
        from_bps: u64,
        /// The highest, bit/s.
        to_bps: u64,
    },
    /// Its length of a response.
    #[error("bytes is {0}: it must be in {least} to {most}", least = BYTES.start(), most = BYTES.end())]
    Bytes(u64),
}

/// Error reading a plan file.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    /// It cannot be read.
    #[error("read {}: {error}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The I/O error.
        #[source]
        error: io::Error,
    },
    /// Its text is not a plan.
    #[error("{}: {error}", file.display())]
    Plan {
        /// The file.
        file: PathBuf,
        /// The error.
        #[source]
        error: PlanError,
    },
}

/// Maximum repeats of a step.
const MAX_REPEATS: u32 = 1000;
/// Interval of probes, ms.
const PROBE_MS: RangeInclusive<f64> = 0.1..=10_000.0;
/// Length of a step, s.
const DURATION_S: RangeInclusive<f64> = 0.1..=3600.0;
/// Connections of a load in each direction.
const FLOWS: RangeInclusive<u32> = 1..=128;
/// Length of a response, bytes.
const BYTES: RangeInclusive<u64> = 1..=1 << 30;

/// Reads a plan from TOML.
///
/// # Errors
///
/// It is not TOML, or has an unknown key or an invalid value.
pub fn parse(text: &str) -> Result<Plan, PlanError> {
    let plan: Plan = toml::from_str(text)?;
    // A value that is not written back was not read: the flattened parts of a step hide unknown
    // keys.
    let written: toml::Value = toml::from_str(text)?;
    let read = toml::Value::try_from(&plan)?;
    if let Some(key) = extra(&written, &read, "") {
        return Err(PlanError::Unknown(key));
    }
    check(&plan)?;
    Ok(plan)
}

/// Reads a plan from a file.
///
/// # Errors
/// The file cannot be read, or its text is not a plan.
pub fn read(file: &Path) -> Result<Plan, PlanFileError> {
    let named = || file.to_owned();
    let text = fs::read_to_string(file).map_err(|error| PlanFileError::Read {
        file: named(),
        error,
    })?;
    parse(&text).map_err(|error| PlanFileError::Plan {
        file: named(),
        error,
    })
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
    let (found, known) = (plan.schema, PLAN_SCHEMA);
    let Repeats { min, max, .. } = plan.repeats;
    let probe_ms = plan.probe_ms.filter(|ms| !PROBE_MS.contains(ms));
    match probe_ms {
        _ if found > known => return Err(PlanError::Newer { found, known }),
        _ if plan.steps.is_empty() => return Err(PlanError::NoStep),
        _ if min > max || max > MAX_REPEATS => return Err(PlanError::Repeats { min, max }),
        Some(ms) => return Err(PlanError::ProbeInterval(ms)),
        None => {}
    }
    for (number, step) in plan.steps.iter().enumerate() {
        check_step(step).map_err(|error| PlanError::Step { number, error })?;
    }
    Ok(())
}

fn check_step(step: &Step) -> Result<(), StepError> {
    let duration_s = step.duration_s;
    match step.measurement {
        _ if !DURATION_S.contains(&duration_s) => Err(StepError::Duration(duration_s)),
        Measurement::Tcp { flows, .. } if !FLOWS.contains(&flows) => Err(StepError::Flows(flows)),
        Measurement::Tcp { warmup_s, .. } | Measurement::Quic { warmup_s, .. }
            if !(0.0..duration_s).contains(&warmup_s) =>
        {
            Err(StepError::Warmup {
                warmup_s,
                duration_s,
            })
        }
        Measurement::Udp { rate_bps: 0, .. } | Measurement::UdpSweep { from_bps: 0, .. } => {
            Err(StepError::NoRate)
        }
        Measurement::UdpSweep {
            from_bps, to_bps, ..
        } if from_bps > to_bps => Err(StepError::Rates { from_bps, to_bps }),
        Measurement::Short { bytes } | Measurement::Http { bytes } if !BYTES.contains(&bytes) => {
            Err(StepError::Bytes(bytes))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans::{default, quick, thorough};

    #[test]
    fn built_in_plans_are_read_back() {
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
    fn a_file_that_is_not_a_plan_is_named_with_its_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("plan.toml");
        let missing = read(&file).unwrap_err();
        assert!(matches!(&missing, PlanFileError::Read { error, .. }
            if error.kind() == io::ErrorKind::NotFound));
        assert!(missing.to_string().contains("plan.toml"), "{missing}");
        fs::write(&file, "").unwrap();
        let error = read(&file).unwrap_err();
        assert!(matches!(&error, PlanFileError::Plan { error, .. }
            if *error == parse("").unwrap_err()));
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
