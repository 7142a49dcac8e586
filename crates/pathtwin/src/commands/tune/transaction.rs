//! This host for transactions, with this program as the keeper.

use std::{
    io,
    path::{Path, PathBuf},
    process::Command,
};

use model::{
    change::{Change, ChangeId, ProcessId},
    net::Side,
};
use tune::{HostError, LocalHost, Machine};

use super::journal::path;
use crate::{cli::tune::Journal, format};

/// This host, with its folder of journals.
pub(crate) struct Own {
    folder: PathBuf,
}

/// A planned change of this host, which measures: the near end.
pub(crate) fn here(journal: &Journal, plan: Change) -> LocalHost<Own> {
    let folder = path(journal);
    LocalHost::new(Own { folder }, Side::Near, plan)
}

impl Machine for Own {
    fn folder(&self) -> &Path {
        &self.folder
    }

    fn enter<T>(&self, act: impl FnOnce() -> T) -> Result<T, HostError> {
        Ok(act())
    }

    /// A service where that is possible: a session that ends may take its processes with it
    /// (`KillUserProcesses` in logind.conf(5)).
    fn keeper(&self, id: &ChangeId) -> io::Result<ProcessId> {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(["tune", "keep", id.as_str(), "--journal"])
            .arg(std::path::absolute(&self.folder)?);
        match tune::start_keeper_service(&command, id) {
            Some(Ok(keeper)) => return Ok(keeper),
            Some(Err(error)) => format::say(format_args!(
                "note: the keeper is no service, but a process that the end of this session may \
                 end, too: {error}"
            )),
            None => {}
        }
        tune::start_keeper(command)
    }
}
