//! Commands after a change: status, confirmation, undo.

use std::process::ExitCode;

use model::change::Change;
use tune::{Compared, Live, NewFlows, Pending, Recovery, Rollback, TuneError};

use super::{
    apply::{self, show},
    journal::{exists, folder, path, with_host},
};
use crate::{
    cli::tune::{Confirm, Counted, Status, Switch, TuneForm, Undo},
    exit::{Failure, code},
    format,
};

pub(super) fn status(arguments: &Status) -> Result<ExitCode, Failure> {
    if !exists(&path(&arguments.journal))? {
        if arguments.output == TuneForm::Json {
            format::json(&Vec::<Change>::new())?;
        } else {
            format::text("no change waits for a confirmation\n")?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let Pending {
        recovery,
        changes,
        last,
        seen,
        compared,
    } = with_host(&arguments.journal, tune::pending)?;
    match (arguments.output, &recovery) {
        (TuneForm::Text, Recovery::Clean) => {
            format::text("no change waits for a confirmation\n")?;
            let undone = last.filter(|c| c.undone_because.is_some());
            if let Some(change) = undone {
                format::text(&report::change::text(&change))?;
            }
        }
        (form, _) => show(&changes, form)?,
    }
    for id in &seen {
        let id = id.short();
        format::say(format_args!(
            "note: change {id}: after a boot, its files have set everything"
        ));
    }
    differing(&compared);
    Ok(match recovery {
        Recovery::Undone(all) => {
            let complete = all.iter().all(|(_, rollback)| rollback.is_complete());
            ExitCode::from(if complete {
                code::VERDICT
            } else {
                code::FAILED
            })
        }
        _ => ExitCode::SUCCESS,
    })
}

/// Says which settings of kept changes are others now.
pub(super) fn differing(compared: &Compared) {
    for (id, all) in &compared.drifted {
        for drift in all {
            format::say(format_args!("note: change {}: {drift}", id.short()));
        }
    }
    for unread in &compared.unread {
        format::say(format_args!("note: {unread}"));
    }
}

pub(super) fn confirm(arguments: &Confirm) -> Result<ExitCode, Failure> {
    let id = arguments.id.as_deref();
    if let Some(window) = arguments.prolong {
        let change = with_host(&arguments.journal, |env| {
            tune::prolong(env, id, &mut NewFlows, window)
        })?;
        format::text(&report::change::text(&change))?;
        return Ok(ExitCode::SUCCESS);
    }
    let kept = with_host(&arguments.journal, |env| {
        match tune::confirm(env, id, &mut NewFlows) {
            // Its files were interrupted, or refused.
            Err(TuneError::Over { id, state }) if arguments.persist && state.is_kept() => {
                Ok((id, Vec::new()))
            }
            kept => kept.map(|kept| (kept.change.id, kept.drift)),
        }
    });
    let (id, drift) = kept?;
    for drift in &drift {
        format::say(format_args!("note: {drift}"));
    }
    apply::kept(&arguments.journal, &id, arguments.persist)?;
    Ok(ExitCode::SUCCESS)
}

/// Half of a turn of a proof.
pub(super) fn switch(arguments: &Switch, on: bool) -> Result<ExitCode, Failure> {
    let id = Some(arguments.id.as_str());
    with_host(&arguments.journal, |env| match on {
        true => tune::set_again(env, id),
        false => tune::set_aside(env, id),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// What `fix` reads on another host after a turn with the change.
pub(super) fn counted(arguments: &Counted) -> Result<ExitCode, Failure> {
    let folder = folder(&path(&arguments.journal))?;
    let change = folder.read(&arguments.id).map_err(TuneError::from)?;
    let mut host = Live::open().map_err(TuneError::from)?;
    format::json(&tune::counted(&mut host, &change))?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn undo(arguments: &Undo) -> Result<ExitCode, Failure> {
    let id = arguments.id.as_deref();
    let (id, rollback): (_, Rollback) = with_host(&arguments.journal, |env| tune::undo(env, id))?;
    format::text(&format!("change {}: {rollback}\n", id.short()))?;
    if let Some(error) = &rollback.journal {
        format::say(format_args!("the journal does not record it: {error}"));
    }
    Ok(match rollback.is_complete() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(code::FAILED),
    })
}
