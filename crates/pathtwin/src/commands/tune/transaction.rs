//! Applying a plan, with this program as the keeper.

use std::{io, process::Command, time::Duration};

use model::change::{Change, ChangeId, ProcessId};
use sys::process::Process;
use tune::{Arm, NewTcp, TuneError};

use super::{path, with_host};
use crate::{cli::tune::Journal, exit::Failure};

/// Time in which a change must be confirmed or prolonged, where no other is given.
pub(super) const CONNECTIVITY: Duration = Duration::from_secs(60);

/// Applies a plan, with this program as the keeper.
pub(super) fn applied(
    journal: &Journal,
    plan: &Change,
    window: Duration,
) -> Result<Change, Failure> {
    with_host(journal, |env| {
        let own = Process::own().map_err(TuneError::NoKeeper)?;
        let mut arm = Arm {
            window,
            controller: ProcessId {
                pid: own.pid,
                start_ticks: own.start_ticks,
            },
            keeper: &mut |id: &ChangeId| start_keeper(journal, id),
            prober: &mut NewTcp,
        };
        tune::apply(env, plan, &mut arm)
    })
}

/// This program again, as the keeper.
fn start_keeper(journal: &Journal, id: &ChangeId) -> io::Result<ProcessId> {
    let folder = std::path::absolute(path(journal))?;
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(["tune", "keep", id.as_str(), "--journal"])
        .arg(folder);
    tune::start_keeper(command)
}
