//! Where a kernel source is looked for, and in which order what was found is tried.

use std::path::{Path, PathBuf};

use super::apt::{self, Repository, brief, is_expired};
use super::error::{Context as _, KernelError};
use super::run::Runner;
use super::source::hash_file;
use super::sources::{DEFAULT_ARCHIVE, debian_mirror, read_host};
use super::tested::{Fit, Offer, PINNED, sort};

/// Asked in this order. Unstable has the newest.
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
    /// `http://deb.debian.org/debian unstable`
    pub(super) archive: String,
}

/// What was asked, what it has, and why it did not serve.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// Each archive that was of no use, or a package of it, and why.
    pub(super) tried: Vec<(String, String)>,
    /// What the user can do if nothing serves.
    pub(super) remedy: String,
    offers: Vec<Offer>,
    repositories: Vec<Repository>,
    /// The pinned package, kept from an earlier build.
    kept: Option<PathBuf>,
}

impl Search {
    /// Asks one archive after the other until one has the pinned package.
    pub(super) fn new(
        runner: &Runner,
        scratch: &Path,
        downloads: &Path,
        say: &mut dyn FnMut(&str),
    ) -> Result<Self, KernelError> {
        let mut search = Self {
            remedy: "check the network and the mirror, or give a kernel tarball or a linux-source package with \
                     --source FILE"
                .to_owned(),
            kept: kept(downloads),
            ..Self::default()
        };
        if search.kept.is_some() || search.ask_archives(runner, scratch, say)? {
            return Ok(search);
        }
        say(apt::HOST);
        match apt::host_offers(runner) {
            Ok(offers) => {
                search.found(apt::HOST, offers);
            }
            Err(error @ KernelError::Step { .. }) => search.failed(apt::HOST, &error),
            Err(other) => return Err(other),
        }
        Ok(search)
    }

    /// Asks the Debian archive's suites; whether one of them has the pinned package.
    fn ask_archives(
        &mut self,
        runner: &Runner,
        scratch: &Path,
        say: &mut dyn FnMut(&str),
    ) -> Result<bool, KernelError> {
        let uri = debian_mirror(&read_host(Path::new("/etc/apt")))
            .unwrap_or_else(|| DEFAULT_ARCHIVE.to_owned());
        let Some(keyring) = KEYRINGS.iter().map(Path::new).find(|path| path.exists()) else {
            let why = "the keys to check its signature are absent".to_owned();
            self.tried.push((uri, why));
            self.remedy = format!(
                "apt-get install debian-archive-keyring, or: {}",
                self.remedy
            );
            return Ok(false);
        };
        for suite in SUITES {
            say(&format!("{uri} {suite}"));
            let folder = scratch.join(suite);
            std::fs::create_dir_all(&folder).on("create", &folder)?;
            let repository = Repository {
                uri: uri.clone(),
                suite: (*suite).to_owned(),
                keyring: keyring.to_path_buf(),
                folder,
                expired: false,
            };
            if self.ask(runner, repository)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Asks one suite; whether it has the pinned package.
    pub(super) fn ask(
        &mut self,
        runner: &Runner,
        mut repository: Repository,
    ) -> Result<bool, KernelError> {
        let name = repository.describe();
        let mut updated = repository.update(runner);
        if updated.as_ref().is_err_and(is_expired) {
            repository.expired = true;
            updated = repository.update(runner);
        }
        match updated.and_then(|()| repository.offers(runner)) {
            Ok(offers) => {
                self.repositories.push(repository);
                Ok(self.found(&name, offers))
            }
            Err(error @ KernelError::Step { .. }) => {
                self.failed(&name, &error);
                Ok(false)
            }
            Err(other) => Err(other),
        }
    }

    /// Notes what an archive has; whether the pinned package is among it.
    fn found(&mut self, archive: &str, offers: Vec<Offer>) -> bool {
        if offers.is_empty() {
            let why = "it has no linux-source package".to_owned();
            self.tried.push((archive.to_owned(), why));
        }
        let pinned = offers.iter().any(|offer| offer.fit() == Fit::Pinned);
        self.offers.extend(offers);
        pinned
    }

    fn failed(&mut self, archive: &str, error: &KernelError) {
        self.tried.push((archive.to_owned(), brief(error)));
    }

    /// What may be built, the best first. Why the rest may not is noted.
    pub(super) fn candidates(&mut self, untested: bool) -> Vec<Candidate> {
        if let Some(file) = &self.kept {
            return vec![Candidate::Kept(file.clone())];
        }
        sort(&mut self.offers);
        self.offers.dedup_by(|b, a| {
            a.package == b.package && a.version == b.version && a.sha256 == b.sha256
        });
        let mut candidates = Vec::new();
        for offer in &self.offers {
            match offer.refusal(untested) {
                Some(why) => self.tried.push((offer.archive.clone(), why)),
                None => candidates.push(Candidate::Offer(offer.clone())),
            }
        }
        candidates
    }

    /// Downloads a candidate.
    pub(super) fn fetch(
        &self,
        runner: &Runner,
        candidate: &Candidate,
        into: &Path,
    ) -> Result<Package, KernelError> {
        let offer = match candidate {
            Candidate::Kept(file) => {
                return Ok(Package {
                    file: file.clone(),
                    archive: "kept from an earlier build".to_owned(),
                });
            }
            Candidate::Offer(offer) => offer,
        };
        let repository = self
            .repositories
            .iter()
            .find(|repository| repository.describe() == offer.archive);
        let file = match repository {
            Some(repository) => repository.download(runner, &offer.package, into)?,
            None => apt::host_download(runner, &offer.package, into)?,
        };
        if offer.expired && hash_file(&file)? != PINNED.sha256 {
            let why = "it is not the package that the archive's index promised".to_owned();
            return Err(KernelError::BadSource { path: file, why });
        }
        Ok(Package {
            file,
            archive: offer.archive.clone(),
        })
    }
}

/// A source that may be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Candidate {
    /// The pinned package, on disk already.
    Kept(PathBuf),
    /// A package of an archive.
    Offer(Offer),
}

impl Candidate {
    /// Where it comes from, and what it is.
    pub(super) fn describe(&self) -> (String, String) {
        match self {
            Self::Kept(file) => (
                file.display().to_string(),
                format!("{} {}", PINNED.package, PINNED.version),
            ),
            Self::Offer(offer) => (
                offer.archive.clone(),
                format!("{} {}", offer.package, offer.version),
            ),
        }
    }
}

/// The pinned package, if an earlier build left it whole.
fn kept(downloads: &Path) -> Option<PathBuf> {
    let file = downloads.join(format!("{}_{}_all.deb", PINNED.package, PINNED.version));
    (hash_file(&file).ok()? == PINNED.sha256).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(package: &str, version: &str) -> Offer {
        Offer {
            archive: "http://x.example/debian unstable".to_owned(),
            package: package.to_owned(),
            version: version.to_owned(),
            sha256: Some(version.to_owned()),
            expired: false,
        }
    }

    #[test]
    fn why_each_package_is_not_taken_is_told() {
        let mut search = Search::default();
        assert!(!search.found("a", Vec::new()));
        assert!(!search.found(
            "b",
            vec![
                offer("linux-source-9.8", "9.8.7-1"),
                offer("linux-source-7.2", "7.2.14-1")
            ]
        ));
        let candidates = search.candidates(false);
        assert_eq!(
            candidates,
            [Candidate::Offer(offer("linux-source-7.2", "7.2.14-1"))]
        );
        let whys: Vec<_> = search.tried.iter().map(|(_, why)| why.as_str()).collect();
        assert_eq!(whys[0], "it has no linux-source package");
        assert!(whys[1].starts_with("linux-source-9.8 9.8.7-1 is of a series that was not tested"));
    }

    #[test]
    fn a_kept_file_with_other_bytes_is_not_the_pinned_package() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir
            .path()
            .join(format!("{}_{}_all.deb", PINNED.package, PINNED.version));
        std::fs::write(file, "half a package").unwrap();
        assert_eq!(kept(dir.path()), None);
    }
}
