//! A model of a path: the document between what was measured and the lab.
//!
//! A [`Path`] says of each layer and direction what is known: every parameter has a value, its
//! interval and its source, and what is unknown is absent. It names no host and no address.
//! [`Path::cell`] makes a lab path of it, where defaults stand for what is unknown; [`Path::of`]
//! is the true path of a cell.
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

pub use end::{Competitor, CompetitorKind, Directions, End, Ends, NotModelled, StandIn};
pub use error::{PathError, Refused};
pub use lab::Trial;
pub use layer::{Line, Loss, Tunnel, Underlay};
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
    /// Name of the model, fit for a file name; never that of a host.
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
    /// The load of others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub competitors: Vec<Competitor>,
    /// What the lab cannot copy, and what stands for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stand_ins: Vec<StandIn>,
}

impl Path {
    /// A path of which nothing is known yet.
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
    /// If it is no Path, was made by a later version, or says what cannot be: an interval that does
    /// not hold its value, or a stand-in of a parameter that is not there.
    pub fn parse(text: &[u8]) -> Result<Self, PathError> {
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
        }
        let version: Version = serde_json::from_slice(text)?;
        if version.schema > PATH_SCHEMA {
            return Err(PathError::Newer(version.schema));
        }
        let path: Self = serde_json::from_slice(text)?;
        path.check()?;
        Ok(path)
    }

    /// The known parameters with their sources, by dotted name, in the order of the document.
    pub fn parameters(&self) -> Vec<(String, Source)> {
        let mut all = Vec::new();
        self.walk(&mut |name, parameter| all.push((name.to_owned(), parameter.source())));
        all
    }

    /// The names of the parameters that are assumed.
    pub fn assumed(&self) -> Vec<String> {
        let assumed = |(name, source)| (source == Source::Assumed).then_some(name);
        self.parameters().into_iter().filter_map(assumed).collect()
    }

    /// Refuses intervals that do not hold their value, and stand-ins that are not there.
    fn check(&self) -> Result<(), PathError> {
        let mut refused = Vec::new();
        let mut names = Vec::new();
        self.walk(&mut |name, parameter| {
            names.push(name.to_owned());
            if !parameter.is_within() {
                let reason = "has an interval that does not hold its value";
                refused.push(Refused::new(name, reason));
            }
        });
        for (index, stand_in) in self.stand_ins.iter().enumerate() {
            let missing = stand_in
                .parameters
                .iter()
                .find(|name| !names.contains(name));
            if let Some(missing) = missing {
                let name = format!("stand_ins.{index}");
                refused.push(Refused::new(&name, &format!("{missing} is not known here")));
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
