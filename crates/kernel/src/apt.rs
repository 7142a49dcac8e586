//! Download of a signed `linux-source` package without a change to the host's own apt.
//!
//! apt works in a private folder with one source line, and checks the archive's signature against
//! the Debian keyring that the line names. Everything that could weaken that check is disabled in
//! case the host's configuration enables it. An index that is signed but expired can be read on
//! request; a package from it must then be verified by a known hash.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::{Context as _, KernelError, SourceFault};
use super::run::{Runner, plain};
use super::tested::Offer;
use super::version::source_packages;

/// The folder of downloads is the user's own; apt's helper user may not be able to write there.
pub(super) const SANDBOX: &str = "APT::Sandbox::User=root";

/// One suite of one archive, read through a private folder.
#[derive(Debug)]
pub(super) struct Repository {
    pub(super) uri: String,
    pub(super) suite: String,
    pub(super) keyring: PathBuf,
    /// Private to this repository.
    pub(super) folder: PathBuf,
    /// Accept an index that is signed but out of date.
    pub(super) expired: bool,
}

impl Repository {
    /// `http://deb.debian.org/debian unstable`
    pub(super) fn describe(&self) -> String {
        format!("{} {}", self.uri, self.suite)
    }

    fn prepare(&self) -> Result<(), KernelError> {
        // Fresh lists every time: with old ones apt only warns about a bad signature.
        let lists = self.folder.join("state/lists");
        if lists.exists() {
            std::fs::remove_dir_all(&lists).on("remove", &lists)?;
        }
        for dir in ["state/lists/partial", "cache/archives/partial"] {
            let dir = self.folder.join(dir);
            std::fs::create_dir_all(&dir).on("create", &dir)?;
        }
        let line = format!(
            "deb [signed-by={}] {} {} main\n",
            self.keyring.display(),
            self.uri,
            self.suite
        );
        for (name, text) in [("sources.list", line.as_str()), ("status", "")] {
            let file = self.folder.join(name);
            std::fs::write(&file, text).on("write", &file)?;
        }
        Ok(())
    }

    fn command(&self, program: &str) -> Command {
        let mut command = plain(program);
        let mut option = |name: &str, value: &dyn std::fmt::Display| {
            command.arg("-o").arg(format!("{name}={value}"));
        };
        option(
            "Dir::Etc::SourceList",
            &self.folder.join("sources.list").display(),
        );
        option("Dir::State", &self.folder.join("state").display());
        option(
            "Dir::State::Lists",
            &self.folder.join("state/lists").display(),
        );
        option("Dir::State::status", &self.folder.join("status").display());
        option("Dir::Cache", &self.folder.join("cache").display());
        for name in [
            "SourceParts",
            "Preferences",
            "PreferencesParts",
            "Trusted",
            "TrustedParts",
        ] {
            option(&format!("Dir::Etc::{name}"), &"/dev/null");
        }
        for name in [
            "APT::Get::AllowUnauthenticated",
            "APT::Install-Recommends",
            "Acquire::AllowInsecureRepositories",
            "Acquire::AllowWeakRepositories",
            "Acquire::AllowDowngradeToInsecureRepositories",
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled",
            "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled",
        ] {
            option(name, &"false");
        }
        option("Acquire::Check-Date", &true);
        option("Acquire::Check-Valid-Until", &!self.expired);
        option("Acquire::Languages", &"none");
        option("Acquire::Retries", &"2");
        command.args(["-o", SANDBOX]);
        command
    }

    /// Reads the signed index.
    pub(super) fn update(&self, runner: &Runner) -> Result<(), KernelError> {
        self.prepare()?;
        let mut command = self.command("apt-get");
        command.args(["-o", "APT::Update::Error-Mode=any", "-q", "update"]);
        runner.run("reading the archive's index", &mut command)
    }

    /// The kernel sources of the suite.
    pub(super) fn offers(&self, runner: &Runner) -> Result<Vec<Offer>, KernelError> {
        offers(
            runner,
            || self.command("apt-get"),
            self.command("apt-cache"),
            &self.describe(),
            self.expired,
        )
    }

    /// Downloads a package and checks it against the signed index.
    pub(super) fn download(
        &self,
        runner: &Runner,
        name: &str,
        into: &Path,
    ) -> Result<PathBuf, KernelError> {
        fetch(runner, || self.command("apt-get"), name, into)
    }
}

/// The kernel sources known to the host's own apt, by its sources, lists and trusted keys.
pub(super) fn host_offers(runner: &Runner) -> Result<Vec<Offer>, KernelError> {
    offers(runner, host_apt, plain("apt-cache"), HOST, false)
}

/// Downloads a package with the host's own apt.
pub(super) fn host_download(
    runner: &Runner,
    name: &str,
    into: &Path,
) -> Result<PathBuf, KernelError> {
    fetch(runner, host_apt, name, into)
}

/// Name of the host's own sources where archives are listed.
pub(super) const HOST: &str = "this host's own apt";

fn host_apt() -> Command {
    let mut apt = plain("apt-get");
    apt.args(["-o", "APT::Get::AllowUnauthenticated=false", "-o", SANDBOX]);
    apt
}

fn offers(
    runner: &Runner,
    apt: impl Fn() -> Command,
    mut search: Command,
    archive: &str,
    expired: bool,
) -> Result<Vec<Offer>, KernelError> {
    search.args(["search", "--names-only", "^linux-source-[0-9.]+$"]);
    let names = source_packages(&runner.output("searching for a kernel source", &mut search)?);
    let mut offers = Vec::new();
    for package in names {
        let listing = runner.output(
            "finding the file of the package",
            apt().args(["-q", "--print-uris", "download", &package]),
        )?;
        if let Some(line) = package_line(&listing, &package) {
            offers.push(Offer {
                archive: archive.to_owned(),
                version: line.version,
                sha256: line.sha256,
                package,
                expired,
            });
        }
    }
    Ok(offers)
}

/// Runs `apt-get download` in a folder of packages; a complete package in it is not downloaded
/// again.
fn fetch(
    runner: &Runner,
    apt: impl Fn() -> Command,
    name: &str,
    folder: &Path,
) -> Result<PathBuf, KernelError> {
    std::fs::create_dir_all(folder).on("create", folder)?;
    let listing = runner.output(
        "finding the file of the package",
        apt().args(["-q", "--print-uris", "download", name]),
    )?;
    let line = package_line(&listing, name).ok_or_else(|| {
        let fault = SourceFault::NoPackageFile(name.to_owned());
        KernelError::source(folder, fault)
    })?;
    runner.run(
        &format!("downloading {name}"),
        apt().current_dir(folder).args(["-q", "download", name]),
    )?;
    Ok(folder.join(line.file))
}

/// apt's description of the file that holds a package.
#[derive(Debug, PartialEq, Eq)]
struct PackageLine {
    file: String,
    version: String,
    sha256: Option<String>,
}

/// Reads a line like `'http://.../x.deb' linux-source-7.2_7.2.13-1_all.deb 164108840 SHA256:...`.
fn package_line(listing: &str, name: &str) -> Option<PackageLine> {
    listing
        .lines()
        .filter(|line| line.starts_with('\''))
        .find_map(|line| {
            let file = line.split_whitespace().nth(1)?;
            let version = file.strip_prefix(name)?.strip_prefix('_')?;
            let (version, _) = version.strip_suffix(".deb")?.split_once('_')?;
            let sha256 = line
                .split_whitespace()
                .find_map(|word| word.strip_prefix("SHA256:"));
            (!file.contains('/')).then(|| PackageLine {
                file: file.to_owned(),
                // apt writes an epoch's colon as %3a.
                version: version.replace("%3a", ":"),
                sha256: sha256.map(str::to_ascii_lowercase),
            })
        })
}

/// Returns true if apt refused an index only because of its age.
pub(super) fn is_expired(error: &KernelError) -> bool {
    matches!(error, KernelError::Step { tail, .. }
        if tail.contains("is expired") || tail.contains("is not valid anymore"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_package_is_read_from_apts_answer() {
        let listing = "Reading lists...\n\
            'http://x.example/debian/pool/l/linux-source-7.2_7.2.13-1_all.deb' linux-source-7.2_7.2.13-1_all.deb 1 SHA256:0A\n";
        assert_eq!(
            package_line(listing, "linux-source-7.2"),
            Some(PackageLine {
                file: "linux-source-7.2_7.2.13-1_all.deb".to_owned(),
                version: "7.2.13-1".to_owned(),
                sha256: Some("0a".to_owned()),
            })
        );
        assert_eq!(
            package_line(
                "'http://x/' linux-source-7.2_/../x.deb 1 \n",
                "linux-source-7.2"
            ),
            None
        );
    }
}
