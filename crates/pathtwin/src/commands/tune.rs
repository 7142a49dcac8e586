//! `pathtwin tune`.

pub(crate) mod apply;
#[cfg(feature = "watch")]
pub(crate) mod drift;
mod journal;
pub(crate) mod prove;
#[cfg(feature = "watch")]
mod recheck;
mod settle;
#[cfg(feature = "lab")]
pub(crate) mod ssh;
pub(crate) mod transaction;
pub(crate) mod wanted;

use std::process::ExitCode;

use anyhow::anyhow;
use tune::{Live, NotApplied, RemoteError, TuneError};

use crate::{
    cli::tune::{List, Ready, Tune, TuneForm},
    exit::{Failure, code},
    format,
};
use journal::{exists, folder, path};

pub(crate) fn tune(command: &Tune) -> Result<ExitCode, Failure> {
    match command {
        Tune::Plan(arguments) => apply::plan(arguments),
        Tune::Apply(arguments) => apply::apply(arguments),
        Tune::Status(arguments) => settle::status(arguments),
        Tune::Confirm(arguments) => settle::confirm(arguments),
        Tune::Undo(arguments) => settle::undo(arguments),
        Tune::List(arguments) => list(arguments),
        #[cfg(feature = "watch")]
        Tune::Recheck(arguments) => recheck::recheck(arguments),
        Tune::Ready(arguments) => ready(arguments),
        Tune::Aside(arguments) => settle::switch(arguments, false),
        Tune::Again(arguments) => settle::switch(arguments, true),
        Tune::Counted(arguments) => settle::counted(arguments),
        Tune::Keep(arguments) => apply::keep(arguments),
    }
}

fn list(arguments: &List) -> Result<ExitCode, Failure> {
    let path = path(&arguments.journal);
    let mut all = Vec::new();
    if exists(&path)? {
        for listed in folder(&path)?.list().map_err(TuneError::from)? {
            match listed.change {
                Ok(change) => all.push(change),
                Err(error) => format::say(format_args!("{error}")),
            }
        }
    }
    match arguments.output {
        TuneForm::Text => {
            format::text(&report::change::list(&all))?;
            all.retain(|change| change.state.is_kept());
            if let Ok(compared) = Live::open().and_then(|mut host| tune::drifted(all, &mut host)) {
                settle::differing(&compared);
            }
        }
        TuneForm::Json => format::json(&all)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What `fix` asks of the far host before it measures.
fn ready(arguments: &Ready) -> Result<ExitCode, Failure> {
    if !sys::privilege::has_net_admin() {
        let error = anyhow!(
            "to set parameters, routes, queues, offloads and MTUs of this host needs \
             CAP_NET_ADMIN, which this user lacks"
        );
        return Err(Failure::new(code::LACKS, error));
    }
    let path = path(&arguments.journal);
    if exists(&path)? {
        folder(&path)?;
    }
    if !sys::privilege::has_sys_module() {
        format::text("to load modules needs CAP_SYS_MODULE, which this user lacks\n")?;
    }
    Ok(ExitCode::SUCCESS)
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
            | E::Overlaid { .. }
            | E::Aside(_)
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
            E::KeeperDied | E::Step { .. } | E::Host(_) | E::Remote(_) | E::Interrupted(_) => {
                code::FAILED
            }
        };
        Self::new(code, anyhow!(error))
    }
}
