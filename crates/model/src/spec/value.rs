//! Values as written (`Scalar`) and as parsed (`Value`).

use std::{fmt, time::Duration};

use super::{profile::Profile, steps::StepsText};
use crate::{
    cell::{EndQdisc, Loss, PathEngine, Quantiles, Queue, TunnelAt, TunnelKind},
    net::IpVersion,
    net::LoadDirection,
    units::{Bytes, Rate, Share},
};

/// A value as written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar {
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    /// A value that no key accepts, by the name of its type.
    Other(&'static str),
}

impl Scalar {
    /// The value in rows; anything but scalars is rejected before.
    pub(super) fn json(&self) -> serde_json::Value {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Integer(n) => (*n).into(),
            Self::Float(x) => (*x).into(),
            Self::Bool(b) => (*b).into(),
            Self::Other(_) => serde_json::Value::Null,
        }
    }

    /// The value of a `--set`: a number or boolean if it parses as one, otherwise text.
    pub(super) fn from_argument(text: &str) -> Self {
        let text = text.trim();
        if let Ok(n) = text.parse() {
            return Self::Integer(n);
        }
        if let Ok(b) = text.parse() {
            return Self::Bool(b);
        }
        let unquoted = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
        Self::Text(unquoted.unwrap_or(text).to_owned())
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Integer(n) => n.fmt(f),
            Self::Float(x) => x.fmt(f),
            Self::Bool(b) => b.fmt(f),
            Self::Other(kind) => write!(f, "a value of type {kind}"),
        }
    }
}

/// A buffer as written, which may depend on rate and RTT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum BufferText {
    Bdp(f64),
    Packets(u32),
    Bytes(Bytes),
    Time(Duration),
}

/// A shaper's rate as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ShapeText {
    None,
    Rate(Rate),
    Share(Share),
}

impl ShapeText {
    /// The shaper's rate on a line of this rate, if there is a shaper; `None` if it is a share of
    /// no rate. A share is at least one bit per second.
    pub(super) fn at(self, line: Option<Rate>) -> Option<Option<Rate>> {
        match self {
            Self::None => Some(None),
            Self::Rate(rate) => Some(Some(rate)),
            Self::Share(share) => line.map(|rate| {
                let rate = rate.scaled(share.get());
                Some(rate.max(Rate::from_bps(1)))
            }),
        }
    }
}

/// The kind of some traffic as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    Tcp,
    Udp,
    Short,
    Idle,
}

/// Presence of a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Switch {
    Off,
    On,
}

/// Declares [`Value`], with `TryFrom` for each type.
macro_rules! values {
    ($($variant:ident($inner:ty)),* $(,)?) => {
        /// A parsed value.
        #[derive(Clone, Debug, PartialEq)]
        pub(super) enum Value { $($variant($inner)),* }

        $(impl TryFrom<&Value> for $inner {
            type Error = ();
            fn try_from(value: &Value) -> Result<Self, ()> {
                match value {
                    Value::$variant(inner) => Ok(inner.clone()),
                    _ => Err(()),
                }
            }
        })*
    };
}

values! {
    Text(String), Count(u64), MaybeCount(Option<u64>), Profile(Option<Profile>), Bool(bool), Time(Duration), MaybeTime(Option<Duration>),
    Rate(Option<Rate>), Size(Option<Bytes>), Share(Share), Loss(Loss), Buffer(BufferText),
    Shape(ShapeText), Queue(Queue), Qdisc(EndQdisc), Ip(IpVersion), At(TunnelAt),
    Engine(PathEngine),
    Steps(StepsText), Quantiles(Option<Quantiles>),
    Tunnel(TunnelKind), Switch(Switch), Directions(LoadDirection), Load(Load),
}
