//! `pathtwin fix HOST`: what is advised, on this host and by ssh on the far one.

use std::sync::atomic::AtomicBool;

use ::tune::{Criteria, Site, Sites, There, TuneError};
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
            prove::{Proving, in_turns},
            ssh::Ssh,
            transaction::here,
        },
    },
    exit::{Failure, code},
};

/// Plans what is advised for both ends, and proves it.
pub(super) fn prove(
    arguments: &Fix,
    far: &Reached,
    twin: &Twin,
    advice: &Advice,
    best: &Tried,
    stop: &'static AtomicBool,
) -> Result<ProveOutput, Failure> {
    let there = match (&arguments.far_ssh, best.is_on(Side::Far)) {
        (_, false) => None,
        (Some(login), true) => {
            let own = far.own_address().context("find the own address")?;
            let there = There::plan(Ssh { login }, advice, &own.to_string());
            Some(there.map_err(TuneError::from)?)
        }
        (None, true) => return Err(by_hand(best)),
    };
    let line = far.control().ip();
    let toward = arguments.far.via.first().copied().unwrap_or(line);
    let near = apply::of_end(&best.remedies, Side::Near, line, toward)?;
    let near = here(&arguments.journal, apply::plan_of(near, Vec::new())?);
    let to = Proving {
        far,
        plan: &::twin::turns(twin),
        criteria: Criteria {
            goal: arguments.proof.goal.into(),
            predicted: best.changes.clone(),
            keep: arguments.proof.keep.clone(),
            pairs: arguments.proof.pairs,
            program: env!("CARGO_PKG_VERSION").to_owned(),
        },
        stop,
    };
    let there = there.as_ref().map(|there| there as &dyn Site);
    in_turns(&Sites::new(there, Some(&near)), &to)
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
