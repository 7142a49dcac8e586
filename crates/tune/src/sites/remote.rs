//! The far host, or a router of the path, whose settings are changed by the same program there.

use std::{net::IpAddr, time::Duration};

use model::{
    advice::Advice,
    change::{Change, ChangeError, ChangeId, State},
    proof::Acted,
    remedy::Location,
    run::Run,
};

use super::site::Site;
use crate::{
    error::{Drift, TuneError},
    prove::evidence,
    remote::{Remote, RemoteError},
};

/// A planned change of another host.
#[derive(Debug)]
pub struct RemoteHost<R> {
    remote: R,
    on: Location,
    plan: Change,
}

impl<R: Remote> RemoteHost<R> {
    /// Plans the remedies of an Advice for the far end there. `toward` is this host's address from
    /// the view of the far one.
    ///
    /// # Errors
    /// The far host cannot be reached, has no such program, or refuses.
    pub fn plan_far(remote: R, advice: &Advice, toward: IpAddr) -> Result<Self, RemoteError> {
        Self::plan(remote, advice, (Location::Far, "far"), toward)
    }

    /// Plans the remedies of an Advice for a router of the path there. `toward` is the far end's
    /// address: the device on the route to it is the one before the bottleneck.
    ///
    /// # Errors
    /// As [`plan_far`](Self::plan_far).
    pub fn plan_router(remote: R, advice: &Advice, toward: IpAddr) -> Result<Self, RemoteError> {
        Self::plan(remote, advice, (Location::Router, "router"), toward)
    }

    fn plan(
        remote: R,
        advice: &Advice,
        (on, end): (Location, &str),
        toward: IpAddr,
    ) -> Result<Self, RemoteError> {
        let advice = serde_json::to_vec(advice).map_err(RemoteError::Advice)?;
        let toward = toward.to_string();
        let words = [
            "plan", "--advice", "-", "--end", end, "--toward", &toward, "--output", "json",
        ];
        let planned = remote.tune(&words, &advice)?;
        let plan = Change::parse(&planned).map_err(|error| unusable(&remote, error))?;
        Ok(Self { remote, on, plan })
    }

    /// Returns its plan, as made there.
    pub fn planned(&self) -> &Change {
        &self.plan
    }
}

fn unusable(remote: &impl Remote, error: ChangeError) -> RemoteError {
    RemoteError::Plan {
        host: remote.host().to_owned(),
        error,
    }
}

impl<R: Remote> Site for RemoteHost<R> {
    fn id(&self) -> Option<&ChangeId> {
        Some(&self.plan.id)
    }

    fn is_needed(&self) -> bool {
        !self.plan.steps.is_empty()
    }

    fn apply(&self, window: Duration) -> Result<(), TuneError> {
        let plan = self.plan.to_json();
        let plan = plan.map_err(|error| unusable(&self.remote, error))?;
        self.remote.tune(&["apply", "--plan", "-"], &plan)?;
        let window = format!("{}s", window.as_secs());
        let words = ["confirm", self.plan.id.as_str(), "--prolong", &window];
        let prolonged = self.remote.tune(&words, b"");
        prolonged.map(|_| ()).map_err(|error| {
            // Its keeper would do so too, at the deadline.
            let _ = self.settle(false);
            error.into()
        })
    }

    fn set(&self, on: bool) -> Result<(), TuneError> {
        let word = if on { "again" } else { "aside" };
        self.remote.tune(&[word, self.plan.id.as_str()], b"")?;
        Ok(())
    }

    fn evidence(&self, run: &Run) -> Vec<Acted> {
        let counted = self.remote.tune(&["counted", self.plan.id.as_str()], b"");
        let counted = counted
            .ok()
            .and_then(|all| serde_json::from_slice(&all).ok());
        let settings = self.plan.steps.iter().map(|step| &step.setting);
        evidence(settings, counted, self.on, run)
    }

    fn settle(&self, keep: bool) -> Result<Vec<Drift>, TuneError> {
        let word = if keep { "confirm" } else { "undo" };
        let done = self.remote.tune(&[word, self.plan.id.as_str()], b"");
        // It was undone because it could not be switched; or it succeeded, and the reply was lost.
        let is_done = |change: Change| match keep {
            true => change.state.is_kept(),
            false => change.state == State::RolledBack,
        };
        match done {
            Ok(_) => Ok(Vec::new()),
            Err(_) if self.change().is_some_and(is_done) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    fn change(&self) -> Option<Change> {
        let all = self.remote.tune(&["list", "--output", "json"], b"").ok()?;
        let all: Vec<Change> = serde_json::from_slice(&all).ok()?;
        all.into_iter().find(|change| change.id == self.plan.id)
    }
}
