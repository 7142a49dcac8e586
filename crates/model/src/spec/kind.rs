//! Types of keys, and their descriptions in the reference.

use std::time::Duration;

use super::{
    profile,
    quantity::{self, ValueError, show_duration},
    scalar::{
        Checked, buffer, cc, count, is, kernel, maybe_time, name, names, not_in_lab, seed, shape,
        share, size, text, time, word,
    },
    steps,
    value::{Load, Scalar, Switch, Value},
};
use crate::{
    cell::{EndQdisc, Loss, PathEngine, Queue, TunnelAt, TunnelKind},
    net::IpVersion,
    net::LoadDirection,
};

/// Type of a key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A name that is valid as a file name.
    Name,
    /// The name of a kernel image.
    Kernel,
    /// The name of a congestion control.
    Cc,
    /// A whole number within bounds.
    Count(u64, u64),
    /// A whole number within bounds, or a keyword for none.
    MaybeCount(u64, u64, &'static str),
    /// A seed.
    Seed,
    Bool,
    /// A span of time within bounds.
    Time(Duration, Duration),
    /// A span of time, or a keyword for none.
    MaybeTime(Duration, &'static str),
    Rate,
    /// A rate, or `none`.
    MaybeRate,
    /// Changes of a rate.
    Steps,
    /// A distribution of a delay.
    Quantiles,
    /// A required rate.
    SomeRate,
    /// A size within bounds.
    Size(u64, u64),
    /// A size within bounds, or `auto`.
    MaybeSize(u64, u64),
    Share,
    Loss,
    Buffer,
    Shape,
    Queue,
    /// The queue of a shaper.
    ShapeQueue,
    Qdisc,
    Ip,
    At,
    Engine,
    Tunnel,
    Switch,
    Directions,
    Load,
    /// Profile of a competitor.
    Profile,
}

const QUEUES: &[(&str, Queue)] = &[
    ("fifo", Queue::Fifo),
    ("fq", Queue::Fq),
    ("fq_codel", Queue::FqCodel),
    ("codel", Queue::Codel),
    ("pie", Queue::Pie),
    ("cake", Queue::Cake),
    ("dualpi2", Queue::Dualpi2),
    ("red", Queue::Red),
    ("policer", Queue::Policer),
];
/// Queues of a shaper: all but the last two.
pub(super) const SHAPERS: &[(&str, Queue)] = QUEUES.split_at(QUEUES.len() - 2).0;
pub(super) const QDISCS: &[(&str, EndQdisc)] = &[
    ("noqueue", EndQdisc::Noqueue),
    ("none", EndQdisc::Noqueue),
    ("fifo", EndQdisc::Fifo),
    ("fq", EndQdisc::Fq),
    ("fq_codel", EndQdisc::FqCodel),
    ("codel", EndQdisc::Codel),
    ("pie", EndQdisc::Pie),
    ("cake", EndQdisc::Cake),
    ("dualpi2", EndQdisc::Dualpi2),
];
pub(super) const FAMILIES: &[(&str, IpVersion)] =
    &[("ipv4", IpVersion::V4), ("ipv6", IpVersion::V6)];
pub(super) const PLACES: &[(&str, TunnelAt)] =
    &[("ends", TunnelAt::Ends), ("routers", TunnelAt::Routers)];
pub(super) const ENGINES: &[(&str, PathEngine)] =
    &[("device", PathEngine::Device), ("chain", PathEngine::Chain)];
pub(super) const TUNNELS: &[(&str, TunnelKind)] = &[("wireguard", TunnelKind::Wireguard)];
const SWITCH: &[(&str, Switch)] = &[("none", Switch::Off), ("wireguard", Switch::On)];
pub(super) const DIRECTIONS: &[(&str, LoadDirection)] = &[
    ("down", LoadDirection::Down),
    ("up", LoadDirection::Up),
    ("both", LoadDirection::Both),
];
const LOADS: &[(&str, Load)] = &[
    ("tcp", Load::Tcp),
    ("udp", Load::Udp),
    ("short", Load::Short),
    ("idle", Load::Idle),
];

impl Kind {
    /// Converts a written value, or returns the reason why it is invalid.
    pub(super) fn check(self, scalar: &Scalar) -> Checked<Value> {
        match self {
            Self::Name => name(scalar).map(Value::Text),
            Self::Kernel => kernel(scalar).map(Value::Text),
            Self::Cc => cc(scalar).map(Value::Text),
            Self::Count(low, high) => count(scalar, low, high).map(Value::Count),
            Self::MaybeCount(_, _, none) if is(scalar, none) => Ok(Value::MaybeCount(None)),
            Self::MaybeCount(low, high, _) => {
                count(scalar, low, high).map(|n| Value::MaybeCount(Some(n)))
            }
            Self::Seed => seed(scalar).map(Value::Count),
            Self::Bool => match scalar {
                Scalar::Bool(b) => Ok(Value::Bool(*b)),
                other => Err(ValueError::NotSwitch(other.to_string())),
            },
            Self::Time(low, high) => time(scalar, low, high).map(Value::Time),
            Self::MaybeTime(low, none) => maybe_time(scalar, low, none).map(Value::MaybeTime),
            Self::Rate if is(scalar, "unlimited") => Ok(Value::Rate(None)),
            Self::MaybeRate if is(scalar, "none") => Ok(Value::Rate(None)),
            Self::Rate | Self::SomeRate | Self::MaybeRate => {
                let rate = quantity::rate(text(scalar, "100mbit")?)?;
                Ok(Value::Rate(Some(rate)))
            }
            Self::MaybeSize(..) if is(scalar, "auto") => Ok(Value::Size(None)),
            Self::Size(low, high) | Self::MaybeSize(low, high) => {
                size(scalar, low, high).map(|b| Value::Size(Some(b)))
            }
            Self::Share => share(scalar).map(Value::Share),
            Self::Loss if matches!(scalar, Scalar::Integer(0)) => Ok(Value::Loss(Loss::None)),
            Self::Loss => Ok(Value::Loss(quantity::loss(text(scalar, "0.5%")?)?)),
            Self::Buffer => text(scalar, "1bdp").and_then(buffer).map(Value::Buffer),
            Self::Steps => steps::steps(text(scalar, "5s 20mbit")?).map(Value::Steps),
            Self::Quantiles => steps::quantiles(text(scalar, "99% 20ms")?).map(Value::Quantiles),
            Self::Shape => text(scalar, "95%").and_then(shape).map(Value::Shape),
            _ => self.check_word(scalar),
        }
    }

    fn check_word(self, scalar: &Scalar) -> Checked<Value> {
        match self {
            Self::Queue => word(scalar, QUEUES).map(Value::Queue),
            Self::ShapeQueue => word(scalar, SHAPERS).map(Value::Queue),
            Self::Qdisc => word(scalar, QDISCS).map(Value::Qdisc),
            Self::Ip => match scalar {
                Scalar::Integer(4) => Ok(Value::Ip(IpVersion::V4)),
                Scalar::Integer(6) => Ok(Value::Ip(IpVersion::V6)),
                other => word(other, FAMILIES).map(Value::Ip),
            },
            Self::At => word(scalar, PLACES).map(Value::At),
            Self::Engine => word(scalar, ENGINES).map(Value::Engine),
            Self::Tunnel => {
                not_in_lab(
                    scalar,
                    &["wireguard-go", "boringtun"],
                    "use kind = \"wireguard\"",
                )?;
                word(scalar, TUNNELS).map(Value::Tunnel)
            }
            Self::Switch if *scalar == Scalar::Bool(false) => Ok(Value::Switch(Switch::Off)),
            Self::Switch => word(scalar, SWITCH).map(Value::Switch),
            Self::Profile if is(scalar, "none") => Ok(Value::Profile(None)),
            Self::Profile => word(scalar, profile::NAMES).map(|p| Value::Profile(Some(p))),
            Self::Directions => word(scalar, DIRECTIONS).map(Value::Directions),
            _ => {
                let instead = "use kind = \"short\" or lab exec";
                not_in_lab(scalar, &["http", "quic"], instead)?;
                word(scalar, LOADS).map(Value::Load)
            }
        }
    }

    /// Description of the type in the reference.
    pub(super) fn describe(self) -> String {
        match self {
            Self::Name => "letters, digits, `.`, `_`, `-`".to_owned(),
            Self::Kernel => "name of a kernel image".to_owned(),
            Self::Cc => "name of a congestion control".to_owned(),
            Self::Seed => "whole number from 0; from 2^63 on as text".to_owned(),
            Self::Count(low, high) => format!("whole number, {low} to {high}"),
            Self::MaybeCount(low, high, none) => {
                format!("whole number, {low} to {high}, or `\"{none}\"`")
            }
            Self::Profile => {
                let names = names(profile::NAMES);
                let names = names.iter().map(|name| format!("`\"{name}\"`"));
                format!("{} or `\"none\"`", names.collect::<Vec<_>>().join(", "))
            }
            Self::Bool => "`true`, `false`".to_owned(),
            Self::Time(low, _) if low.is_zero() => "duration".to_owned(),
            Self::Time(low, _) => format!("duration, at least {}", show_duration(low)),
            Self::MaybeTime(low, none) if low.is_zero() => format!("duration or `\"{none}\"`"),
            Self::MaybeTime(low, none) => {
                format!("duration, at least {}, or `\"{none}\"`", show_duration(low))
            }
            Self::Rate => "rate or `\"unlimited\"`".to_owned(),
            Self::MaybeRate => "rate or `\"none\"`".to_owned(),
            Self::Steps => "changes, a trace or `\"none\"`".to_owned(),
            Self::Quantiles => "quantiles or `\"none\"`".to_owned(),
            Self::SomeRate => "rate".to_owned(),
            Self::Size(..) => "size".to_owned(),
            Self::MaybeSize(..) => "size or `\"auto\"`".to_owned(),
            Self::Share => "percentage".to_owned(),
            Self::Loss => "loss".to_owned(),
            Self::Buffer => "buffer".to_owned(),
            Self::Shape => "rate, percentage or `\"none\"`".to_owned(),
            _ => self
                .words()
                .iter()
                .map(|w| format!("`\"{w}\"`"))
                .collect::<Vec<_>>()
                .join(", "),
        }
    }

    fn words(self) -> Vec<&'static str> {
        match self {
            Self::Queue => names(QUEUES),
            Self::ShapeQueue => names(SHAPERS),
            Self::Qdisc => names(QDISCS),
            Self::Ip => names(FAMILIES),
            Self::At => names(PLACES),
            Self::Engine => names(ENGINES),
            Self::Tunnel => names(TUNNELS),
            Self::Switch => names(SWITCH),
            Self::Directions => names(DIRECTIONS),
            Self::Load => names(LOADS),
            _ => Vec::new(),
        }
    }
}

/// The first keyword of this value.
pub(super) fn word_for<T: PartialEq>(words: &[(&'static str, T)], value: &T) -> &'static str {
    let found = words.iter().find(|(_, meaning)| meaning == value);
    found.map_or("", |(word, _)| *word)
}

#[cfg(test)]
mod tests {
    use super::{QUEUES, SHAPERS};
    use crate::cell::Shaper;

    #[test]
    fn a_spec_names_exactly_the_queues_that_a_shaper_takes() {
        let all = QUEUES.iter().filter(|(_, queue)| Shaper::takes(*queue));
        assert!(all.eq(SHAPERS));
    }
}
