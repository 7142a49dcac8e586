//! `pathtwin lab kubernetes`.

use std::process::ExitCode;

use anyhow::Context;
use lab::kubernetes::Job;

use super::run;
use crate::{
    cli::{Cells, Kubernetes},
    exit::{Failure, code},
    format,
};

/// Prints the manifest; Kubernetes reads JSON as it reads YAML.
pub(crate) fn kubernetes(arguments: &Kubernetes) -> Result<ExitCode, Failure> {
    let wrong = |e: anyhow::Error| Failure::new(code::USE, e);
    let given = Cells {
        seed: arguments.seed,
        set: arguments.set.clone(),
        wall_limit: 0,
    };
    let spec = run::read_spec(&arguments.spec, &given)?;
    let cells = spec.cells().map_err(|e| wrong(e.into()))?;
    let text = std::fs::read_to_string(&arguments.spec)
        .with_context(|| format!("read {}", arguments.spec.display()))
        .map_err(wrong)?;
    let job = Job {
        name: &arguments.name,
        image: &arguments.image,
        claim: &arguments.claim,
        segments: arguments.segments.get(),
        parallel: arguments.parallel.unwrap_or(arguments.segments).get(),
        spec: &text,
        named: &spec.files,
        cells: &cells,
        arguments: &given.overrides().collect::<Vec<_>>(),
    };
    format::json(&job.manifest().map_err(|e| wrong(e.into()))?)?;
    Ok(ExitCode::SUCCESS)
}
