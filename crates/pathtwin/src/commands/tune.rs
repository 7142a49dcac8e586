//! `pathtwin tune`.

pub(crate) mod apply;
pub(crate) mod prove;
mod settle;
#[cfg(feature = "lab")]
pub(crate) mod ssh;
pub(crate) mod transaction;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, anyhow};
use model::change::{Change, ChangeId};
use tune::{BootClock, Drift, Env, Folder, Live, NotApplied, RemoteError, TuneError, Unobserved};

use crate::{
    cli::tune::{Journal, List, Plan, Tune, TuneForm},
    exit::{Failure, code},
    format,
};

/// Default folder of the journals.
const FOLDER: &str = "/var/lib/pathtwin/tune";

pub(crate) fn tune(command: &Tune) -> Result<ExitCode, Failure> {
    match command {
        Tune::Plan(arguments) => plan(arguments),
        Tune::Apply(arguments) => apply::apply(arguments),
        Tune::Status(arguments) => settle::status(arguments),
        Tune::Confirm(arguments) => settle::confirm(arguments),
        Tune::Undo(arguments) => settle::undo(arguments),
        Tune::List(arguments) => list(arguments),
        Tune::Aside(arguments) => settle::switch(arguments, false),
        Tune::Again(arguments) => settle::switch(arguments, true),
        Tune::Keep(arguments) => apply::keep(arguments),
    }
}

fn plan(arguments: &Plan) -> Result<ExitCode, Failure> {
    let change = apply::planned(&arguments.settings)?;
    show(&[change], arguments.output)?;
    Ok(ExitCode::SUCCESS)
}

fn list(arguments: &List) -> Result<ExitCode, Failure> {
    let path = path(&arguments.journal);
    let mut all = Vec::new();
    if exists(&path)? {
        for listed in Folder::open(&path)
            .map_err(TuneError::from)?
            .list()
            .map_err(TuneError::from)?
        {
            match listed.change {
                Ok(change) => all.push(change),
                Err(error) => format::say(format_args!("{error}")),
            }
        }
    }
    match arguments.output {
        TuneForm::Text => format::text(&report::change::list(&all))?,
        TuneForm::Json => format::json(&all)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn show(changes: &[Change], form: TuneForm) -> Result<(), Failure> {
    match form {
        TuneForm::Text => changes
            .iter()
            .try_for_each(|change| format::text(&report::change::text(change))),
        TuneForm::Json => match changes {
            [one] => format::json(one),
            all => format::json(&all),
        },
    }
}

/// The folder that the user names, or the default one.
fn path(journal: &Journal) -> PathBuf {
    let named = std::env::var_os("PATHTWIN_JOURNAL").filter(|v| !v.is_empty());
    let named = journal.journal.clone().or(named.map(PathBuf::from));
    named.unwrap_or_else(|| Path::new(FOLDER).to_owned())
}

/// The kept changes of this host that somebody has overridden, by id, with their settings in words;
/// none where the journals may not be read, or a setting cannot.
pub(crate) fn drifted() -> BTreeMap<String, Vec<String>> {
    let path = path(&Journal::default());
    if !path.try_exists().unwrap_or(false) {
        return BTreeMap::new();
    }
    let found = Folder::open(&path).map_err(TuneError::from);
    let found = found.and_then(|folder| {
        let mut host = Live::open().map_err(TuneError::from)?;
        tune::drifted(&folder, &mut host)
    });
    let words = |(id, drift): (ChangeId, Vec<Drift>)| {
        let settings = drift.iter().map(ToString::to_string);
        (id.to_string(), settings.collect())
    };
    found.map_or_else(
        |_| BTreeMap::new(),
        |all| all.into_iter().map(words).collect(),
    )
}

/// Returns true if the folder of journals exists; only its owner may be permitted to know.
fn exists(path: &Path) -> Result<bool, Failure> {
    path.try_exists()
        .with_context(|| {
            format!(
                "look for the journals in {}; run it as root",
                path.display()
            )
        })
        .map_err(|e| Failure::new(code::LACKS, e))
}

/// Calls `act` with the running kernel and a folder of journals.
fn with_host<T>(
    journal: &Journal,
    act: impl FnOnce(&mut Env<'_>) -> Result<T, TuneError>,
) -> Result<T, Failure> {
    let folder = Folder::open(&path(journal)).map_err(TuneError::from)?;
    let mut host = Live::open().map_err(TuneError::from)?;
    let mut env = Env {
        folder: &folder,
        host: &mut host,
        clock: &BootClock,
        observer: &mut Unobserved,
    };
    Ok(act(&mut env)?)
}

impl From<NotApplied> for Failure {
    fn from(error: NotApplied) -> Self {
        match error.not_undone.is_empty() {
            true => (*error.error).into(),
            false => Self::new(code::FAILED, error),
        }
    }
}

impl From<TuneError> for Failure {
    fn from(error: TuneError) -> Self {
        use TuneError as E;
        let code = match &error {
            E::Refused(_)
            | E::Privilege(_)
            | E::Pending(_)
            | E::Elsewhere(_)
            | E::Stale(_)
            | E::ProbeBefore { .. }
            | E::NoKeeper(_)
            | E::Persist(_)
            | E::Busy => code::LACKS,
            E::Step { rollback, .. } if rollback.is_complete() => code::VERDICT,
            E::ProbeAfter { .. } | E::TooLate(_) => code::VERDICT,
            E::Nothing
            | E::Unknown(_)
            | E::Ambiguous(_)
            | E::NonePending
            | E::OnlyConfirmed(_)
            | E::Over { .. } => code::USE,
            E::Journal(_) | E::Remote(RemoteError::Start { .. }) => code::LACKS,
            E::Remote(RemoteError::NotMade { .. }) => code::VERDICT,
            // With the exit code of the program there.
            E::Remote(RemoteError::Failed {
                exit: Some(exit @ 1..=4),
                ..
            }) => *exit as u8,
            E::Step { .. } | E::Host(_) | E::Remote(_) | E::Interrupted(_) => code::FAILED,
        };
        Self::new(code, anyhow!(error))
    }
}
