//! Plans from files, with their checks.

use std::{fs, path::Path};

use model::plan::{Measurement, PLAN_SCHEMA, Plan, Repeats, Step};

use super::error::{
    BYTES, DURATION_S, FLOWS, MAX_REPEATS, PROBE_MS, PlanError, PlanFileError, StepError,
};

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
    use std::io;

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
