//! Planning and applying, and the keeper.

use std::{
    io::{self, Write},
    net::IpAddr,
    path::Path,
    process::ExitCode,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, anyhow};
use model::{
    advice::Advice,
    change::{
        Change, ChangeId, Setting, SettingError,
        snippet::{Form, snippet},
    },
    findings::Findings,
    net::Side,
    remedy::Remedy,
};
use tune::{Criteria, Live, NewTcp, Operation, Place, Request, Sites, TuneError};

use super::{journal::with_host, prove, transaction::here};
use crate::{
    cli::tune::{Apply, End, Journal, Keep, Plan, Settings, Snippet, TuneForm},
    commands::measure::Far,
    document,
    exit::{Failure, code},
    format,
};

pub(super) fn plan(arguments: &Plan) -> Result<ExitCode, Failure> {
    let change = planned(&arguments.settings)?;
    show(&[change], arguments.output)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn apply(arguments: &Apply) -> Result<ExitCode, Failure> {
    let plan = match &arguments.plan {
        Some(name) => read(name)?,
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
    tune::privileged(&mut Live::open().map_err(TuneError::from)?, &plan)?;
    for warning in &plan.warnings {
        format::say(format_args!("note: {warning}"));
    }
    for writer in tune::writers(plan.steps.iter().map(|step| &step.setting)) {
        format::say(format_args!("note: {writer}"));
    }
    if let Some(span) = arguments.observe {
        return observed(arguments, plan, span);
    }
    if let Some(host) = &arguments.prove {
        return proved(arguments, plan, host);
    }
    let change = here(&arguments.journal, plan).applied(arguments.window)?;
    if !arguments.yes {
        format::text(&report::change::text(&change))?;
        return Ok(ExitCode::SUCCESS);
    }
    with_host(&arguments.journal, |env| {
        tune::confirm_or_undo(env, &change.id, &mut NewTcp)
    })?;
    kept(&arguments.journal, &change.id, arguments.persist)?;
    Ok(ExitCode::SUCCESS)
}

/// Reports the lifetime of a confirmed change, and writes it to files if requested.
pub(super) fn kept(journal: &Journal, id: &ChangeId, persist: bool) -> Result<(), Failure> {
    let short = id.short();
    if !persist {
        return format::text(&format!(
            "change {short} is confirmed, until the next boot\n"
        ));
    }
    let change = with_host(journal, |env| {
        tune::persist(env, id.as_str(), Path::new("/"))
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
fn proved(arguments: &Apply, plan: Change, host: &str) -> Result<ExitCode, Failure> {
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
    let turn = ::measure::plans::turns();
    let proof = &arguments.proof;
    let to = prove::Proving {
        far: &far,
        plan: &turn,
        criteria: Criteria {
            goal: proof.goal.into(),
            predicted: Vec::new(),
            keep: proof.keep.clone(),
            at_a_cost: false,
            pairs: proof.pairs,
            program: env!("CARGO_PKG_VERSION").to_owned(),
        },
        person: Duration::ZERO,
        stop,
    };
    let here = here(&arguments.journal, plan);
    let done = prove::in_turns(&Sites::new(None, Some(&here)), &to)?;
    format::text(&report::proof::text(&done))?;
    Ok(ExitCode::from(match done.is_kept() {
        true => 0,
        false => code::VERDICT,
    }))
}

/// Observes this host's connections before and after; the change then waits for confirmation as
/// usual.
fn observed(arguments: &Apply, plan: Change, span: Duration) -> Result<ExitCode, Failure> {
    let observe = |when: &str| {
        format::say(format_args!("observing {} s {when} it", span.as_secs()));
        let stopped = || Failure::new(code::INTERRUPTED, anyhow!("stopped {when} the change"));
        crate::commands::observe::for_a_time(span)?.ok_or_else(stopped)
    };
    let before = observe("before")?;
    let change = here(&arguments.journal, plan).applied(arguments.window + span)?;
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
            out.write_all(&[word]).and_then(|()| out.flush())
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

/// The plan of the settings that the user names.
fn planned(settings: &Settings) -> Result<Change, Failure> {
    Ok(plan_of(wanted(settings)?, settings.probe.clone())?)
}

/// The plan of settings of this host.
///
/// # Errors
/// As [`tune::plan`]; the kernel has no random numbers.
pub(crate) fn plan_of(settings: Wanted, probes: Vec<String>) -> Result<Change, TuneError> {
    let request = Request {
        settings,
        probes,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        created_unix_s: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .ok()
            .map(|since| since.as_secs()),
    };
    let id = tune::fresh_id().map_err(Operation::MakeId.failed())?;
    tune::plan(&mut Live::open()?, &request, id)
}

pub(crate) type Wanted = Vec<(Setting, Option<model::change::Origin>)>;

fn wanted(settings: &Settings) -> Result<Wanted, Failure> {
    let wrong = |e: SettingError| Failure::new(code::USE, anyhow!(e));
    let mut all: Wanted = Vec::new();
    for text in &settings.set {
        let setting = Setting::parse_set(text, settings.scope).map_err(wrong)?;
        all.push((setting, None));
    }
    let named = [
        &settings.queue,
        &settings.shape,
        &settings.shape_ingress,
        &settings.mss_clamp,
        &settings.offload,
        &settings.receive_steering,
        &settings.transmit_steering,
        &settings.rings,
        &settings.channels,
        &settings.module,
        &settings.queue_length,
        &settings.mtu,
    ];
    all.extend(named.into_iter().flatten().cloned().map(|s| (s, None)));
    let several = settings.udp_gro_forwarding.iter();
    let several = several.flat_map(|several| several.0.iter());
    all.extend(several.cloned().map(|s| (s, None)));
    if let (Some(name), Some(end)) = (&settings.findings, settings.end) {
        all.extend(proposed(name, end)?);
    }
    if let (Some(name), Some(end), Some(toward)) = (&settings.advice, settings.end, settings.toward)
    {
        all.extend(advised(name, end, toward)?);
    }
    if all.is_empty() && settings.findings.is_none() && settings.advice.is_none() {
        let why = "no setting to change; for example --set cc=bbr, --queue eth0=fq_codel";
        return Err(Failure::new(code::USE, anyhow!(why)));
    }
    Ok(all)
}

fn proposed(name: &str, end: End) -> Result<Wanted, Failure> {
    let findings = Findings::parse(&text_of(name)?)
        .with_context(|| name.to_owned())
        .map_err(|e| Failure::new(code::USE, e))?;
    let remedies = tune::settings_of(&findings, end.into());
    for not in &remedies.not {
        format::say(format_args!("not changed: {not}"));
    }
    Ok(remedies.settings)
}

/// Returns the remedies that an Advice has for this end, with the devices on the route to the
/// other.
fn advised(name: &str, end: End, toward: IpAddr) -> Result<Wanted, Failure> {
    let advice = Advice::parse(&text_of(name)?)
        .with_context(|| name.to_owned())
        .map_err(|e| Failure::new(code::USE, e))?;
    let Some(best) = advice.advised() else {
        format::say(format_args!("the advice is to change nothing"));
        return Ok(Vec::new());
    };
    of_end(&best.remedies, end.into(), toward, toward)
}

/// The settings of an end for remedies. `line` is the other end's address on the path itself,
/// `toward` that of the connections.
pub(crate) fn of_end(
    remedies: &[Remedy],
    side: Side,
    line: IpAddr,
    toward: IpAddr,
) -> Result<Wanted, Failure> {
    let mut host = Live::open().map_err(TuneError::from)?;
    let tunnel = (toward != line).then_some(toward);
    let place = Place::of(&mut host, Some(line), tunnel).map_err(TuneError::from)?;
    let found = tune::settings_of_all(remedies, side, &place);
    for not in &found.not {
        format::say(format_args!("not changed: {not}"));
    }
    Ok(found.settings)
}

impl From<End> for Side {
    fn from(end: End) -> Self {
        match end {
            End::Near => Side::Near,
            End::Far => Side::Far,
        }
    }
}

fn read(name: &str) -> Result<Change, Failure> {
    Change::parse(&text_of(name)?)
        .with_context(|| name.to_owned())
        .map_err(|e| Failure::new(code::USE, e))
}

fn text_of(name: &str) -> Result<Vec<u8>, Failure> {
    document::file(name)
        .unwrap_or_else(|| Err(Failure::new(code::USE, anyhow!("{name}: no such file"))))
}
