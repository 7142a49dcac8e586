//! `pathtwin manual`.

use std::{fs, path::Path, process::ExitCode};

use anyhow::Context;
use clap::CommandFactory;

use crate::{
    cli::Arguments,
    exit::{Failure, code},
};

/// Writes a page for each command: `pathtwin.1`, `pathtwin-lab-run.1`.
pub(crate) fn manual(folder: &Path) -> Result<ExitCode, Failure> {
    write(folder).map_err(|e| Failure::new(code::FAILED, e))?;
    Ok(ExitCode::SUCCESS)
}

fn write(folder: &Path) -> Result<(), anyhow::Error> {
    let place = || format!("write manual pages into {}", folder.display());
    fs::create_dir_all(folder).with_context(place)?;
    // `help` repeats the page of each command.
    let commands = Arguments::command().disable_help_subcommand(true);
    clap_mangen::generate_to(commands, folder).with_context(place)
}
