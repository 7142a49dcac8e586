//! Locations of the cache, from environment variables.

use std::{ffi::OsString, path::PathBuf};

use model::spec::quantity;

use super::http::Url;
use crate::{CacheSettingError, LabError};

/// Size of the user's own folder above which results are evicted, bytes.
const MAX: u64 = 2 << 30;

/// The places of the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tiers {
    /// The user's own folder.
    pub(crate) own: PathBuf,
    /// Its largest size, bytes.
    pub(crate) most: u64,
    /// The folder of a team, which is only read.
    pub(crate) team: Option<PathBuf>,
    /// A cache over HTTP.
    pub(super) url: Option<Url>,
    /// True to store new results there.
    pub(crate) upload: bool,
}

impl Tiers {
    /// Reads the configuration from the environment of this process.
    ///
    /// # Errors
    /// No folder of the user is known, or a variable has an invalid value.
    pub(crate) fn from_env() -> Result<Self, LabError> {
        Self::choose(|name| std::env::var_os(name))
    }

    fn choose(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, LabError> {
        let given = |name| variable(name).filter(|value| !value.is_empty());
        let path = |name| given(name).map(PathBuf::from);
        let text = |name| given(name).map(|value: OsString| value.to_string_lossy().into_owned());
        let wrong =
            |name: &'static str, why: CacheSettingError| LabError::CacheSetting { name, why };
        let own = path("PATHTWIN_CACHE")
            .or_else(|| Some(path("XDG_CACHE_HOME")?.join("pathtwin")))
            .or_else(|| Some(path("HOME")?.join(".cache/pathtwin")))
            .ok_or(LabError::NoCache)?;
        let most = text("PATHTWIN_CACHE_SIZE").map(|size| quantity::size(&size));
        let most = most
            .transpose()
            .map_err(|why| wrong("PATHTWIN_CACHE_SIZE", why.into()))?;
        let url = text("PATHTWIN_CACHE_URL").map(|url| url.parse::<Url>());
        let url = url
            .transpose()
            .map_err(|why| wrong("PATHTWIN_CACHE_URL", why))?;
        let upload = match text("PATHTWIN_CACHE_UPLOAD").as_deref() {
            None | Some("yes") => true,
            Some("no") => false,
            Some(other) => {
                let why = CacheSettingError::Switch(other.to_owned());
                return Err(wrong("PATHTWIN_CACHE_UPLOAD", why));
            }
        };
        Ok(Self {
            own: below(own),
            most: most.map_or(MAX, |bytes| bytes.0),
            team: path("PATHTWIN_CACHE_TEAM").map(below),
            url,
            upload,
        })
    }
}

/// The folder of a user's cache.
fn below(root: PathBuf) -> PathBuf {
    root.join("cells")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn with(pairs: &[(&str, &str)]) -> Result<Tiers, LabError> {
        Tiers::choose(|name| {
            let pair = pairs.iter().find(|(key, _)| *key == name);
            pair.map(|(_, value)| value.into())
        })
    }

    #[test]
    fn the_places_follow_the_environment() {
        let plain = with(&[("HOME", "/h"), ("PATHTWIN_CACHE_TEAM", "")]).unwrap();
        assert_eq!(plain.own, PathBuf::from("/h/.cache/pathtwin/cells"));
        assert_eq!((plain.team, plain.url, plain.upload), (None, None, true));
        let all = with(&[
            ("PATHTWIN_CACHE", "/c"),
            ("PATHTWIN_CACHE_SIZE", "10GB"),
            ("PATHTWIN_CACHE_TEAM", "/team"),
            ("PATHTWIN_CACHE_URL", "http://cache.example:8080/lab"),
            ("PATHTWIN_CACHE_UPLOAD", "no"),
        ])
        .unwrap();
        assert_eq!(all.own, PathBuf::from("/c/cells"));
        assert_eq!(all.most, 10_000_000_000);
        assert_eq!(all.team, Some(PathBuf::from("/team/cells")));
        assert!(all.url.is_some() && !all.upload);
    }

    #[test]
    fn wrong_values_are_named() {
        assert!(matches!(with(&[]), Err(LabError::NoCache)));
        for (name, value) in [
            ("PATHTWIN_CACHE_SIZE", "much"),
            ("PATHTWIN_CACHE_URL", "https://cache.example"),
            ("PATHTWIN_CACHE_UPLOAD", "perhaps"),
        ] {
            let error = with(&[("HOME", "/h"), (name, value)]).unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}
