//! `pathtwin facts`.

use std::process::ExitCode;

use crate::cli::facts::{Facts, Form};
use crate::{exit::Failure, format};

pub(crate) fn facts(arguments: &Facts) -> Result<ExitCode, Failure> {
    let facts = host::facts::collect(arguments.toward);
    match arguments.output {
        Form::Text => format::print(report::facts::text(&facts).as_bytes())?,
        Form::Json => format::json(&facts)?,
    }
    Ok(ExitCode::SUCCESS)
}
