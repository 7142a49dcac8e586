//! `pathtwin history`.

mod keep;
mod show;
mod trend;

use std::{
    process::ExitCode,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use model::history::Kind;
use store::Filter;

use crate::cli::history::{Command, History, KindFilter, Selection};
use crate::exit::Failure;

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

impl KindFilter {
    fn filter(&self, kind: Option<Kind>) -> Filter {
        Filter {
            kind,
            path: self.path.clone(),
            labels: self.label.clone(),
            since_us: self.since.map(ago_us),
            until_us: None,
            limit: self.last,
        }
    }
}

impl Selection {
    fn filter(&self) -> Filter {
        self.which.filter(self.kind)
    }
}

/// The time this long ago, µs since 1970.
fn ago_us(age: Duration) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().saturating_sub(age).as_micros() as u64
}
