//! `pathtwin history`.

mod filter;
mod keep;
mod show;
mod trend;

use std::process::ExitCode;

use crate::{
    cli::history::{Command, History},
    exit::Failure,
};

pub(crate) fn history(arguments: &History) -> Result<ExitCode, Failure> {
    match &arguments.command {
        Command::List(arguments) => show::list(arguments),
        Command::Show(arguments) => show::show(arguments),
        Command::Series(arguments) => trend::series(arguments),
        Command::Trend(arguments) => trend::trend(arguments),
        Command::Label(arguments) => keep::label(arguments),
        Command::Delete(arguments) => keep::delete(arguments),
        Command::Export(arguments) => keep::export(arguments),
        Command::Import(arguments) => keep::import(arguments),
        Command::Prune(arguments) => keep::prune(arguments),
    }?;
    Ok(ExitCode::SUCCESS)
}
