//! `pathtwin fix HOST`: the advised remedies, on this host, and on the far one by ssh or by hand.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use ::measure::plans;
use ::tune::{
    BootClock, Criteria, ManualHost, Person, Refusal, RemoteError, RemoteHost, Site, Sites,
    TuneError, command_of, not_applied, until_changed,
};
use anyhow::Context;
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
            transaction::here,
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

/// Plans the advised remedies for both ends, and proves them.
pub(super) fn prove(
    arguments: &Fix,
    far: &Reached,
    found: &Found<'_>,
    stop: &'static AtomicBool,
) -> Result<ProveOutput, Failure> {
    let best = found.best;
    let is_on_far = best.is_on(Side::Far);
    let line = far.control().ip();
    let toward = arguments.far.via.first().copied().unwrap_or(line);
    let near = wanted::of_host(&best.remedies, Location::Near, line, toward)?;
    let near = match wanted::plan_of(near) {
        Err(TuneError::Refused(all)) => {
            let all = all.iter().map(Refusal::text);
            return Ok(not_applied(&text!("this host"), all));
        }
        planned => here(&arguments.journal, planned?),
    };
    let there = match arguments.far_ssh.as_ref().filter(|_| is_on_far) {
        None => None,
        Some(login) => {
            let own = far.own_address().context("find the own address")?;
            match RemoteHost::plan(Ssh { login }, found.advice, &own.to_string()) {
                // With the exit code of `tune` for settings that a host refuses or lacks.
                Err(RemoteError::Failed {
                    exit: Some(exit),
                    message,
                    ..
                }) if exit == i32::from(code::LACKS) => {
                    // Output of the program there.
                    let message = Text::name(message);
                    return Ok(not_applied(&Text::name(login), [message]));
                }
                there => Some(there.map_err(TuneError::from)?),
            }
        }
    };
    let manual = match is_on_far && there.is_none() {
        false => None,
        true => Some(manual(arguments, far, found, stop)?),
    };
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
        person: manual.as_ref().map_or(Duration::ZERO, |_| arguments.wait),
        stop,
    };
    let there = there.as_ref().map(|there| there as &dyn Site);
    let there = there.or(manual.as_ref().map(|manual| manual as &dyn Site));
    in_turns(&Sites::new(there, Some(&near)), &to)
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
