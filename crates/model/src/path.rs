//! The Path: a model of a measured path that the lab can reproduce.
//!
//! A [`Path`] holds the known parameters of each layer and direction, each with a value, an
//! interval and a source. Unknown parameters are absent. It contains no host names and no
//! addresses. [`Path::cell`] converts it to a lab path, with defaults for unknown parameters;
//! [`Path::of`] returns the true path of a cell.
//!
//! ```
//! use model::path::{Limit, Parameter, Path, Source, Trial};
//! use model::units::Rate;
//!
//! let mut path = Path::named("home");
//! let rate = Parameter::new(Limit::At(Rate::from_bps(20_000_000)), Source::Measured);
//! path.underlay.down.rate_bps = Some(rate);
//! let cell = path.cell(&Trial::default())?;
//! assert_eq!(cell.path.down.rate, Some(Rate::from_bps(20_000_000)));
//! assert!(path.filled().assumed().contains(&"underlay.down.delay_ns".to_owned()));
//! # Ok::<(), model::path::PathError>(())
//! ```

mod end;
mod error;
mod lab;
mod layer;
mod parameter;
mod reference;
mod truth;
mod walk;

use serde::{Deserialize, Serialize};

pub use end::{Competitor, CompetitorKind, End, Ends, NotModelled, StandIn};
pub use error::{PathError, RefusalReason, Refused};
pub use lab::Trial;
pub use layer::{Line, Loss, Tunnel, Underlay, average_of_states};
pub use parameter::{Limit, Nanos, Parameter, Source};
pub use reference::reference;

use walk::{Visitor, Walk};

/// Version of [`Path`].
pub const PATH_SCHEMA: u32 = 1;

/// A model of a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// [`PATH_SCHEMA`] of the writer.
    pub schema: u32,
    /// Name of the model, usable as a file name; never a host name.
    pub name: String,
    /// The path itself.
    #[serde(default, skip_serializing_if = "walk::is_unknown")]
    pub underlay: Underlay,
    /// The tunnel over it; absent = there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tunnel: Option<Tunnel>,
    /// The two hosts.
    #[serde(default, skip_serializing_if = "walk::is_unknown")]
    pub ends: Ends,
    /// Competing traffic.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub competitors: Vec<Competitor>,
    /// Properties that the lab cannot model, and the parameters that replace them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stand_ins: Vec<StandIn>,
}

impl Path {
    /// A path without any known parameter.
    pub fn named(name: &str) -> Self {
        Self {
            schema: PATH_SCHEMA,
            name: name.to_owned(),
            underlay: Underlay::default(),
            tunnel: None,
            ends: Ends::default(),
            competitors: Vec::new(),
            stand_ins: Vec::new(),
        }
    }

    /// Reads a Path from JSON.
    ///
    /// # Errors
    /// The text is not a Path, was written by a later version, or is inconsistent: an interval that
    /// does not contain its value, or a stand-in for a missing parameter.
    pub fn parse(text: &[u8]) -> Result<Self, PathError> {
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
        }
        let version: Version = serde_json::from_slice(text)?;
        if version.schema > PATH_SCHEMA {
            return Err(PathError::Newer {
                schema: version.schema,
                known: PATH_SCHEMA,
            });
        }
        let path: Self = serde_json::from_slice(text)?;
        path.check()?;
        Ok(path)
    }

    /// Known parameters by dotted name with their sources, in document order.
    pub fn parameters(&self) -> Vec<(String, Source)> {
        let mut all = Vec::new();
        self.walk(&mut |name, parameter| all.push((name.to_owned(), parameter.source())));
        all
    }

    /// Names of the assumed parameters.
    pub fn assumed(&self) -> Vec<String> {
        let assumed = |(name, source)| (source == Source::Assumed).then_some(name);
        self.parameters().into_iter().filter_map(assumed).collect()
    }

    /// Rejects intervals that do not contain their value, and stand-ins for missing parameters.
    fn check(&self) -> Result<(), PathError> {
        let mut refused = Vec::new();
        let mut names = Vec::new();
        self.walk(&mut |name, parameter| {
            names.push(name.to_owned());
            if !parameter.is_within() {
                refused.push(Refused::new(name, RefusalReason::OutsideInterval));
            }
        });
        for (index, stand_in) in self.stand_ins.iter().enumerate() {
            let missing = stand_in
                .parameters
                .iter()
                .find(|name| !names.contains(name));
            if let Some(missing) = missing {
                let name = format!("stand_ins.{index}");
                let reason = RefusalReason::UnknownParameter(missing.clone());
                refused.push(Refused::new(name, reason));
            }
        }
        PathError::of(refused)
    }

    fn walk(&self, visit: &mut Visitor<'_>) {
        self.underlay.walk("underlay", visit);
        self.tunnel.walk("tunnel", visit);
        self.ends.walk("ends", visit);
        for (index, competitor) in self.competitors.iter().enumerate() {
            competitor.walk(&format!("competitors.{index}"), visit);
        }
    }
}
