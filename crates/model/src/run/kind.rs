//! Kinds of figures.

use std::{fmt, str::FromStr};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, Error},
};

use super::Unit;

/// A kind of figure, computed from one sample or over several. Its definition is next to its
/// computation in `analysis`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FigureKind {
    /// Goodput.
    Goodput,
    /// Capacity of the path, by UDP sweep.
    Capacity,
    /// Share of lost datagrams.
    UdpLost,
    /// Share of received datagrams that were reordered.
    UdpReordered,
    /// Interarrival jitter.
    UdpJitter,
    /// Share of the sent bytes that were retransmitted.
    Retransmitted,
    /// RTT of the probes, median.
    RttP50,
    /// RTT of the probes, 95th percentile.
    RttP95,
    /// RTT of the probes, 99th percentile.
    RttP99,
    /// Share of unanswered probes.
    ProbeLost,
    /// The sender's smoothed RTT, median.
    TcpRttP50,
    /// Completion time of a request, median.
    CompleteP50,
    /// Completion time of a request, 95th percentile.
    CompleteP95,
    /// Path MTU.
    Pmtu,
    /// Processor time of the near host per gigabyte.
    NearCpu,
    /// Processor time of the far host per gigabyte.
    FarCpu,
}

/// Direction of improvement of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither alone.
    Neither,
}

/// Unknown name of a figure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no figure {0}")]
pub struct UnknownFigure(pub String);

impl FigureKind {
    /// All kinds, in the order they are shown.
    pub const ALL: [Self; 16] = [
        Self::Goodput,
        Self::Capacity,
        Self::UdpLost,
        Self::UdpReordered,
        Self::UdpJitter,
        Self::Retransmitted,
        Self::RttP50,
        Self::RttP95,
        Self::RttP99,
        Self::ProbeLost,
        Self::TcpRttP50,
        Self::CompleteP50,
        Self::CompleteP95,
        Self::Pmtu,
        Self::NearCpu,
        Self::FarCpu,
    ];

    /// Its name in documents, which ends with the unit, except for shares.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Goodput => "goodput_bps",
            Self::Capacity => "capacity_bps",
            Self::UdpLost => "udp_lost",
            Self::UdpReordered => "udp_reordered",
            Self::UdpJitter => "udp_jitter_us",
            Self::Retransmitted => "retransmitted",
            Self::RttP50 => "rtt_p50_us",
            Self::RttP95 => "rtt_p95_us",
            Self::RttP99 => "rtt_p99_us",
            Self::ProbeLost => "probe_lost",
            Self::TcpRttP50 => "tcp_rtt_p50_us",
            Self::CompleteP50 => "complete_p50_us",
            Self::CompleteP95 => "complete_p95_us",
            Self::Pmtu => "pmtu_bytes",
            Self::NearCpu => "near_cpu_s_per_gb",
            Self::FarCpu => "far_cpu_s_per_gb",
        }
    }

    /// Its name without the unit.
    pub fn stem(self) -> &'static str {
        let name = self.name();
        name.strip_suffix(self.unit().suffix()).unwrap_or(name)
    }

    /// Its unit.
    pub const fn unit(self) -> Unit {
        match self {
            Self::Goodput | Self::Capacity => Unit::BitsPerSecond,
            Self::UdpLost | Self::UdpReordered | Self::Retransmitted | Self::ProbeLost => {
                Unit::Share
            }
            Self::UdpJitter
            | Self::RttP50
            | Self::RttP95
            | Self::RttP99
            | Self::TcpRttP50
            | Self::CompleteP50
            | Self::CompleteP95 => Unit::Microseconds,
            Self::Pmtu => Unit::Bytes,
            Self::NearCpu | Self::FarCpu => Unit::SecondsPerGigabyte,
        }
    }

    /// Its direction of improvement.
    pub const fn better(self) -> Better {
        match self {
            Self::Goodput | Self::Capacity | Self::Pmtu => Better::Higher,
            _ => Better::Lower,
        }
    }

    /// Its description.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Goodput => "goodput",
            Self::Capacity => "capacity of the path, IP packets",
            Self::UdpLost => "share of lost datagrams",
            Self::UdpReordered => "share of reordered datagrams",
            Self::UdpJitter => "jitter of RFC 3550",
            Self::Retransmitted => "share of the sent bytes that were retransmitted",
            Self::RttP50 => "RTT of the probes, median",
            Self::RttP95 => "RTT of the probes, 95th percentile",
            Self::RttP99 => "RTT of the probes, 99th percentile",
            Self::ProbeLost => "share of unanswered probes",
            Self::TcpRttP50 => "the sender's smoothed RTT, median",
            Self::CompleteP50 => "completion time of a request, median",
            Self::CompleteP95 => "completion time of a request, 95th percentile",
            Self::Pmtu => "path MTU",
            Self::NearCpu => "processor time of the near host per gigabyte",
            Self::FarCpu => "processor time of the far host per gigabyte",
        }
    }

    /// Returns true if it depends on processor time, which is zero on a lab path.
    pub const fn depends_on_cpu(self) -> bool {
        matches!(self, Self::NearCpu | Self::FarCpu)
    }
}

impl fmt::Display for FigureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for FigureKind {
    type Err = UnknownFigure;

    fn from_str(name: &str) -> Result<Self, UnknownFigure> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| UnknownFigure(name.to_owned()))
    }
}

impl Serialize for FigureKind {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for FigureKind {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = std::borrow::Cow::<'de, str>::deserialize(from)?;
        name.parse().map_err(D::Error::custom)
    }
}

/// Reads a list of items with a `kind`, skipping kinds unknown to this version. Figures and ratios
/// are derived from the samples, so no measurement is lost.
pub(super) fn of_known_kinds<'de, D, T>(from: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let known = |value: &serde_json::Value| {
        let name = value.get("kind").and_then(serde_json::Value::as_str);
        name.is_none_or(|name| name.parse::<FigureKind>().is_ok())
    };
    let all = Vec::<serde_json::Value>::deserialize(from)?;
    let read = |value| serde_json::from_value(value).map_err(D::Error::custom);
    all.into_iter().filter(known).map(read).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn names_come_back_as_the_kinds_they_were() {
        for kind in FigureKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
            let text = serde_json::to_string(&kind).unwrap();
            assert_eq!(text, format!("\"{}\"", kind.name()));
            assert_eq!(serde_json::from_str::<FigureKind>(&text).unwrap(), kind);
        }
        assert!(serde_json::from_str::<FigureKind>("\"luck\"").is_err());
    }

    #[test]
    fn names_end_with_their_units_and_no_other() {
        for kind in FigureKind::ALL {
            assert!(kind.name().ends_with(kind.unit().suffix()), "{kind}");
            let longest = Unit::ALL
                .into_iter()
                .filter(|unit| kind.name().ends_with(unit.suffix()))
                .max_by_key(|unit| unit.suffix().len());
            let suffix = longest.map(Unit::suffix);
            assert_eq!(suffix, Some(kind.unit().suffix()), "{kind}");
        }
    }

    #[test]
    fn all_are_in_the_order_of_the_kinds() {
        assert!(FigureKind::ALL.is_sorted());
    }
}
