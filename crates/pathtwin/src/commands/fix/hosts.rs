//! `pathtwin fix HOST`: the advised remedies, on this host, on the far one by ssh or by hand, and
//! on a router by ssh.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use ::measure::plans;
use ::tune::{
    BootClock, Criteria, LocalHost, ManualHost, Person, Refusal, Remote, RemoteError, RemoteHost,
    Site, Sites, TuneError, command_of, not_applied, until_changed,
};
use anyhow::{Context, anyhow};
use model::{
    advice::{Advice, Tried},
    change::Setting,
    facts::HostFacts,
    job::ProveOutput,
    net::Side,
    plan::Plan,
    remedy::Location,
    run::Run,
    text,
    text::Text,
};

use crate::{
    cli::fix::Fix,
    commands::{
        measure::{Progress, Reached},
        tune::{
            prove::{Proving, in_turns},
            ssh::Ssh,
            transaction::{Own, here},
            wanted,
        },
    },
    exit::{Failure, code},
    format,
};

/// Results so far.
pub(super) struct Found<'a> {
    pub(super) run: &'a Run,
    /// Plan measured in each turn of a proof.
    pub(super) turns: &'a Plan,
    pub(super) advice: &'a Advice,
    pub(super) best: &'a Tried,
}

/// Checks that `pathtwin tune` may change another host, before anything is measured.
pub(super) fn ready(login: &str) -> Result<(), Failure> {
    let notes = match (Ssh { login }).tune(&["ready"], b"") {
        Ok(notes) => notes,
        Err(error) => {
            let hint = hint(&error).map_or_else(String::new, |hint| format!("\nhint: {hint}"));
            let error = anyhow!("nothing was measured: {error}{hint}");
            return Err(Failure::new(code::LACKS, error));
        }
    };
    for note in String::from_utf8_lossy(&notes).lines() {
        let note = model::safe::line(note);
        format::say(format_args!("note: {login}: {note}"));
    }
    Ok(())
}

/// What to do, by the exit code of ssh, of the shell and of sudo there.
fn hint(error: &RemoteError) -> Option<&'static str> {
    let RemoteError::Failed { exit, .. } = error else {
        return None;
    };
    match exit {
        Some(255) => Some("the login by ssh must work without a question"),
        Some(126 | 127) => {
            Some("pathtwin must be in the search path there, and sudo, which root does not need")
        }
        Some(1) => Some("let sudo run pathtwin there without a password, or log in as root"),
        Some(2) => Some("install the same version of pathtwin there"),
        _ => None,
    }
}

/// Plans the advised remedies for all hosts, shows the plan with its conflicts, and proves them if
/// `agreed`; otherwise `None`.
pub(super) fn prove(
    arguments: &Fix,
    far: &Reached,
    found: &Found<'_>,
    stop: &'static AtomicBool,
    agreed: impl FnOnce() -> Result<bool, Failure>,
) -> Result<Option<ProveOutput>, Failure> {
    let planned = match planned(arguments, far, found, stop)? {
        Ok(planned) => planned,
        Err(refused) => return Ok(Some(refused)),
    };
    planned.show(arguments);
    let sites = planned.sites();
    // Where all is as advised, there is nothing to ask.
    if sites.is_empty() {
        return Ok(Some(ProveOutput::default()));
    }
    if !agreed()? {
        return Ok(None);
    }
    let best = found.best;
    let to = Proving {
        far,
        plan: found.turns,
        criteria: Criteria {
            goal: arguments.proof.goal.into(),
            predicted: best.changes.clone(),
            keep: arguments.proof.keep.clone(),
            at_a_cost: arguments.at_a_cost,
            pairs: arguments.proof.pairs,
            program: env!("CARGO_PKG_VERSION").to_owned(),
        },
        person: match &planned.far {
            Some(FarHost::Manual(_)) => arguments.wait,
            _ => Duration::ZERO,
        },
        stop,
    };
    in_turns(&sites, &to).map(Some)
}

/// The advised remedies as settings of the hosts.
struct Planned<'a> {
    near: LocalHost<Own>,
    router: Option<RemoteHost<Ssh<'a>>>,
    far: Option<FarHost<'a>>,
}

/// Ways to change the far host.
enum FarHost<'a> {
    Ssh(Box<RemoteHost<Ssh<'a>>>),
    Manual(ManualHost<Shell<'a>>),
}

impl Planned<'_> {
    fn sites(&self) -> Sites<'_> {
        let far = self.far.as_ref().map(|far| match far {
            FarHost::Ssh(far) => far.as_ref() as &dyn Site,
            FarHost::Manual(far) => far as &dyn Site,
        });
        let router = self.router.as_ref().map(|router| router as &dyn Site);
        Sites::new(
            far.into_iter()
                .chain(router)
                .chain([&self.near as &dyn Site]),
        )
    }

    /// Says what is planned on each host.
    fn show(&self, arguments: &Fix) {
        let host = arguments.host.as_deref().unwrap_or_default();
        let far = self.far.as_ref().map(|far| match far {
            FarHost::Ssh(far) => report::change::plan(host, far.planned()),
            FarHost::Manual(far) => {
                let line = |setting| format!("  {setting}\n");
                let all: String = far.settings().iter().map(line).collect();
                format!("on {host}, by a command for you to run there:\n{all}")
            }
        });
        let login = arguments.router_ssh.as_deref().unwrap_or_default();
        let router = self.router.as_ref();
        let router = router.map(|router| report::change::plan(login, router.planned()));
        let near = report::change::plan("this host", self.near.planned());
        for text in far.into_iter().chain(router).chain([near]) {
            for line in text.lines() {
                format::say(format_args!("{line}"));
            }
        }
    }
}

/// Plans for all hosts, or the reasons why one of them cannot have the remedies.
fn planned<'a>(
    arguments: &'a Fix,
    far: &'a Reached,
    found: &Found<'_>,
    stop: &'static AtomicBool,
) -> Result<Result<Planned<'a>, ProveOutput>, Failure> {
    let best = found.best;
    let line = far.control().ip();
    let toward = arguments.far.via.first().copied().unwrap_or(line);
    let near = wanted::of_host(&best.remedies, Location::Near, line, toward)?;
    let of_near = wanted::plan_of(near).and_then(|plan| {
        let near = here(&arguments.journal, plan);
        near.privileged().map(|()| near)
    });
    let near = match of_near {
        Err(TuneError::Refused(all)) => {
            let all = all.iter().map(Refusal::text);
            return Ok(Err(not_applied(&text!("this host"), all)));
        }
        Err(error @ TuneError::Privilege(_)) => {
            return Ok(Err(not_applied(&text!("this host"), [error.text()])));
        }
        near => near?,
    };
    let far = match (best.is_on(Side::Far), &arguments.far_ssh) {
        (false, _) => None,
        (true, None) => Some(FarHost::Manual(manual(arguments, far, found, stop)?)),
        (true, Some(login)) => {
            let own = far.own_address().context("find the own address")?;
            let there = RemoteHost::plan_far(Ssh { login }, found.advice, own);
            match accepted(login, there)? {
                Ok(there) => Some(FarHost::Ssh(Box::new(there))),
                Err(refused) => return Ok(Err(refused)),
            }
        }
    };
    let is_of_router = best.remedies.iter().any(|r| r.on == Location::Router);
    let router = match arguments.router_ssh.as_ref().filter(|_| is_of_router) {
        None => None,
        Some(login) => {
            let there = RemoteHost::plan_router(Ssh { login }, found.advice, line);
            match accepted(login, there)? {
                Ok(there) => Some(there),
                Err(refused) => return Ok(Err(refused)),
            }
        }
    };
    Ok(Ok(Planned { near, router, far }))
}

/// A plan of another host, or the reasons why it refuses.
fn accepted<R>(
    login: &str,
    planned: Result<R, RemoteError>,
) -> Result<Result<R, ProveOutput>, Failure> {
    match planned {
        // With the exit code of `tune` for settings that a host refuses or lacks.
        Err(RemoteError::Failed {
            exit: Some(exit),
            message,
            ..
        }) if exit == i32::from(code::LACKS) => {
            // Output of the program there.
            Ok(Err(not_applied(&Text::name(login), [Text::name(message)])))
        }
        planned => Ok(Ok(planned.map_err(TuneError::from)?)),
    }
}

/// The settings for a far host without ssh access, as determined by that host for its devices.
fn manual<'a>(
    arguments: &'a Fix,
    far: &'a Reached,
    found: &Found<'_>,
    stop: &'static AtomicBool,
) -> Result<ManualHost<Shell<'a>>, Failure> {
    let own = far.own_address().context("find the own address")?;
    let shell = Shell {
        host: arguments.host.as_deref().unwrap_or_default(),
        far,
        limit: arguments.wait,
        stop,
    };
    let facts = &found.run.far.facts;
    let (manual, not) = ManualHost::of_remedies(shell, &found.best.remedies, facts, own);
    for not in &not {
        format::say(format_args!("not changed: {not}"));
    }
    Ok(manual)
}

/// A person at a shell of the far host.
struct Shell<'a> {
    host: &'a str,
    far: &'a Reached,
    limit: Duration,
    stop: &'static AtomicBool,
}

impl Shell<'_> {
    /// Returns the current facts of the far host; a path that is briefly down may recover.
    fn facts(&self) -> Option<HostFacts> {
        let run = self
            .far
            .measure(&plans::facts(), None, Progress::Hidden, self.stop);
        run.ok().map(|run| run.far.facts.settled())
    }
}

impl Person for Shell<'_> {
    fn request(&self, settings: &[Setting], window: Duration) -> Result<(), TuneError> {
        let not_made = || RemoteError::NotMade {
            host: self.host.to_owned(),
            limit: self.limit,
        };
        let before = self.facts();
        format::say(format_args!(
            "now run this on {}, within {} min; this end notices it and measures again:\n  sudo {}",
            self.host,
            self.limit.as_secs() / 60,
            command_of(settings, window)
        ));
        let is_stopped = || self.stop.load(Ordering::Relaxed);
        match until_changed(before, || self.facts(), &BootClock, self.limit, is_stopped) {
            true => Ok(()),
            false => Err(not_made().into()),
        }
    }

    fn report(&self, keep: bool) {
        let command = if keep { "confirm" } else { "undo" };
        format::say(format_args!(
            "now run this on {}; without it the change there is undone at its deadline:\n  sudo \
             pathtwin tune {command}",
            self.host
        ));
    }
}
