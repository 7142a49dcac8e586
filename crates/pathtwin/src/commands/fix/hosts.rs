//! `pathtwin fix HOST`: what is advised, on this host and by ssh on the far one.

use std::sync::atomic::AtomicBool;

use ::tune::Criteria;
use anyhow::{Context, anyhow};
use model::{
    advice::{Advice, Tried},
    job::ProveOutput,
    net::Side,
    remedy::{Dialect, commands},
    twin::Twin,
};

use crate::{
    cli::fix::Fix,
    commands::{
        measure::Reached,
        tune::{
            apply,
            prove::{Here, Proving, Site, in_turns, window},
            there::There,
        },
    },
    exit::{Failure, code},
};

/// Applies what is advised, the far end first, and keeps it only if it helps.
pub(super) fn prove(
    arguments: &Fix,
    far: &Reached,
    twin: &Twin,
    advice: &Advice,
    best: &Tried,
    stop: &'static AtomicBool,
) -> Result<ProveOutput, Failure> {
    let plan = ::twin::turns(twin);
    let pairs = arguments.proof.pairs;
    let window = window(&plan, pairs, far.layers());
    let of_far = best.remedies.iter().any(|r| r.on.side() == Some(Side::Far));
    let there = match (&arguments.far_ssh, of_far) {
        (_, false) => None,
        (Some(login), true) => {
            let own = far
                .own_address()
                .context("find the own address")?
                .to_string();
            Some(There::plan(login, advice, &own)?).filter(|there| !there.is_empty())
        }
        (None, true) => return Err(by_hand(best)),
    };
    let line = far.control().ip();
    let toward = arguments.far.via.first().copied().unwrap_or(line);
    let near = apply::of_end(&best.remedies, Side::Near, line, toward)?;
    let near = apply::plan_of(near, Vec::new())?;
    let to = Proving {
        journal: &arguments.journal,
        far,
        plan: &plan,
        criteria: Criteria {
            goal: arguments.proof.goal.into(),
            predicted: best.changes.clone(),
            keep: arguments.proof.keep.clone(),
            pairs,
            program: env!("CARGO_PKG_VERSION").to_owned(),
        },
        stop,
    };
    let mut sites: Vec<Box<dyn Site + '_>> = Vec::new();
    if let Some(there) = there {
        there.apply(window)?;
        sites.push(Box::new(there));
    }
    if !near.steps.is_empty() {
        match Here::apply(&arguments.journal, &near, window) {
            Ok(here) => sites.push(Box::new(here)),
            Err(failure) => {
                // Its own keeper would do so too, at the deadline.
                sites.iter().try_for_each(|site| site.settle(false))?;
                return Err(failure);
            }
        }
    }
    if sites.is_empty() {
        return Ok(ProveOutput::default());
    }
    in_turns(&sites, &to)
}

/// What belongs to a far host that is not to be reached by ssh.
fn by_hand(best: &Tried) -> Failure {
    let far = best
        .remedies
        .iter()
        .filter(|r| r.on.side() == Some(Side::Far));
    let lines: Vec<String> = far.flat_map(|r| commands(r, Dialect::Linux)).collect();
    let error = anyhow!(
        "what is advised belongs to the far host, and nothing was changed: give --far-ssh USER@HOST \
         if `pathtwin` is there too, or run there, as root, and measure again:\n  {}",
        lines.join("\n  ")
    );
    Failure::new(code::VERDICT, error)
}
