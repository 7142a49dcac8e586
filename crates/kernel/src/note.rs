//! Notes for the user on an image that was built or imported.

use std::fmt;

use super::error::Rejection;
use super::tested::{PINNED, is_tested_series, shortfall};

/// A note for the user about an image that was built or imported.
#[derive(Debug)]
pub enum Note {
    /// The image was built from another source than the pinned one.
    OtherSource {
        /// `linux-source-7.2`
        package: String,
        /// `7.2.14-1`
        version: String,
    },
    /// A source that was preferred and could not be used.
    NotUsed(Rejection),
    /// An imported image was made from other patches or another configuration.
    OtherInputs,
}

impl Note {
    /// The note on a source by its hash; `None` for the pinned one.
    pub(super) fn on_source(package: &str, version: &str, sha256: &str) -> Option<Self> {
        (sha256 != PINNED.sha256).then(|| Self::OtherSource {
            package: package.to_owned(),
            version: version.to_owned(),
        })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherSource { package, version } => {
                let (pinned, with) = (PINNED.package, PINNED.version);
                write!(
                    f,
                    "the kernel is built from {package} {version} and not from {pinned} {with}: {}, and results may \
                     differ from those of other machines",
                    tests_of(package)
                )
            }
            Self::NotUsed(rejection) => write!(f, "not used: {rejection}"),
            Self::OtherInputs => f.write_str(
                "the image was not made from this version's patches and configuration: results may differ from those \
                 of images that were, and the next `lab kernel build` replaces it",
            ),
        }
    }
}

/// What is known of the series of a source that is not the pinned one.
fn tests_of(package: &str) -> String {
    match (is_tested_series(package), shortfall(package)) {
        (true, None) => "another version of this series was tested".to_owned(),
        (true, Some(what)) => format!("another version of this series was tested ({what})"),
        (false, _) => "nothing of this series was tested".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_but_the_pinned_one_is_noted() {
        let note = |package, sha256| Note::on_source(package, "7.2.14-1", sha256);
        assert!(note(PINNED.package, PINNED.sha256).is_none());
        let text = note(PINNED.package, "00").unwrap().to_string();
        assert!(
            text.contains("another version of this series was tested"),
            "{text}"
        );
        let text = note("linux-source-6.1", "00").unwrap().to_string();
        assert!(text.contains("was tested (merged ACKs"), "{text}");
        let text = note("linux-source-9.9", "00").unwrap().to_string();
        assert!(text.contains("nothing of this series was tested"), "{text}");
    }
}
