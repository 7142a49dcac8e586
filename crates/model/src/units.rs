//! Newtypes for units that must not be confused.
//!
//! Spans of time are [`std::time::Duration`]; in documents they are whole nanoseconds.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Bits per second as counted by the kernel's queues: with the Ethernet header (14 bytes), without
/// preamble, checksum and gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rate(u64);

impl Rate {
    /// A rate in bits per second.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// Bits per second.
    pub const fn bps(self) -> u64 {
        self.0
    }

    /// Bytes per second, rounded down, as in the kernel's shapers.
    pub const fn bytes_per_second(self) -> u64 {
        self.0 / 8
    }

    /// Megabits (10^6 bits) per second.
    pub fn mbps(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// This share of the rate.
    pub fn scaled(self, share: f64) -> Self {
        Self((self.0 as f64 * share).round() as u64)
    }

    /// Bytes transmitted in a span of time: the bandwidth-delay product if the span is an RTT.
    pub fn bytes_in(self, span: std::time::Duration) -> Bytes {
        let bytes = u128::from(self.0).saturating_mul(span.as_nanos()) / 8_000_000_000;
        Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    /// Transmission time of `bytes`.
    pub fn time_for(self, bytes: Bytes) -> std::time::Duration {
        let ns = u128::from(bytes.0) * 8_000_000_000 / u128::from(self.0.max(1));
        std::time::Duration::from_nanos(ns as u64)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bps if bps >= 1_000_000_000 => write!(f, "{}gbit", bps as f64 / 1e9),
            bps if bps >= 1_000_000 => write!(f, "{}mbit", bps as f64 / 1e6),
            bps if bps >= 1_000 => write!(f, "{}kbit", bps as f64 / 1e3),
            bps => write!(f, "{bps}bit"),
        }
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            b if b >= 1_000_000_000 => write!(f, "{}GB", b as f64 / 1e9),
            b if b >= 1_000_000 => write!(f, "{}MB", b as f64 / 1e6),
            b if b >= 1_000 => write!(f, "{}kB", b as f64 / 1e3),
            b => write!(f, "{b}B"),
        }
    }
}

/// A share between 0 and 1, such as a loss probability.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Share(f64);

impl Share {
    /// Zero.
    pub const ZERO: Self = Self(0.0);

    /// One.
    pub const ONE: Self = Self(1.0);

    /// A share, if `value` lies in 0..=1.
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    /// The value in 0..=1.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Returns true if it is 0.
    pub fn is_zero(self) -> bool {
        self.0 == 0.0
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", percent(self.0))
    }
}

/// The shortest decimal that parses to the same share: the digits of `value` with the point two
/// places to the right.
fn percent(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let whole = exponent.parse::<i32>().unwrap_or(0) + 3;
    match usize::try_from(whole) {
        Ok(whole) if whole >= digits.len() => format!("{digits:0<whole$}"),
        Ok(whole) if whole > 0 => format!("{}.{}", &digits[..whole], &digits[whole..]),
        _ => format!("0.{}{digits}", "0".repeat(whole.unsigned_abs() as usize)),
    }
}

/// Seed of a cell's random numbers: the same seed gives the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(pub u64);

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Units of time with their nanoseconds.
pub const TIMES: &[(&str, u128)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
];

/// Formats a span of time in the largest unit that divides it.
pub fn show_duration(span: std::time::Duration) -> String {
    let ns = span.as_nanos();
    let fits = TIMES
        .iter()
        .rev()
        .find(|(_, unit)| ns != 0 && ns.is_multiple_of(*unit));
    match fits {
        Some((name, unit)) => format!("{}{name}", ns / unit),
        None => "0s".to_owned(),
    }
}

/// Serde helper: a [`std::time::Duration`] as whole nanoseconds (fields are named `…_ns`).
pub mod nanos {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes whole nanoseconds.
    ///
    /// # Errors
    /// The serializer failed.
    pub fn serialize<S: Serializer>(value: &Duration, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_u64(u64::try_from(value.as_nanos()).unwrap_or(u64::MAX))
    }

    /// Reads whole nanoseconds.
    ///
    /// # Errors
    /// The value is not a whole number of nanoseconds.
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
        u64::deserialize(d).map(Duration::from_nanos)
    }
}

/// Serde helper: an optional [`std::time::Duration`] as whole nanoseconds, absent if unknown.
pub mod opt_nanos {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes whole nanoseconds, or nothing.
    ///
    /// # Errors
    /// The serializer failed.
    pub fn serialize<S: Serializer>(value: &Option<Duration>, s: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => super::nanos::serialize(value, s),
            None => s.serialize_none(),
        }
    }

    /// Reads whole nanoseconds, or nothing.
    ///
    /// # Errors
    /// The value is not a whole number of nanoseconds.
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(d)?.map(Duration::from_nanos))
    }
}
