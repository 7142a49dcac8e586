//! A host whose kernel this program changes: this one, or one in a namespace.

use std::{io, path::Path, time::Duration};

use model::{
    change::{Change, ChangeId, ProcessId, Setting},
    proof::Acted,
    remedy::Location,
    run::Run,
};
use sys::process::Process;

use super::site::Site;
use crate::{
    BootClock, Env,
    confirm::{confirm, prolong, undo},
    error::{Drift, HostError, TuneError},
    host::Host,
    journal::Folder,
    live::Live,
    observer::Unobserved,
    probe::NewFlows,
    prove::{counted, evidence},
    reset::CONNECTIVITY,
    toggle::{set_again, set_aside},
    transaction::{Arm, apply, privileged},
};

/// Host whose settings are changed, with its journals.
pub trait Machine {
    /// Folder of the journals.
    fn folder(&self) -> &Path;

    /// Calls `act` in the namespace of this host.
    ///
    /// # Errors
    /// Its namespace cannot be entered.
    fn enter<T>(&self, act: impl FnOnce() -> T) -> Result<T, HostError>;

    /// Starts the keeper of a change, and returns when it is ready.
    ///
    /// # Errors
    /// As [`start_keeper`](crate::start_keeper).
    fn keeper(&self, id: &ChangeId) -> io::Result<ProcessId>;
}

/// A planned change of a host that this program changes.
#[derive(Debug)]
pub struct LocalHost<M> {
    machine: M,
    on: Location,
    plan: Change,
}

impl<M: Machine> LocalHost<M> {
    /// A change of the host `on` the path.
    pub fn new(machine: M, on: impl Into<Location>, plan: Change) -> Self {
        Self {
            machine,
            on: on.into(),
            plan,
        }
    }

    /// Returns the host.
    pub fn machine(&self) -> &M {
        &self.machine
    }

    /// Returns its plan.
    pub fn planned(&self) -> &Change {
        &self.plan
    }

    /// Checks that this process has the privileges for its plan.
    ///
    /// # Errors
    /// As [`privileged`]; its namespace cannot be entered.
    pub fn privileged(&self) -> Result<(), TuneError> {
        self.machine
            .enter(|| privileged(&mut Live::open()?, &self.plan))?
    }

    /// Applies the plan; it then waits for a confirmation for the time `window`.
    ///
    /// # Errors
    /// As [`apply`].
    pub fn applied(&self, window: Duration) -> Result<Change, TuneError> {
        // Before the folder of journals, which a user without privileges cannot open.
        self.privileged()?;
        self.with(|env| {
            let own = Process::own().map_err(TuneError::NoKeeper)?;
            let mut arm = Arm {
                window,
                controller: ProcessId {
                    pid: own.pid,
                    start_ticks: own.start_ticks,
                },
                // Born in the namespace of this thread.
                keeper: &mut |id| self.machine.keeper(id),
                prober: &mut NewFlows,
            };
            apply(env, &self.plan, &mut arm)
        })
    }

    /// Settings of a change that was not kept, from the journal, whose values differ from those
    /// before it.
    ///
    /// # Errors
    /// A value cannot be read.
    pub fn left_changed(&self, change: &Change) -> Result<Vec<Setting>, HostError> {
        if change.state.is_kept() {
            return Ok(Vec::new());
        }
        self.machine.enter(|| {
            let mut host = Live::open()?;
            let mut left = Vec::new();
            for step in &change.steps {
                if host.read(&step.setting)? != step.old {
                    left.push(step.setting.clone());
                }
            }
            Ok(left)
        })?
    }

    fn with<T>(
        &self,
        act: impl FnOnce(&mut Env<'_>) -> Result<T, TuneError>,
    ) -> Result<T, TuneError> {
        let folder = Folder::open(self.machine.folder())?;
        self.machine.enter(|| {
            act(&mut Env {
                folder: &folder,
                host: &mut Live::open()?,
                clock: &BootClock,
                observer: &mut Unobserved,
            })
        })?
    }
}

impl<M: Machine> Site for LocalHost<M> {
    fn id(&self) -> Option<&ChangeId> {
        Some(&self.plan.id)
    }

    fn is_needed(&self) -> bool {
        !self.plan.steps.is_empty()
    }

    fn apply(&self, window: Duration) -> Result<(), TuneError> {
        self.applied(CONNECTIVITY)?;
        let prolonged =
            self.with(|env| prolong(env, Some(self.plan.id.as_str()), &mut NewFlows, window));
        prolonged.map(|_| ()).inspect_err(|_| {
            // Its keeper would do so too, at the deadline.
            let _ = self.settle(false);
        })
    }

    fn set(&self, on: bool) -> Result<(), TuneError> {
        self.with(|env| match on {
            true => set_again(env, Some(self.plan.id.as_str())),
            false => set_aside(env, Some(self.plan.id.as_str())),
        })
    }

    fn evidence(&self, run: &Run) -> Vec<Acted> {
        let of = |change: &Change| {
            let read = self.machine.enter(|| {
                let mut host = Live::open().ok()?;
                Some(counted(&mut host, change))
            });
            let settings = change.steps.iter().map(|step| &step.setting);
            evidence(settings, read.ok().flatten(), self.on, run)
        };
        self.change().as_ref().map(of).unwrap_or_default()
    }

    fn settle(&self, keep: bool) -> Result<Vec<Drift>, TuneError> {
        self.with(|env| match keep {
            true => match confirm(env, Some(self.plan.id.as_str()), &mut NewFlows) {
                Ok(kept) => Ok(kept.drift),
                // Somebody has confirmed it meanwhile.
                Err(TuneError::Over { state, .. }) if state.is_kept() => Ok(Vec::new()),
                Err(error) => Err(error),
            },
            false => match undo(env, Some(self.plan.id.as_str())) {
                Ok(_) => Ok(Vec::new()),
                // It was undone when it could not be switched.
                Err(TuneError::Over { .. }) => Ok(Vec::new()),
                Err(error) => Err(error),
            },
        })
    }

    fn change(&self) -> Option<Change> {
        let folder = Folder::open(self.machine.folder()).ok()?;
        folder.read(&self.plan.id).ok()
    }
}
