//! Planning and applying, and the keeper.

use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, anyhow};
use model::{
    change::{
        Change, ChangeId, Setting,
        snippet::{Form, snippet},
    },
    net::Layer,
};
use sys::service::Manager;
use tune::{Criteria, Live, NewFlows, Site, Sites, TuneError};

use super::{
    journal::with_host,
    prove,
    transaction::here,
    wanted::{planned, text_of},
};
use crate::{
    cli::tune::{Apply, Journal, Keep, Plan, Snippet, TuneForm},
    commands::measure::Far,
    exit::{Failure, code},
    format,
};

pub(super) fn plan(arguments: &Plan) -> Result<ExitCode, Failure> {
    let (change, _) = planned(&arguments.settings)?;
    show(&[change], arguments.output)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn apply(arguments: &Apply) -> Result<ExitCode, Failure> {
    let (plan, predicted) = match &arguments.plan {
        Some(name) => (read(name)?, Vec::new()),
        None => planned(&arguments.settings)?,
    };
    if let Some(form) = arguments.snippet {
        let settings: Vec<Setting> = plan.steps.iter().map(|s| s.setting.clone()).collect();
        let form = match form {
            Snippet::Shell => Form::Shell,
            Snippet::Ansible => Form::Ansible,
            Snippet::Nixos => Form::NixOs,
            Snippet::CloudInit => Form::CloudInit,
        };
        format::text(&snippet(&settings, form))?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.dry_run {
        let commands = plan.steps.iter().flat_map(|s| s.setting.commands());
        let text: String = commands.map(|c| c + "\n").collect();
        format::text(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    if plan.steps.is_empty() {
        format::text(&report::change::text(&plan))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut host = Live::open().map_err(TuneError::from)?;
    tune::privileged(&mut host, &plan)?;
    let window = arguments.window;
    let window = window.unwrap_or_else(|| tune::window(&mut host, &plan));
    for warning in &plan.warnings {
        format::say(format_args!("note: {warning}"));
    }
    if let Some(span) = arguments.observe {
        return observed(arguments, plan, span, window);
    }
    if let Some(host) = &arguments.prove {
        return proved(arguments, plan, predicted, host);
    }
    let change = here(&arguments.journal, plan).applied(window)?;
    if !arguments.yes {
        format::text(&report::change::text(&change))?;
        return Ok(ExitCode::SUCCESS);
    }
    with_host(&arguments.journal, |env| {
        tune::confirm_or_undo(env, &change.id, &mut NewFlows)
    })?;
    kept(&arguments.journal, &change.id, arguments.persist)?;
    Ok(ExitCode::SUCCESS)
}

/// Reports the lifetime of a confirmed change, and writes it to files if requested; where files are
/// managed by other means, prints the settings for these.
pub(super) fn kept(journal: &Journal, id: &ChangeId, persist: bool) -> Result<(), Failure> {
    let short = id.short();
    if !persist {
        return format::text(&format!(
            "change {short} is confirmed, until the next boot\n"
        ));
    }
    let change = with_host(journal, |env| {
        let written = tune::persist(env, id.as_str(), Path::new("/"));
        let other_means = written.as_ref().err().and_then(TuneError::snippet);
        // On standard output alone, so that it can be piped to where it belongs.
        if let (Some(form), Ok(change)) = (other_means, env.folder.read(id)) {
            let settings: Vec<Setting> = change.steps.into_iter().map(|s| s.setting).collect();
            let _ = format::text(&snippet(&settings, form));
        }
        written
    })?;
    let files: String = change
        .files
        .iter()
        .map(|file| format!("  {}\n", file.path))
        .collect();
    format::text(&format!(
        "change {short} is confirmed, and in files:\n{files}"
    ))
}

/// Measures with and without the change in turns, then keeps or undoes it.
fn proved(
    arguments: &Apply,
    plan: Change,
    predicted: Vec<model::advice::Change>,
    host: &str,
) -> Result<ExitCode, Failure> {
    if arguments.settings.advice.is_some() && predicted.is_empty() {
        format::say(format_args!(
            "note: the advice predicts nothing of exactly these settings, so no prediction is \
             compared with the outcome"
        ));
    }
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let end = &arguments.far;
    let far = Far {
        host,
        port: end.port,
        via: &end.via,
        key: end.key.as_deref(),
        open: end.open,
    };
    let far = far.reach()?;
    let turn = ::measure::plans::turns(match end.via.is_empty() {
        true => Layer::Underlay,
        false => Layer::Tunnel,
    });
    let proof = &arguments.proof;
    let to = prove::Proving {
        far: &far,
        plan: &turn,
        criteria: Criteria {
            goal: proof.goal.into(),
            predicted,
            keep: proof.keep.clone(),
            at_a_cost: false,
            pairs: proof.pairs,
            program: env!("CARGO_PKG_VERSION").to_owned(),
        },
        person: Duration::ZERO,
        stop,
    };
    let here = here(&arguments.journal, plan);
    let done = prove::in_turns(&Sites::new([&here as &dyn Site]), &to)?;
    format::text(&report::proof::text(&done))?;
    #[cfg(feature = "history")]
    if arguments.settings.advice.is_some() {
        let path = far.control().ip().to_string();
        prove::recorded(&arguments.place, &path, false, &done)?;
    }
    Ok(ExitCode::from(match done.is_kept() {
        true => 0,
        false => code::VERDICT,
    }))
}

/// Observes this host's connections before and after; the change then waits for confirmation as
/// usual.
fn observed(
    arguments: &Apply,
    plan: Change,
    span: Duration,
    window: Duration,
) -> Result<ExitCode, Failure> {
    let observe = |when: &str| {
        format::say(format_args!("observing {} s {when} it", span.as_secs()));
        let stopped = || Failure::new(code::INTERRUPTED, anyhow!("stopped {when} the change"));
        crate::commands::observe::for_a_time(span)?.ok_or_else(stopped)
    };
    let before = observe("before")?;
    let change = here(&arguments.journal, plan).applied(window + span)?;
    let after = observe("after")?;
    let both = analysis::traffic::before_and_after(&before, &after);
    format::text(&report::live::text(&both))?;
    format::text(&report::change::text(&change))?;
    Ok(ExitCode::SUCCESS)
}

/// The keeper of a change: started by [`apply`], never by a person.
pub(super) fn keep(arguments: &Keep) -> Result<ExitCode, Failure> {
    sys::process::ignore_requests_to_end().context("ignore signals")?;
    with_host(&arguments.journal, |env| {
        tune::keep(env, &arguments.id, &mut |word| {
            let mut out = io::stdout().lock();
            out.write_all(&[word]).and_then(|()| out.flush())?;
            if let Some(manager) = Manager::of_environment() {
                manager.ready();
            }
            Ok(())
        })
    })?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn show(changes: &[Change], form: TuneForm) -> Result<(), Failure> {
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

fn read(name: &str) -> Result<Change, Failure> {
    Change::parse(&text_of(name)?)
        .with_context(|| name.to_owned())
        .map_err(|e| Failure::new(code::USE, e))
}
