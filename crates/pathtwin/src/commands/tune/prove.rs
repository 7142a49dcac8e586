//! `pathtwin tune apply --prove`: a change of this host, kept only if it helps.

use std::{sync::atomic::AtomicBool, time::Duration};

use ::measure::run::usual_estimate;
use model::{
    change::{Change, ChangeId},
    job::ProveOutput,
    net::Side,
    plan::Plan,
    proof::Acted,
    run::Run,
};
use tune::{Criteria, Live, MeasureError, NewTcp, TuneError, Turns};

use super::{
    transaction::{CONNECTIVITY, applied},
    with_host,
};
use crate::{
    cli::tune::Journal,
    commands::measure::{Progress, Reached},
    exit::{Failure, code},
    format,
};

/// What is proved, and on which path.
pub(crate) struct Proving<'a> {
    pub(crate) journal: &'a Journal,
    pub(crate) far: &'a Reached,
    /// What is measured in each turn.
    pub(crate) plan: &'a Plan,
    pub(crate) criteria: Criteria,
    pub(crate) stop: &'static AtomicBool,
}

/// A host whose settings are changed in turns.
pub(crate) trait Site {
    fn set(&self, on: bool) -> Result<(), TuneError>;
    fn evidence(&self, run: &Run) -> Vec<Acted>;
    /// Confirms it, or undoes it.
    fn settle(&self, keep: bool) -> Result<(), Failure>;
    fn change(&self) -> Option<Change>;
    fn id(&self) -> &ChangeId;
}

/// Time that a change waits for all its turns.
pub(crate) fn window(plan: &Plan, pairs: u32, layers: usize) -> Duration {
    tune::room(usual_estimate(plan, layers).usual_end(), pairs)
}

/// Measures changes that are applied and pending, and keeps them or undoes them.
///
/// # Errors
/// A measurement failed or a change could not be switched: everything was undone. Or a change could
/// be neither kept nor undone.
pub(crate) fn in_turns(
    sites: &[Box<dyn Site + '_>],
    to: &Proving<'_>,
) -> Result<ProveOutput, Failure> {
    let ids: Vec<ChangeId> = sites.iter().map(|site| site.id().clone()).collect();
    let turns = 2 * to.criteria.pairs;
    let s = usual_estimate(to.plan, to.far.layers()).time_s[1] * f64::from(turns);
    format::say(format_args!(
        "the change waits, and is measured in {turns} turns, about {:.0} min",
        (s / 60.0).ceil()
    ));
    let mut bench = Bench { sites, to };
    let proof = tune::prove(&mut bench, &ids, &to.criteria);
    let keep = proof.as_ref().is_ok_and(|proof| proof.decision.is_kept());
    // All of them, whatever becomes of the first.
    let settled: Vec<Result<(), Failure>> = sites.iter().map(|site| site.settle(keep)).collect();
    let proof = proof.map_err(|error| Failure::new(code::FAILED, error))?;
    settled.into_iter().collect::<Result<(), Failure>>()?;
    Ok(ProveOutput {
        changes: sites.iter().filter_map(|site| site.change()).collect(),
        proof: Some(Box::new(proof)),
        ..ProveOutput::default()
    })
}

struct Bench<'a> {
    sites: &'a [Box<dyn Site + 'a>],
    to: &'a Proving<'a>,
}

impl Turns for Bench<'_> {
    fn set(&mut self, on: bool) -> Result<(), TuneError> {
        self.sites.iter().try_for_each(|site| site.set(on))
    }

    fn measure(&mut self) -> Result<Run, MeasureError> {
        let run = self
            .to
            .far
            .measure(self.to.plan, None, Progress::Hidden, self.to.stop);
        let run = run.map_err(|failure| MeasureError::from(failure.error))?;
        match &run.cut_short {
            Some(why) => Err(why.to_string().into()),
            None => Ok(run),
        }
    }

    fn evidence(&mut self, run: &Run) -> Vec<Acted> {
        self.sites
            .iter()
            .flat_map(|site| site.evidence(run))
            .collect()
    }
}

/// This host, which measures: the near end.
pub(crate) struct Here<'a> {
    journal: &'a Journal,
    id: ChangeId,
}

impl<'a> Here<'a> {
    /// Applies a planned change, which then waits as long as the turns take.
    ///
    /// # Errors
    /// It is not applied, or was undone.
    pub(crate) fn apply(
        journal: &'a Journal,
        plan: &Change,
        window: Duration,
    ) -> Result<Self, Failure> {
        let change = applied(journal, plan, CONNECTIVITY)?;
        with_host(journal, |env| {
            tune::prolong(env, Some(change.id.as_str()), &mut NewTcp, window)
        })?;
        Ok(Self {
            journal,
            id: change.id,
        })
    }

    fn with<T>(
        &self,
        act: impl FnOnce(&mut tune::Env<'_>) -> Result<T, TuneError>,
    ) -> Result<T, TuneError> {
        super::with_env(self.journal, act)
    }
}

impl Site for Here<'_> {
    fn set(&self, on: bool) -> Result<(), TuneError> {
        let id = Some(self.id.as_str());
        self.with(|env| match on {
            true => tune::set_again(env, id),
            false => tune::set_aside(env, id),
        })
    }

    fn evidence(&self, run: &Run) -> Vec<Acted> {
        let of = |change: &Change| {
            let mut host = Live::open().ok()?;
            Some(tune::evidence(&mut host, change, Side::Near, run))
        };
        self.change().as_ref().and_then(of).unwrap_or_default()
    }

    fn settle(&self, keep: bool) -> Result<(), Failure> {
        let id = Some(self.id.as_str());
        with_host(self.journal, |env| match keep {
            true => tune::confirm(env, id, &mut NewTcp).map(|kept| {
                for drift in &kept.drift {
                    format::say(format_args!("note: {drift}"));
                }
            }),
            false => match tune::undo(env, id) {
                Ok(_) => Ok(()),
                // It was undone when it could not be switched.
                Err(TuneError::Over { .. }) => Ok(()),
                Err(error) => Err(error),
            },
        })
    }

    fn change(&self) -> Option<Change> {
        self.with(|env| Ok(env.folder.read(&self.id)?)).ok()
    }

    fn id(&self) -> &ChangeId {
        &self.id
    }
}
