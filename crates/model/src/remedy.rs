//! Remedies as data: actions against a cause, with parameters and location.
//!
//! A remedy has four uses. A cause computes it from a Run; [`Remedy::sentence`] describes it and
//! [`commands`] returns shell commands; [`Remedy::apply`] applies it to a
//! [`Path`](crate::path::Path), for a trial in the lab.

mod action;
mod class;
mod commands;
mod document;
mod reference;
mod sentence;
mod settings;
pub mod shell;
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
pub use settings::NoSetting;
pub use trial::NotTriable;

use crate::{
    net::Side,
    text,
    text::{Text, Value},
};

/// Rate of a shaper as a share of that of the bottleneck, so that the queue forms in the shaper
/// (OpenWrt, SQM details).
pub const SHAPED: f64 = 0.95;

/// Rate of a shaper before a bottleneck that carries `capacity_bps` of IP packets, bit/s.
pub fn shaped_bps(capacity_bps: f64) -> u64 {
    (SHAPED * capacity_bps) as u64
}

/// An action at a location, with the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Remedy {
    /// The action.
    pub action: Action,
    /// The location.
    pub on: Location,
    /// Reason for this location rather than another.
    pub why_there: Text,
}

impl Remedy {
    /// A remedy from its parts.
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

/// Location of a remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Location {
    /// The host that ran `measure`.
    Near,
    /// The host that ran `serve`.
    Far,
    /// A router between the ends that the user controls.
    Router,
    /// Neither end, or both, as explained by the reason.
    Elsewhere,
}

impl Location {
    /// The end, if the location is one.
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

impl From<Location> for Value {
    fn from(on: Location) -> Self {
        match on {
            Location::Near => Side::Near.into(),
            Location::Far => Side::Far.into(),
            Location::Router => text!("router at the bottleneck").into(),
            Location::Elsewhere => text!("elsewhere").into(),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Near => "near host",
            Self::Far => "far host",
            Self::Router => "router at the bottleneck",
            Self::Elsewhere => "elsewhere",
        })
    }
}

#[cfg(test)]
mod tests;
