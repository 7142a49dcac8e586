//! Fetches a signed `linux-source` package without touching the host's own apt.
//!
//! apt works in a private folder with one source line, and checks the archive's signature against
//! the Debian keyring that the line names. Everything that could weaken that check is switched off
//! in case the host's configuration switches it on.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::{Context as _, KernelError};
use super::run::{Runner, plain};
use super::sources::{DEFAULT_ARCHIVE, debian_mirror, read_host};
use super::version::newest_package;

/// Tried in this order; the first that has a package is taken. Unstable has the newest.
const SUITES: &[&str] = &["unstable", "testing", "stable-backports", "stable"];

/// Where the package `debian-archive-keyring` puts its keys.
const KEYRINGS: &[&str] = &[
    "/usr/share/keyrings/debian-archive-keyring.gpg",
    "/usr/share/keyrings/debian-archive-keyring.pgp",
];

/// A package on disk, and what is known about it.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) file: PathBuf,
    /// `linux-source-7.2`
    pub(super) name: String,
    /// `http://deb.debian.org/debian unstable`
    pub(super) archive: String,
}

/// One suite of one archive, looked at through a private folder.
pub(super) struct Repository<'a> {
    pub(super) uri: String,
    pub(super) suite: &'a str,
    pub(super) keyring: &'a Path,
    /// Private to this repository.
    pub(super) folder: &'a Path,
}

impl Repository<'_> {
    fn prepare(&self) -> Result<(), KernelError> {
        // Fresh lists every time: with old ones apt answers a bad signature with a warning only.
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
        option("Acquire::Languages", &"none");
        option("Acquire::Retries", &"2");
        // The download folder is the user's own; apt's helper user may not be able to write there.
        option("APT::Sandbox::User", &"root");
        command
    }

    /// Reads the signed index.
    pub(super) fn update(&self, runner: &Runner) -> Result<(), KernelError> {
        self.prepare()?;
        let mut command = self.command("apt-get");
        command.args(["-o", "APT::Update::Error-Mode=any", "-q", "update"]);
        runner.run("reading the archive's index", &mut command)
    }

    /// The newest source package of the suite.
    pub(super) fn newest(&self, runner: &Runner) -> Result<Option<String>, KernelError> {
        let mut command = self.command("apt-cache");
        command.args(["search", "--names-only", "^linux-source-[0-9.]+$"]);
        Ok(newest_package(
            &runner.output("searching for a kernel source", &mut command)?,
        ))
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

/// Runs `apt-get download` in a folder that keeps packages; one that is there already and whole is
/// not fetched again.
fn fetch(
    runner: &Runner,
    apt: impl Fn() -> Command,
    name: &str,
    folder: &Path,
) -> Result<PathBuf, KernelError> {
    std::fs::create_dir_all(folder).on("create", folder)?;
    let listing = runner.output(
        "asking for the package's name",
        apt().args(["-q", "--print-uris", "download", name]),
    )?;
    let file = package_file(&listing, name).ok_or_else(|| KernelError::BadSource {
        path: folder.to_path_buf(),
        why: format!("apt-get does not say which file holds {name}"),
    })?;
    runner.run(
        &format!("downloading {name}"),
        apt().current_dir(folder).args(["-q", "download", name]),
    )?;
    Ok(folder.join(file))
}

/// The file name in a line like `'http://.../x.deb' linux-source-7.2_7.2.13-1_all.deb 164108840 SHA256:...`.
fn package_file(listing: &str, name: &str) -> Option<String> {
    listing
        .lines()
        .filter(|line| line.starts_with('\''))
        .find_map(|line| {
            let file = line.split_whitespace().nth(1)?;
            let plain = !file.contains('/')
                && file.starts_with(&format!("{name}_"))
                && file.ends_with(".deb");
            plain.then(|| file.to_owned())
        })
}

/// Fetches the newest kernel source that a signed archive offers into a folder of packages.
pub(super) fn newest_source(
    runner: &Runner,
    scratch: &Path,
    into: &Path,
    say: &mut dyn FnMut(&str),
) -> Result<Package, KernelError> {
    let mut tried = Vec::new();
    let mut remedy = "check the network and the mirror, or give a kernel tarball or a linux-source package with \
                      --source FILE"
        .to_owned();
    let archive = debian_mirror(&read_host(Path::new("/etc/apt")))
        .unwrap_or_else(|| DEFAULT_ARCHIVE.to_owned());
    if let Some(keyring) = KEYRINGS.iter().map(Path::new).find(|path| path.exists()) {
        for suite in SUITES {
            say(&format!("{archive} {suite}"));
            let folder = &scratch.join(suite);
            std::fs::create_dir_all(folder).on("create", folder)?;
            let repository = Repository {
                uri: archive.clone(),
                suite,
                keyring,
                folder,
            };
            match from_repository(runner, &repository, into) {
                Ok(Some(package)) => return Ok(package),
                Ok(None) => tried.push((
                    repository.describe(),
                    "it has no linux-source package".to_owned(),
                )),
                Err(error @ KernelError::Step { .. }) => {
                    tried.push((repository.describe(), brief(&error)))
                }
                Err(other) => return Err(other),
            }
        }
    } else {
        tried.push((
            archive,
            "the keys to check its signature are absent".to_owned(),
        ));
        remedy = format!("apt-get install debian-archive-keyring, or: {remedy}");
    }
    say("this host's own release");
    match from_host(runner, into) {
        Ok(Some(package)) => return Ok(package),
        Ok(None) => tried.push((
            "this host's own apt".to_owned(),
            "it knows no linux-source package".to_owned(),
        )),
        Err(error @ KernelError::Step { .. }) => {
            tried.push(("this host's own apt".to_owned(), brief(&error)))
        }
        Err(other) => return Err(other),
    }
    Err(KernelError::NoSource { tried, remedy })
}

impl Repository<'_> {
    fn describe(&self) -> String {
        format!("{} {}", self.uri, self.suite)
    }
}

fn from_repository(
    runner: &Runner,
    repository: &Repository<'_>,
    into: &Path,
) -> Result<Option<Package>, KernelError> {
    repository.update(runner)?;
    let Some(name) = repository.newest(runner)? else {
        return Ok(None);
    };
    let file = repository.download(runner, &name, into)?;
    Ok(Some(Package {
        file,
        name,
        archive: repository.describe(),
    }))
}

/// By the host's own sources and lists, as they are; they carry their own trust.
fn from_host(runner: &Runner, into: &Path) -> Result<Option<Package>, KernelError> {
    let mut search = plain("apt-cache");
    search.args(["search", "--names-only", "^linux-source-[0-9.]+$"]);
    let Some(name) = newest_package(&runner.output("searching for a kernel source", &mut search)?)
    else {
        return Ok(None);
    };
    let apt = || {
        let mut apt = plain("apt-get");
        apt.args([
            "-o",
            "APT::Get::AllowUnauthenticated=false",
            "-o",
            "APT::Sandbox::User=root",
        ]);
        apt
    };
    let file = fetch(runner, apt, &name, into)?;
    Ok(Some(Package {
        file,
        name,
        archive: "this host's own release".to_owned(),
    }))
}

/// The lines of an apt failure that say why.
fn brief(error: &KernelError) -> String {
    let KernelError::Step { tail, status, .. } = error else {
        return error.to_string();
    };
    let why: Vec<&str> = tail
        .lines()
        .filter(|line| line.starts_with("E: ") || line.starts_with("Err:"))
        .collect();
    if why.is_empty() {
        status.clone()
    } else {
        why.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_package_is_read_from_apts_answer() {
        let listing = "Reading lists...\n\
            'http://x.example/debian/pool/l/linux-source-7.2_7.2.13-1_all.deb' linux-source-7.2_7.2.13-1_all.deb 1 SHA256:0\n";
        assert_eq!(
            package_file(listing, "linux-source-7.2").as_deref(),
            Some("linux-source-7.2_7.2.13-1_all.deb")
        );
        assert_eq!(
            package_file(
                "'http://x/' linux-source-7.2_/../x.deb 1 \n",
                "linux-source-7.2"
            ),
            None
        );
    }

    #[test]
    fn the_reason_is_taken_from_apts_complaints() {
        let error = KernelError::Step {
            step: "x".to_owned(),
            status: "exit status: 100".to_owned(),
            tail: "Get:1 a\nE: The repository 'b' is not signed.\nN: c".to_owned(),
            log: PathBuf::new(),
        };
        assert_eq!(brief(&error), "E: The repository 'b' is not signed.");
    }
}
