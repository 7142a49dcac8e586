//! Units of figures and of columns.

use crate::text::Value;

/// Unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Bits a second.
    BitsPerSecond,
    /// Megabits a second.
    MegabitsPerSecond,
    /// Bytes a second.
    BytesPerSecond,
    /// Nanoseconds.
    Nanoseconds,
    /// Microseconds.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// TCP segments.
    Segments,
    /// Packets or datagrams.
    Packets,
    /// Events of any kind.
    Count,
    /// A share from 0 to 1.
    Share,
    /// Processor time per 10⁹ bytes, s.
    SecondsPerGigabyte,
    /// 1 = yes, 0 = no.
    Flag,
    /// A code: a state, a bit set, an exponent.
    Code,
}

impl Unit {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::BitsPerSecond,
        Self::MegabitsPerSecond,
        Self::BytesPerSecond,
        Self::Nanoseconds,
        Self::Microseconds,
        Self::Milliseconds,
        Self::Seconds,
        Self::Bytes,
        Self::Segments,
        Self::Packets,
        Self::Count,
        Self::Share,
        Self::SecondsPerGigabyte,
        Self::Flag,
        Self::Code,
    ];

    /// Suffix of the names of figures in this unit; empty if names do not contain it.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::BitsPerSecond => "_bps",
            Self::MegabitsPerSecond => "_mbps",
            Self::BytesPerSecond => "_bytes_s",
            Self::Nanoseconds => "_ns",
            Self::Microseconds => "_us",
            Self::Milliseconds => "_ms",
            Self::Seconds => "_s",
            Self::Bytes => "_bytes",
            Self::SecondsPerGigabyte => "_s_per_gb",
            Self::Segments
            | Self::Packets
            | Self::Count
            | Self::Share
            | Self::Flag
            | Self::Code => "",
        }
    }

    /// Unit symbol.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::BitsPerSecond => "bit/s",
            Self::MegabitsPerSecond => "Mbit/s",
            Self::BytesPerSecond => "byte/s",
            Self::Nanoseconds => "ns",
            Self::Microseconds => "µs",
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
            Self::Bytes => "bytes",
            Self::Segments => "segments",
            Self::Packets => "packets",
            Self::Count => "count",
            Self::Share => "share",
            Self::SecondsPerGigabyte => "s/GB",
            Self::Flag => "0 or 1",
            Self::Code => "code",
        }
    }

    /// A number in this unit, as a value of a text.
    pub fn value(self, number: f64) -> Value {
        match self {
            Self::BitsPerSecond => Value::Bps(number),
            Self::MegabitsPerSecond => Value::Bps(number * 1e6),
            Self::BytesPerSecond => Value::Bps(number * 8.0),
            Self::Nanoseconds => Value::Us(number / 1e3),
            Self::Microseconds => Value::Us(number),
            Self::Milliseconds => Value::Us(number * 1e3),
            Self::Seconds => Value::Us(number * 1e6),
            Self::Bytes => Value::Bytes(number),
            Self::Share => Value::Share(number),
            Self::SecondsPerGigabyte
            | Self::Segments
            | Self::Packets
            | Self::Count
            | Self::Flag
            | Self::Code => Value::Count(number),
        }
    }

    /// Largest possible value.
    pub const fn max(self) -> f64 {
        match self {
            Self::Share | Self::Flag => 1.0,
            _ => f64::INFINITY,
        }
    }
}
