//! `pathtwin explain`.

use std::process::ExitCode;

use anyhow::Context;
use model::{findings::Severity, run::Run};

use crate::{
    cli::{Explain, Form},
    exit::{Failure, code},
    format,
};

pub(crate) fn explain(arguments: &Explain) -> Result<ExitCode, Failure> {
    let name = arguments.run.as_deref().unwrap_or("-");
    let text = arguments.place.named(name)?;
    let run = Run::parse(&text)
        .with_context(|| name.to_owned())
        .map_err(|e| Failure::new(code::USE, e))?;
    let findings = ::explain::judge(&run);
    match arguments.output {
        Form::Text => match format::screen().filter(|_| !arguments.all) {
            Some(screen) => {
                let more =
                    format!("Evidence, and what was ruled out: pathtwin explain {name} --all");
                let next = ::explain::next(&run, &findings);
                let next = next.as_ref();
                format::text(&report::answer::text(&run, &findings, next, screen, &more))?;
            }
            None => format::text(&report::findings::text(&findings, arguments.all))?,
        },
        Form::Json => format::json(&findings)?,
        Form::Jsonl => format::json_lines(&findings.findings)?,
    }
    let limit = arguments.fail_on.map(Severity::from);
    Ok(match (findings.worst(), limit) {
        (Some(worst), Some(limit)) if worst >= limit => ExitCode::from(code::VERDICT),
        _ => ExitCode::SUCCESS,
    })
}
