//! `pathtwin facts`.

use std::process::ExitCode;

use crate::cli::facts::{Facts, Form};
use crate::{exit::Failure, format};

pub(crate) fn facts(arguments: &Facts) -> Result<ExitCode, Failure> {
    let facts = host::facts::collect(arguments.toward);
    match arguments.output {
        Form::Text => format::text(&report::facts::text(&facts, format::width()))?,
        Form::Json => format::json(&facts)?,
    }
    Ok(ExitCode::SUCCESS)
}
