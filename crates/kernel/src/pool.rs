//! Download of the pinned package from the pool of an archive.
//!
//! A pool keeps the file of every package that one of its suites has. The file is known by its
//! hash, so neither an index nor a signature is needed: a host that does not know the archive's
//! keys can use it, such as Ubuntu 22.04, whose `debian-archive-keyring` is older than Debian 12.

use std::path::{Path, PathBuf};

use super::apt::SANDBOX;
use super::error::{Context as _, KernelError, SourceFault};
use super::run::{Runner, plain};
use super::source::hash_file;
use super::tested::Tested;

/// Downloads files with apt's own settings, such as its proxy; not in `PATH` (apt since 1.1).
const HELPER: &str = "/usr/lib/apt/apt-helper";

/// Name of the file of a package.
pub(super) fn file_name(package: &Tested) -> String {
    format!("{}_{}_all.deb", package.package, package.version)
}

/// The package in a folder, if it is there and whole.
pub(super) fn kept(package: &Tested, folder: &Path) -> Option<PathBuf> {
    let file = folder.join(file_name(package));
    (hash_file(&file).ok()? == package.sha256).then_some(file)
}

/// Downloads a package into a folder, in which it appears only if it has its hash.
///
/// # Errors
/// The archive does not have it, or has other bytes.
pub(super) fn download(
    runner: &Runner,
    uri: &str,
    package: &Tested,
    folder: &Path,
) -> Result<PathBuf, KernelError> {
    let name = file_name(package);
    let partial = folder.join("partial");
    std::fs::create_dir_all(&partial).on("create", &partial)?;
    let file = partial.join(&name);
    let mut command = plain(HELPER);
    command
        .args(["-o", SANDBOX, "-o", "Acquire::Retries=2", "download-file"])
        // Debian's source package of every kernel is `linux`.
        .arg(format!("{uri}/pool/main/l/linux/{name}"))
        .arg(&file)
        .arg(format!("SHA256:{}", package.sha256));
    let downloaded = runner
        .run("downloading the pinned source", &mut command)
        .and_then(|()| match hash_file(&file)? == package.sha256 {
            true => Ok(()),
            false => Err(KernelError::source(&file, SourceFault::WrongPackage)),
        });
    let whole = folder.join(name);
    let moved = downloaded.and_then(|()| std::fs::rename(&file, &whole).on("install", &whole));
    // Only what failed is left in it.
    std::fs::remove_dir_all(&partial).on("remove", &partial)?;
    moved.map(|()| whole)
}
