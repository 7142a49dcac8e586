//! The tested kernel sources: the pinned one, and the series that may be used in its place.

use super::version::{package_version, version_numbers};

/// A source package whose image was built, booted and validated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tested {
    /// `linux-source-7.2`
    pub(super) package: &'static str,
    /// `7.2.13-1`
    pub(super) version: &'static str,
    /// SHA-256 of the package, in lower-case hex.
    pub(super) sha256: &'static str,
}

/// Used wherever it can be downloaded, so that two users a month apart get the same bytes.
pub(super) const PINNED: Tested = Tested {
    package: "linux-source-7.2",
    version: "7.2.13-1",
    sha256: "30a8c5fc63f9028a62e6d7b3f7f43bee67425dbce2a05fceba83f9b87c92083d",
};

/// Packages of which some version was tested, the best first.
const SERIES: &[&str] = &["linux-source-7.2", "linux-source-6.12", "linux-source-6.1"];

/// What of `lab validate` failed with the tested version of a series; `None` if all passed
/// (crates/kernel/patches/README.md).
pub(super) fn shortfall(package: &str) -> Option<&'static str> {
    (package == "linux-source-6.1")
        .then_some("merged ACKs moved goodput by 1.3 %, where 1 % is allowed")
}

/// Test coverage of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// Other versions of other series.
    Untested,
    /// Another version of a series that was tested, the higher the better.
    Series(usize),
    /// The pinned package itself.
    Pinned,
}

/// Reason for refusing a package offered by an archive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The index is signed but out of date; the name and version of the package.
    #[error(
        "its index is out of date, so only {package} {version} may be used of it, and not {0}",
        package = PINNED.package,
        version = PINNED.version
    )]
    Expired(String),
    /// Its series was not tested; its name and version.
    #[error("{0} is of a series that was not tested (`--untested` allows it)")]
    Untested(String),
}

/// A source package that an archive offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Offer {
    /// `http://deb.debian.org/debian unstable`
    pub(super) archive: String,
    /// `linux-source-7.2`
    pub(super) package: String,
    /// `7.2.13-1`
    pub(super) version: String,
    /// SHA-256 from the archive's signed index, in lower-case hex.
    pub(super) sha256: Option<String>,
    /// The archive's index is signed but out of date, so newer packages may be withheld.
    pub(super) expired: bool,
}

impl Offer {
    pub(super) fn fit(&self) -> Fit {
        if self.sha256.as_deref() == Some(PINNED.sha256) {
            return Fit::Pinned;
        }
        match SERIES.iter().rev().position(|name| *name == self.package) {
            Some(rank) => Fit::Series(rank),
            None => Fit::Untested,
        }
    }

    /// Returns why this one is refused although the archive has it; `None` if it may be used.
    pub(super) fn refusal(&self, untested: bool) -> Option<Refusal> {
        let name = format!("{} {}", self.package, self.version);
        match self.fit() {
            // The hash proves that it is the same package, regardless of the age of the index.
            Fit::Pinned => None,
            _ if self.expired => Some(Refusal::Expired(name)),
            Fit::Untested if !untested => Some(Refusal::Untested(name)),
            Fit::Untested | Fit::Series(_) => None,
        }
    }

    /// The newer, the greater.
    fn age(&self) -> (Option<Vec<u32>>, Vec<u32>) {
        (
            package_version(&self.package),
            version_numbers(&self.version),
        )
    }
}

/// Sorts the best first: the pinned one, then the tested series in order, the newest of each.
pub(super) fn sort(offers: &mut [Offer]) {
    offers.sort_by_key(|offer| std::cmp::Reverse((offer.fit(), offer.age())));
}

/// Returns true if any version of a package's series was tested.
pub(super) fn is_tested_series(package: &str) -> bool {
    SERIES.contains(&package)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(package: &str, version: &str, sha256: &str) -> Offer {
        Offer {
            archive: "http://x.example/debian unstable".to_owned(),
            package: package.to_owned(),
            version: version.to_owned(),
            sha256: Some(sha256.to_owned()),
            expired: false,
        }
    }

    #[test]
    fn the_pinned_package_wins_then_the_best_tested_series_then_the_newest() {
        let mut offers = vec![
            offer("linux-source-6.1", "6.1.192-1", "a"),
            offer("linux-source-7.9", "7.9.1-1", "b"),
            offer("linux-source-7.2", "7.2.9-1", "c"),
            offer("linux-source-7.2", "7.2.14-1", "d"),
            offer("linux-source-7.2", "7.2.13-1", PINNED.sha256),
        ];
        sort(&mut offers);
        let versions: Vec<_> = offers.iter().map(|offer| offer.version.as_str()).collect();
        assert_eq!(
            versions,
            ["7.2.13-1", "7.2.14-1", "7.2.9-1", "6.1.192-1", "7.9.1-1"]
        );
    }

    #[test]
    fn a_package_of_the_pinned_name_with_another_hash_is_not_the_pinned_one() {
        assert_ne!(
            offer(PINNED.package, PINNED.version, "00").fit(),
            Fit::Pinned
        );
    }

    #[test]
    fn an_untested_series_is_taken_on_request_only() {
        let newer = offer("linux-source-7.9", "7.9.1-1", "b");
        assert!(matches!(newer.refusal(false), Some(Refusal::Untested(_))));
        assert_eq!(newer.refusal(true), None);
    }

    #[test]
    fn of_an_index_out_of_date_only_the_pinned_package_is_taken() {
        let expired = |sha256: &str| Offer {
            expired: true,
            ..offer("linux-source-7.2", "7.2.13-1", sha256)
        };
        assert_eq!(expired(PINNED.sha256).refusal(false), None);
        assert!(matches!(
            expired("00").refusal(true),
            Some(Refusal::Expired(_))
        ));
    }
}
