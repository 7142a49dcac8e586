//! `pathtwin lab validate`.

use std::process::ExitCode;

use anyhow::{Context, anyhow};
use lab::{Config, Lab, LabError};
use model::cell::PathEngine;
use validation::validate::{self, Bench, Check, ValidateError, Verdict};

use pathtwin::{
    cli::{Format, PathBy, Validate},
    exit::{Failure, code},
    format, progress,
};

pub(crate) fn validate(arguments: &Validate) -> Result<ExitCode, Failure> {
    let checks = chosen(&arguments.only)?;
    if arguments.list {
        let names: Vec<&str> = checks.iter().map(|c| c.name).collect();
        format::text(&format!("{}\n", names.join("\n")))?;
        return Ok(ExitCode::SUCCESS);
    }
    let lab = Lab::open(&Config {
        cache: !arguments.no_cache,
        jobs: arguments.jobs,
        ..Config::default()
    })?;
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let bar = progress::bar(validate::steps(&checks).map_err(failure)?);
    let bench = Bench {
        lab: &lab,
        stop,
        engine: match arguments.engine {
            PathBy::Device => PathEngine::Device,
            PathBy::Chain => PathEngine::Chain,
        },
    };
    let report = validate::run(bench, &checks, &mut |notes| {
        progress::report_notes(&bar, notes);
        bar.inc(1);
    });
    bar.finish_and_clear();
    let report = match report {
        Err(ValidateError::Lab(LabError::Stopped)) => {
            eprintln!("pathtwin: stopped; the results of finished cells are cached");
            return Ok(ExitCode::from(code::INTERRUPTED));
        }
        report => report.map_err(failure)?,
    };
    match arguments.output {
        Format::Text => format::text(&validate::table(&report))?,
        Format::Json => format::json(&report)?,
        Format::Jsonl => format::json_lines(&report.lines)?,
    }
    Ok(match report.count(Verdict::Fail) {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(code::VERDICT),
    })
}

fn failure(error: ValidateError) -> Failure {
    match error {
        ValidateError::Lab(error) => error.into(),
        error => Failure::new(code::FAILED, error),
    }
}

/// The checks whose name contains one of the given words; without words all.
fn chosen(only: &[String]) -> Result<Vec<Check>, Failure> {
    let all = validate::checks();
    let lower = |text: &str| text.to_lowercase();
    for word in only {
        if !all.iter().any(|c| lower(c.name).contains(&lower(word))) {
            let names: Vec<&str> = all.iter().map(|c| c.name).collect();
            let error = anyhow!(
                "--only {word}: no check has this in its name; the checks are {}",
                names.join("; ")
            );
            return Err(Failure::new(code::USE, error));
        }
    }
    let wanted = |check: &Check| {
        let name = lower(check.name);
        only.is_empty() || only.iter().any(|word| name.contains(&lower(word)))
    };
    Ok(all.into_iter().filter(wanted).collect())
}
