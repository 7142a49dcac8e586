//! Search for a kernel source: archives in order, and the packages found in them, best first.

use std::path::{Path, PathBuf};

use super::apt::{self, Repository, is_expired};
use super::error::{Context as _, KernelError, Rejection, RejectionReason, SourceFault};
use super::pool;
use super::run::Runner;
use super::source::hash_file;
use super::sources::{DEFAULT_ARCHIVE, debian_mirror, read_host};
use super::tested::{Fit, Offer, PINNED, sort};

/// Queried in this order. Unstable has the newest.
const SUITES: &[&str] = &["unstable", "testing", "stable-backports", "stable"];

/// Folders in which the package `debian-archive-keyring` installs its keys.
const KEYRINGS: &[&str] = &[
    "/usr/share/keyrings/debian-archive-keyring.gpg",
    "/usr/share/keyrings/debian-archive-keyring.pgp",
];

/// A package on disk, and its known properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Package {
    pub(super) file: PathBuf,
    /// `http://deb.debian.org/debian unstable`
    pub(super) archive: String,
}

/// The packages that archives offer, and why others were rejected.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// Each archive, or package of it, that cannot be used, and why.
    pub(super) rejected: Vec<Rejection>,
    offers: Vec<Offer>,
    repositories: Vec<Repository>,
    /// The only package that is looked for: `linux-source-6.12`.
    wanted: Option<String>,
    /// The pinned package is tried without an archive's index.
    tried_pinned: bool,
}

impl Search {
    /// A search for the package of a series, or for any that may be built.
    pub(super) fn of(series: Option<&str>) -> Self {
        Self {
            wanted: series.map(|series| format!("linux-source-{series}")),
            ..Self::default()
        }
    }

    /// The pinned package is one of those that are looked for.
    pub(super) fn wants_pinned(&self) -> bool {
        self.wanted
            .as_deref()
            .is_none_or(|name| name == PINNED.package)
    }

    /// The pinned package of an earlier build, or else from the pool of the Debian archive.
    pub(super) fn pinned(
        &mut self,
        runner: &Runner,
        downloads: &Path,
        on_archive: &mut dyn FnMut(&str),
    ) -> Result<Option<Candidate>, KernelError> {
        let (file, archive) = match pool::kept(&PINNED, downloads) {
            Some(file) => (file, "kept from an earlier build".to_owned()),
            None => {
                let uri = debian_archive();
                let archive = format!("{uri} pool");
                on_archive(&archive);
                match pool::download(runner, &uri, &PINNED, downloads) {
                    Ok(file) => (file, archive),
                    Err(error @ (KernelError::Step { .. } | KernelError::BadSource { .. })) => {
                        self.reject(&archive, RejectionReason::Unreadable(Box::new(error)));
                        return Ok(None);
                    }
                    Err(other) => return Err(other),
                }
            }
        };
        self.tried_pinned = true;
        Ok(Some(Candidate::Pinned(Package { file, archive })))
    }

    /// Queries one archive after the other, until one has the pinned package if that is wanted and
    /// there was none.
    pub(super) fn query_all(
        &mut self,
        runner: &Runner,
        scratch: &Path,
        on_archive: &mut dyn FnMut(&str),
    ) -> Result<(), KernelError> {
        if self.query_archives(runner, scratch, on_archive)? {
            return Ok(());
        }
        on_archive(apt::HOST);
        match apt::host_offers(runner) {
            Ok(offers) => {
                self.found(apt::HOST, offers);
                Ok(())
            }
            Err(error @ KernelError::Step { .. }) => {
                self.reject(apt::HOST, RejectionReason::Unreadable(Box::new(error)));
                Ok(())
            }
            Err(other) => Err(other),
        }
    }

    /// Queries the suites of the Debian archive; returns true if one of them has the pinned
    /// package.
    fn query_archives(
        &mut self,
        runner: &Runner,
        scratch: &Path,
        on_archive: &mut dyn FnMut(&str),
    ) -> Result<bool, KernelError> {
        let uri = debian_archive();
        let Some(keyring) = KEYRINGS.iter().map(Path::new).find(|path| path.exists()) else {
            self.reject(&uri, RejectionReason::NoKeyring);
            return Ok(false);
        };
        for suite in SUITES {
            on_archive(&format!("{uri} {suite}"));
            let folder = scratch.join(suite);
            std::fs::create_dir_all(&folder).on("create", &folder)?;
            let repository = Repository {
                uri: uri.clone(),
                suite: (*suite).to_owned(),
                keyring: keyring.to_path_buf(),
                folder,
                expired: false,
            };
            if self.query(runner, repository)? && !self.tried_pinned {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Queries one suite; whether it has the pinned package.
    pub(super) fn query(
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
                self.reject(&name, RejectionReason::Unreadable(Box::new(error)));
                Ok(false)
            }
            Err(other) => Err(other),
        }
    }

    /// Records the packages of an archive; returns true if the pinned package is among them.
    fn found(&mut self, archive: &str, mut offers: Vec<Offer>) -> bool {
        if let Some(wanted) = self.wanted.clone() {
            offers.retain(|offer| offer.package == wanted);
            if offers.is_empty() {
                self.reject(archive, RejectionReason::NoSeries(wanted));
            }
        } else if offers.is_empty() {
            self.reject(archive, RejectionReason::NoPackage);
        }
        let pinned = offers.iter().any(|offer| offer.fit() == Fit::Pinned);
        self.offers.extend(offers);
        pinned
    }

    /// Notes why an archive or a package of it is not used.
    pub(super) fn reject(&mut self, place: &str, reason: RejectionReason) {
        self.rejected.push(Rejection {
            place: place.to_owned(),
            reason,
        });
    }

    /// Sources that may be built, the best first; takes the offers. The rest is rejected with the
    /// reason, except for the pinned package where there was one already.
    pub(super) fn candidates(&mut self, untested: bool) -> Vec<Candidate> {
        let tried_pinned = self.tried_pinned;
        self.offers
            .retain(|offer| !tried_pinned || offer.fit() != Fit::Pinned);
        sort(&mut self.offers);
        self.offers.dedup_by(|b, a| {
            a.package == b.package && a.version == b.version && a.sha256 == b.sha256
        });
        let mut candidates = Vec::new();
        for offer in std::mem::take(&mut self.offers) {
            match offer.refusal(untested) {
                Some(refusal) => self.reject(&offer.archive, refusal.into()),
                None => candidates.push(Candidate::Offer(offer)),
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
            Candidate::Pinned(package) => return Ok(package.clone()),
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
            return Err(KernelError::source(&file, SourceFault::WrongPackage));
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
    Pinned(Package),
    /// A package of an archive.
    Offer(Offer),
}

impl Candidate {
    /// Returns its origin and its kind.
    pub(super) fn describe(&self) -> (String, String) {
        match self {
            Self::Pinned(package) => (
                package.archive.clone(),
                format!("{} {}", PINNED.package, PINNED.version),
            ),
            Self::Offer(offer) => (
                offer.archive.clone(),
                format!("{} {}", offer.package, offer.version),
            ),
        }
    }
}

/// The host's mirror of the Debian archive, or the archive itself.
fn debian_archive() -> String {
    debian_mirror(&read_host(Path::new("/etc/apt"))).unwrap_or_else(|| DEFAULT_ARCHIVE.to_owned())
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
    fn each_rejected_package_has_a_reason() {
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
        let lines: Vec<String> = search.rejected.iter().map(ToString::to_string).collect();
        assert_eq!(lines[0], "a: it has no linux-source package");
        assert!(lines[1].contains("linux-source-9.8 9.8.7-1 is of a series that was not tested"));
    }

    /// Whichever suites have other series, those are neither taken nor complained of.
    #[test]
    fn of_a_series_its_newest_package_is_taken_and_a_suite_without_it_is_named() {
        let mut search = Search::of(Some("6.12"));
        assert!(!search.wants_pinned());
        let pinned = Offer {
            sha256: Some(PINNED.sha256.to_owned()),
            ..offer(PINNED.package, PINNED.version)
        };
        assert!(!search.found("unstable", vec![pinned]));
        let older = offer("linux-source-6.12", "6.12.9-1");
        let newer = offer("linux-source-6.12", "6.12.117-1");
        search.found(
            "stable",
            vec![older.clone(), offer("linux-source-6.1", "6.1.3-1")],
        );
        search.found("host", vec![newer.clone()]);
        assert_eq!(
            search.candidates(false),
            [Candidate::Offer(newer), Candidate::Offer(older)]
        );
        let lines: Vec<String> = search.rejected.iter().map(ToString::to_string).collect();
        assert_eq!(lines, ["unstable: it has no linux-source-6.12"]);
        assert!(Search::of(Some("7.2")).wants_pinned());
    }

    /// Where the pinned package does not build or boot, other ones are tried, and it is not again.
    #[test]
    fn a_pinned_package_that_was_tried_is_no_candidate_again() {
        let mut search = Search {
            tried_pinned: true,
            ..Search::default()
        };
        let pinned = Offer {
            sha256: Some(PINNED.sha256.to_owned()),
            ..offer(PINNED.package, PINNED.version)
        };
        search.found("a", vec![pinned, offer("linux-source-6.12", "6.12.9-1")]);
        assert_eq!(
            search.candidates(false),
            [Candidate::Offer(offer("linux-source-6.12", "6.12.9-1"))]
        );
        assert!(search.rejected.is_empty(), "{:?}", search.rejected);
    }
}
