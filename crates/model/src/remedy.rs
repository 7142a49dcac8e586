//! Remedies as data: what to do about a cause, with its parameters and the place it belongs to.
//!
//! One value has four uses. A cause computes it from a Run; [`Remedy::sentence`] says it in words
//! and [`commands`] in those of a shell; [`Remedy::apply`] carries it out on a
//! [`Path`](crate::path::Path), to be tried in the lab.

mod action;
mod class;
mod commands;
mod document;
mod reference;
mod sentence;
mod shell;
mod trial;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use action::{
    Action, Bottleneck, Buffer, CcScope, Discipline, Flow, LimitKind, Processor, RouteTo,
    TunnelMode,
};
pub use class::RemedyClass;
pub use commands::{Dialect, commands};
pub use reference::{examples, reference};
pub use trial::NotTriable;

use crate::{net::Side, text::Text};

/// What to do, where, and why there.
#[derive(Clone, Debug, PartialEq)]
pub struct Remedy {
    /// What to do.
    pub action: Action,
    /// Where.
    pub on: Location,
    /// Why there, and why not elsewhere.
    pub why_there: Text,
}

impl Remedy {
    /// An action at a place, for a reason.
    pub fn new(action: Action, on: Location, why_there: Text) -> Self {
        Self {
            action,
            on,
            why_there,
        }
    }

    /// Its kind.
    pub fn class(&self) -> RemedyClass {
        self.action.class()
    }
}

/// Where a remedy belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Location {
    /// The host where `measure` ran.
    Near,
    /// The host where `serve` ran.
    Far,
    /// A router between the two ends that is the user's own.
    Router,
    /// Neither end, or both: the reason says where.
    Elsewhere,
}

impl Location {
    /// The end, if it is one.
    pub fn side(self) -> Option<Side> {
        match self {
            Self::Near => Some(Side::Near),
            Self::Far => Some(Side::Far),
            Self::Router | Self::Elsewhere => None,
        }
    }
}

impl From<Side> for Location {
    fn from(side: Side) -> Self {
        match side {
            Side::Near => Self::Near,
            Side::Far => Self::Far,
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Near => "near host",
            Self::Far => "far host",
            Self::Router => "router before the bottleneck",
            Self::Elsewhere => "elsewhere",
        })
    }
}

#[cfg(test)]
mod tests;
