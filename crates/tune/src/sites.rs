//! Changes of the hosts of a path as one transaction: the far end first, measured in turns, then
//! all kept or all undone.

mod local;
mod manual;
mod remote;
mod site;

use std::time::Duration;

use model::{
    change::{Change, ChangeId},
    job::ProveOutput,
    proof::{Acted, Proof},
    run::Run,
    text,
    text::Text,
};

use crate::{
    error::{Drift, TuneError},
    prove::{Criteria, MeasureError, Order, ProveError, Turns, prove},
};

pub use local::{LocalHost, Machine};
pub use manual::{ManualHost, Person, command_of, until_changed};
pub use remote::RemoteHost;
pub use site::Site;

/// The hosts that are changed, the far end first and the near one last: while one is changed, those
/// behind it can still be reached as before.
#[derive(Default)]
pub struct Sites<'a>(Vec<&'a dyn Site>);

/// Measures the path in its present state.
pub type Measure<'a> = &'a mut dyn FnMut() -> Result<Run, MeasureError>;

/// Outcome of a proof on several hosts.
#[derive(Debug)]
pub struct Settled {
    /// The proof, or the reason why there is none; then everything that waited was undone.
    pub proof: Result<Proof, ProveError>,
    /// Settings of kept changes that another program has changed since.
    pub drift: Vec<Drift>,
    /// Changes that stay because somebody has confirmed them meanwhile.
    pub stay: Vec<Text>,
    /// Hosts on which the decision could not be carried out, with the reason.
    pub failed: Vec<NotSettled>,
}

/// A decision that could not be carried out on a host.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub enum NotSettled {
    /// A change could not be kept: the changes of all hosts were undone.
    NotKept {
        /// The change; absent if a person makes it.
        id: Option<ChangeId>,
        /// The error.
        #[source]
        error: TuneError,
    },
    /// A change could not be undone: its keeper does so at its deadline, unless it was confirmed
    /// before.
    NotUndone {
        /// The change; absent if a person makes it.
        id: Option<ChangeId>,
        /// The error.
        #[source]
        error: TuneError,
    },
}

impl NotSettled {
    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::NotKept { id, error } => text!(
                "undone on every host, because change {id} could not be kept: {error}",
                id = short(id),
                error = error.text()
            ),
            Self::NotUndone { id, error } => text!(
                "change {id} may still be there ({error}); on its host: pathtwin tune undo {id}",
                id = short(id),
                error = error.text()
            ),
        }
    }

    fn kept(site: &dyn Site, error: TuneError) -> Self {
        let id = site.id().cloned();
        Self::NotKept { id, error }
    }

    fn undone(site: &dyn Site, error: TuneError) -> Self {
        let id = site.id().cloned();
        Self::NotUndone { id, error }
    }
}

fn short(id: &Option<ChangeId>) -> &str {
    id.as_ref().map_or("", ChangeId::short)
}

impl Settled {
    /// The proof, and the changes as their journals have them after it.
    ///
    /// # Errors
    /// There is no proof, or its decision could not be carried out on every host.
    pub fn output(self, changes: Vec<Change>) -> Result<ProveOutput, NotProved> {
        match self.proof {
            Ok(proof) if self.failed.is_empty() => Ok(ProveOutput {
                changes,
                proof: Some(Box::new(proof)),
                ..ProveOutput::default()
            }),
            proof => Err(NotProved {
                proof: proof.err().map(Box::new),
                hosts: self.failed,
            }),
        }
    }
}

/// Reason why a proof did not end as decided.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub struct NotProved {
    /// Why there is no proof; absent if there is one.
    pub proof: Option<Box<ProveError>>,
    /// Hosts on which the decision, or the undoing without one, could not be carried out.
    pub hosts: Vec<NotSettled>,
}

impl NotProved {
    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        let proof = self.proof.iter().map(|error| error.text());
        Text::list(proof.chain(self.hosts.iter().map(NotSettled::text)))
    }
}

/// The outcome for a host that cannot apply a remedy, with the reasons; another remedy may be
/// possible.
pub fn not_applied(host: &Text, why: impl IntoIterator<Item = Text>) -> ProveOutput {
    let sentence = |why| text!("{host}: {source}", host = host.clone(), source = why);
    ProveOutput {
        not_applied: why.into_iter().map(sentence).collect(),
        ..ProveOutput::default()
    }
}

/// A change was not applied, and those applied before it were undone.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub struct NotApplied {
    /// The error.
    #[source]
    pub error: Box<TuneError>,
    /// Errors undoing changes of other hosts immediately: their keepers undo them at their
    /// deadline.
    pub not_undone: Vec<TuneError>,
}

impl NotApplied {
    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        let error = self.error.text();
        match self.not_undone.is_empty() {
            true => error,
            false => text!(
                "{error}; undone at its deadline: {others}",
                error = error,
                others = Text::list(self.not_undone.iter().map(TuneError::text))
            ),
        }
    }
}

impl<'a> Sites<'a> {
    /// The hosts to change, from the far end to the near one.
    pub fn new(hosts: impl IntoIterator<Item = &'a dyn Site>) -> Self {
        let hosts = hosts.into_iter();
        Self(hosts.filter(|site| site.is_needed()).collect())
    }

    /// Returns true if nothing is to be changed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Applies all changes, which then wait for the time `window`, or none.
    ///
    /// # Errors
    /// A change could not be applied: the previous ones were undone.
    pub fn apply(&self, window: Duration) -> Result<(), NotApplied> {
        for (number, site) in self.0.iter().enumerate() {
            if let Err(error) = site.apply(window) {
                let undone = self.0[..number].iter().map(|site| site.settle(false));
                return Err(NotApplied {
                    error: Box::new(error),
                    not_undone: undone.filter_map(Result::err).collect(),
                });
            }
        }
        Ok(())
    }

    /// Measures in turns, and keeps all changes or undoes all, but for those that somebody has
    /// confirmed meanwhile.
    pub fn prove(&self, measure: Measure<'_>, criteria: &Criteria) -> Settled {
        let ids: Vec<ChangeId> = self
            .0
            .iter()
            .filter_map(|site| site.id().cloned())
            .collect();
        let mut bench = Bench {
            sites: &self.0,
            measure,
        };
        let once = self.0.iter().any(|site| site.is_switched_once());
        let order = if once {
            Order::OneAfterOther
        } else {
            Order::Alternating
        };
        let proof = prove(&mut bench, &ids, order, criteria);
        let keep = proof.as_ref().is_ok_and(|proof| proof.decision.is_kept());
        self.settled(proof, keep)
    }

    /// Keeps all changes that wait, or undoes them. None has been confirmed from here yet, so that
    /// one that is kept is somebody's decision.
    fn settled(&self, proof: Result<Proof, ProveError>, keep: bool) -> Settled {
        let (kept, pending): (Vec<_>, Vec<_>) =
            self.0.iter().copied().partition(|site| is_kept(*site));
        let mut settled = Settled {
            proof,
            drift: Vec::new(),
            stay: kept.into_iter().map(stays).collect(),
            failed: Vec::new(),
        };
        match keep {
            true => Self(pending).keep(&mut settled),
            false => settled.failed.extend(Self(pending).undo()),
        }
        settled
    }

    /// Keeps all changes, the far end's first: as long as this end's change is pending, both can be
    /// undone from here. If one cannot be kept, all are undone, including those already kept.
    fn keep(&self, settled: &mut Settled) {
        for site in &self.0 {
            match site.settle(true) {
                Ok(drift) => settled.drift.extend(drift),
                Err(error) => {
                    settled.failed.push(NotSettled::kept(*site, error));
                    settled.failed.extend(self.undo());
                    return;
                }
            }
        }
    }

    /// Undoes all changes, regardless of failures; returns those that could not be undone.
    fn undo(&self) -> Vec<NotSettled> {
        self.0.iter().filter_map(|site| undone(*site)).collect()
    }

    /// The changes as their journals have them now.
    pub fn changes(&self) -> Vec<Change> {
        self.0.iter().filter_map(|site| site.change()).collect()
    }
}

/// Returns true if the change of a host is kept.
fn is_kept(site: &dyn Site) -> bool {
    site.change().is_some_and(|change| change.state.is_kept())
}

/// That the change of a host stays, and how to undo it.
fn stays(site: &dyn Site) -> Text {
    text!(
        "change {id} was confirmed during the proof, and stays; on its host: pathtwin tune undo {id}",
        id = site.id().map_or("", ChangeId::short)
    )
}

/// Undoes the change of a host; the failure, if it cannot be undone.
fn undone(site: &dyn Site) -> Option<NotSettled> {
    let error = site.settle(false).err()?;
    Some(NotSettled::undone(site, error))
}

struct Bench<'a, 'm> {
    sites: &'a [&'a dyn Site],
    measure: Measure<'m>,
}

impl Turns for Bench<'_, '_> {
    fn set(&mut self, on: bool) -> Result<(), TuneError> {
        self.sites.iter().try_for_each(|site| site.set(on))
    }

    fn measure(&mut self) -> Result<Run, MeasureError> {
        (self.measure)()
    }

    fn evidence(&mut self, run: &Run) -> Vec<Acted> {
        let of_each = self.sites.iter().map(|site| site.evidence(run));
        of_each.flatten().collect()
    }
}

#[cfg(test)]
mod tests;
