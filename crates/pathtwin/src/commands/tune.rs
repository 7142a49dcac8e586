//! `pathtwin tune`.

pub(crate) mod apply;
mod journal;
pub(crate) mod prove;
mod settle;
#[cfg(feature = "lab")]
pub(crate) mod ssh;
pub(crate) mod transaction;

use std::{collections::BTreeMap, process::ExitCode};

use anyhow::anyhow;
use model::{change::ChangeId, text::Text};
use tune::{Drift, Folder, Live, NotApplied, RemoteError, TuneError};

use crate::{
    cli::tune::{Journal, List, Tune, TuneForm},
    exit::{Failure, code},
    format,
};
use journal::{exists, path};

pub(crate) fn tune(command: &Tune) -> Result<ExitCode, Failure> {
    match command {
        Tune::Plan(arguments) => apply::plan(arguments),
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

/// The kept changes of this host that somebody has overridden, by id, with their settings; none
/// where the journals may not be read, or a setting cannot.
pub(crate) fn drifted() -> BTreeMap<String, Vec<Text>> {
    let path = path(&Journal::default());
    if !path.try_exists().unwrap_or(false) {
        return BTreeMap::new();
    }
    let found = Folder::open(&path).map_err(TuneError::from);
    let found = found.and_then(|folder| {
        let mut host = Live::open().map_err(TuneError::from)?;
        tune::drifted(&folder, &mut host)
    });
    let texts = |(id, drift): (ChangeId, Vec<Drift>)| {
        let settings = drift.iter().map(Drift::text);
        (id.to_string(), settings.collect())
    };
    found.map_or_else(
        |_| BTreeMap::new(),
        |all| all.into_iter().map(texts).collect(),
    )
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
