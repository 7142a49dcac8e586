//! `pathtwin tune recheck`: what the watch may ask of root.

use std::{path::Path, process::ExitCode};

use anyhow::{Context, anyhow};
use model::text;
use watch::{
    config::Config,
    undo::{self, Request},
};

use super::journal::with_host;
use crate::{
    cli::tune::Recheck,
    commands,
    exit::{Failure, code},
    format,
};

/// Most characters of a reason that are printed.
const REASON: usize = 300;
/// Largest config that is read, bytes.
const LARGEST: u64 = 1 << 20;

pub(super) fn recheck(arguments: &Recheck) -> Result<ExitCode, Failure> {
    let config = commands::watch::parse(&arguments.config, &owned(&arguments.config)?)?;
    let request = undo::read(&config.state).map_err(|e| Failure::new(code::LACKS, e))?;
    let Some(request) = request else {
        format::text("no change is to be undone\n")?;
        return Ok(ExitCode::SUCCESS);
    };
    permitted(&config, &request)?;
    let id = &request.change;
    let why = text!("pathtwin watch found that it no longer helps");
    let undone = with_host(&arguments.journal, |env| tune::undo_kept(env, id, why))?;
    let id = id.short();
    let Some(rollback) = undone else {
        format::text(&format!("change {id} is undone already\n"))?;
        return Ok(ExitCode::SUCCESS);
    };
    // Of somebody less trusted, for root's log.
    let reason: String = request.reason.to_string().chars().take(REASON).collect();
    let reason = model::safe::line(&reason).to_string();
    format::text(&format!("change {id}: {rollback}: {reason}\n"))?;
    if let Some(error) = &rollback.journal {
        format::say(format_args!("the journal does not record it: {error}"));
    }
    Ok(match rollback.is_complete() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(code::FAILED),
    })
}

/// The text of the config, which is the permission, so that nobody else may write it.
fn owned(file: &Path) -> Result<String, Failure> {
    let text =
        sys::files::read_own(file, LARGEST).with_context(|| format!("read {}", file.display()));
    text.map_err(|e| Failure::new(code::USE, e))?
        .ok_or_else(|| {
            let file = file.display();
            let error =
                anyhow!("{file} is refused: it must belong to this user, and only it may write it");
            Failure::new(code::LACKS, error)
        })
}

fn permitted(config: &Config, request: &Request) -> Result<(), Failure> {
    if config
        .paths
        .iter()
        .any(|path| path.may_undo(&request.change))
    {
        return Ok(());
    }
    let id = request.change.short();
    let error = anyhow!("change {id} is not undone: no path has it in undo_when_useless");
    Err(Failure::new(code::LACKS, error))
}
