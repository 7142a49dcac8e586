//! `pathtwin compare`.

mod sets;

use std::process::ExitCode;

use anyhow::anyhow;
use compare::Options;

use crate::cli::compare::{Compare, Form};
use crate::{
    exit::{Failure, code},
    format,
};

pub(crate) fn compare(arguments: &Compare) -> Result<ExitCode, Failure> {
    let (before, after) = arguments.from.pair(&arguments.before, &arguments.after)?;
    let options = Options {
        threshold: arguments.threshold,
        only: arguments.only.clone(),
    };
    let comparison = compare::compare(
        (&arguments.before, &before),
        (&arguments.after, &after),
        &options,
    );
    match arguments.output {
        Form::Text => {
            let text = report::comparison::text(&comparison, arguments.all, format::width());
            format::text(&text)?;
        }
        Form::Json => format::json(&comparison)?,
        Form::Jsonl => format::json_lines(&comparison.lines)?,
        Form::Markdown => format::text(&report::comparison::markdown(&comparison))?,
        Form::Junit => format::text(&report::comparison::junit(&comparison))?,
    }
    if comparison.lines.is_empty() {
        let why = anyhow!("there is no figure that both sets measured");
        return Err(Failure::new(code::FAILED, why));
    }
    if let Some(why) = &comparison.no_throughput {
        return Err(Failure::new(code::FAILED, anyhow!("{why}")));
    }
    Ok(ExitCode::from(if comparison.regressed() {
        code::VERDICT
    } else {
        0
    }))
}
