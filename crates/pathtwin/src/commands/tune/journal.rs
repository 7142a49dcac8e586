//! The folder of journals.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow};
use tune::{BootClock, Env, Folder, Live, TuneError, Unobserved};

use crate::{
    cli::tune::Journal,
    exit::{Failure, code},
};

/// Default folder of the journals.
const FOLDER: &str = "/var/lib/pathtwin/tune";

/// The same on OpenWrt, where /var is in memory: a change in files would outlive its journal. Its
/// upgrades keep /etc/pathtwin.
const FOLDER_OF_OPENWRT: &str = "/etc/pathtwin/tune";

/// The folder that the user names, or the default one.
pub(super) fn path(journal: &Journal) -> PathBuf {
    let named = std::env::var_os("PATHTWIN_JOURNAL").filter(|v| !v.is_empty());
    let named = journal.journal.clone().or(named.map(PathBuf::from));
    let default = match sys::machine::is_openwrt() {
        true => FOLDER_OF_OPENWRT,
        false => FOLDER,
    };
    named.unwrap_or_else(|| Path::new(default).to_owned())
}

/// Returns true if the folder of journals exists; only its owner may be permitted to know.
pub(super) fn exists(path: &Path) -> Result<bool, Failure> {
    match path.try_exists() {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(denied(path)),
        known => known
            .with_context(|| format!("look for the journals in {}", path.display()))
            .map_err(|e| Failure::new(code::LACKS, e)),
    }
}

/// Opens a folder of journals. Only its owner may read those of others.
pub(super) fn folder(path: &Path) -> Result<Folder, Failure> {
    match std::fs::read_dir(path) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(denied(path)),
        _ => Ok(Folder::open(path).map_err(TuneError::from)?),
    }
}

/// The error of a user without the privileges, with those that each part needs.
fn denied(path: &Path) -> Failure {
    let error = anyhow!(
        "the journals in {} belong to another user: to read and write them needs \
         CAP_DAC_OVERRIDE, which this user lacks, and to undo their changes CAP_NET_ADMIN (of \
         modules CAP_SYS_MODULE); run it as root",
        path.display()
    );
    Failure::new(code::LACKS, error)
}

/// Calls `act` with the running kernel and a folder of journals.
pub(super) fn with_host<T>(
    journal: &Journal,
    act: impl FnOnce(&mut Env<'_>) -> Result<T, TuneError>,
) -> Result<T, Failure> {
    let folder = folder(&path(journal))?;
    let mut host = Live::open().map_err(TuneError::from)?;
    let mut env = Env {
        folder: &folder,
        host: &mut host,
        clock: &BootClock,
        observer: &mut Unobserved,
    };
    Ok(act(&mut env)?)
}
