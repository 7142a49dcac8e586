//! This host for transactions, with this program as the keeper.

use std::{
    io,
    path::{Path, PathBuf},
    process::Command,
};

use model::{
    change::{Change, ChangeId},
    net::Side,
};
use tune::{HostError, LocalHost, Machine};

use super::journal::path;
use crate::cli::tune::Journal;

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

    fn keeper(&self, id: &ChangeId) -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(["tune", "keep", id.as_str(), "--journal"])
            .arg(std::path::absolute(&self.folder)?);
        Ok(command)
    }
}
