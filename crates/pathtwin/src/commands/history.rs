//! `pathtwin history`.

mod amount;
mod keep;
mod show;
mod trend;

use std::{
    path::PathBuf,
    process::ExitCode,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::anyhow;
use clap::{Args, Subcommand};
use store::{Filter, Kind, Place, Store, StoreError};

use crate::exit::{Failure, code};

/// What was measured before: list, draw, find changes, keep and forget
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin history list --last 10
  pathtwin history show 3f2a
  pathtwin history series --figure goodput_bps --step \"tcp down\"
  pathtwin history trend --path office
  pathtwin history label 3f2a change=bbr path=office
  pathtwin history export --path office > office.jsonl
  pathtwin history prune --older-than 180d --larger-than 1GB

Documents are named by the beginning of their id. The history is a file in the user's data folder;
--store, or PATHTWIN_STORE in the environment, names another one. See docs/reference/history.md.

Exit codes: 0 done, 2 wrong use or no such document, 3 the history cannot be opened or is full,
4 it is damaged.")]
pub(crate) struct History {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The documents, the newest first
    List(show::List),
    /// One document
    Show(show::Show),
    /// A figure over time
    Series(trend::Series),
    /// Lasting changes of figures, and what else changed then
    Trend(trend::Trend),
    /// Put labels on a document, or take them away
    Label(keep::Label),
    /// Delete documents
    Delete(keep::Delete),
    /// Write documents to standard output, one a line
    Export(keep::Export),
    /// Add runs and exported documents
    Import(keep::Import),
    /// Forget what is old, or too much
    Prune(keep::Prune),
}

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

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        use StoreError as E;
        let code = match &error {
            E::Place { .. }
            | E::Url { .. }
            | E::Missing(_)
            | E::Ambiguous { .. }
            | E::Format { .. } => code::USE,
            E::Open { .. } | E::Newer { .. } | E::Full { .. } | E::Busy { .. } => code::LACKS,
            E::Database { .. } | E::Damaged { .. } => code::FAILED,
        };
        Self::new(code, error)
    }
}

/// Which history.
#[derive(Clone, Debug, Args)]
pub(crate) struct Where {
    /// The history: a file, or postgres://USER@HOST/DATABASE, across a network with
    /// ?sslmode=verify-full&sslrootcert=FILE|system; default: $PATHTWIN_STORE, else the user's own
    #[arg(long, value_name = "PLACE")]
    pub(crate) store: Option<String>,
}

impl Where {
    /// Opens it; made if it is not there.
    pub(crate) fn open(&self) -> Result<Store, Failure> {
        let set = std::env::var("PATHTWIN_STORE")
            .ok()
            .filter(|s| !s.is_empty());
        let place = match self.store.clone().or(set) {
            Some(text) => Place::parse(&text)?,
            None => of_user()?,
        };
        Ok(Store::open(&place)?)
    }
}

/// The user's own history. One that an earlier version left open to other users is taken back.
fn of_user() -> Result<Place, Failure> {
    let place = Place::of_user(std::env::var_os("XDG_DATA_HOME"), std::env::var_os("HOME"));
    let place = place.ok_or_else(|| {
        let why = "no folder for the history: HOME is not set; give --store";
        Failure::new(code::LACKS, anyhow!(why))
    })?;
    if let Some(file) = place.file() {
        let beside = ["-wal", "-shm"].map(|end| {
            let mut name = file.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        });
        let all = [
            file.parent(),
            Some(file),
            Some(&beside[0]),
            Some(&beside[1]),
        ];
        for path in all.into_iter().flatten() {
            // Not there yet, or on a file system without modes.
            let _ = sys::files::make_private(path);
        }
    }
    Ok(place)
}

/// Which documents.
#[derive(Clone, Debug, Args)]
pub(crate) struct Which {
    /// Only of this path
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
    /// Only with this label; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) label: Vec<(String, String)>,
    /// Only those made in this time, such as 30d
    #[arg(long, value_name = "AGE", value_parser = amount::age)]
    pub(crate) since: Option<Duration>,
    /// Only the last so many
    #[arg(long, value_name = "N")]
    pub(crate) last: Option<u64>,
}

impl Which {
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

/// The time so long ago, µs since 1970.
fn ago_us(age: Duration) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().saturating_sub(age).as_micros() as u64
}

/// `NAME=VALUE`.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("give NAME=VALUE".to_owned()),
    }
}
