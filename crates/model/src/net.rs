//! Ends, directions, layers and address families of a path.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One of the two ends of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The host that ran `measure`.
    Near,
    /// The host that ran `serve`.
    Far,
}

impl Side {
    /// The end that sends the data of a direction.
    pub fn sends(direction: Direction) -> Self {
        match direction {
            Direction::Down => Self::Far,
            Direction::Up => Self::Near,
        }
    }

    /// The end that receives the data of a direction.
    pub fn receives(direction: Direction) -> Self {
        Self::sends(direction).other()
    }

    /// Its name in specs, and as a host of a lab path.
    pub const fn spec_name(self) -> &'static str {
        match self {
            Self::Near => "client",
            Self::Far => "server",
        }
    }

    /// The other end.
    pub fn other(self) -> Self {
        match self {
            Self::Near => Self::Far,
            Self::Far => Self::Near,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Near => "near host",
            Self::Far => "far host",
        })
    }
}

/// Direction of data between the ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From the far end to the near one.
    Down,
    /// From the near end to the far one.
    Up,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Down => "down",
            Self::Up => "up",
        })
    }
}

/// Direction of a load, which may be both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadDirection {
    /// From the far end to the near one.
    Down,
    /// From the near end to the far one.
    Up,
    /// Both at once.
    Both,
}

impl LoadDirection {
    /// The directions that carry data.
    pub fn directions(self) -> &'static [Direction] {
        match self {
            Self::Down => &[Direction::Down],
            Self::Up => &[Direction::Up],
            Self::Both => &[Direction::Down, Direction::Up],
        }
    }

    /// From a list of directions, if it is one of the three combinations.
    pub fn of(directions: &[Direction]) -> Option<Self> {
        let all = [Self::Down, Self::Up, Self::Both];
        all.into_iter().find(|load| load.directions() == directions)
    }

    /// Returns true if data flows in that direction.
    pub fn has(self, direction: Direction) -> bool {
        self.directions().contains(&direction)
    }
}

impl From<Direction> for LoadDirection {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::Down => Self::Down,
            Direction::Up => Self::Up,
        }
    }
}

impl fmt::Display for LoadDirection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Down => "down",
            Self::Up => "up",
            Self::Both => "both",
        })
    }
}

/// Layer that traffic crosses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// The path itself.
    Underlay,
    /// The tunnel over it.
    Tunnel,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Underlay => "underlay",
            Self::Tunnel => "tunnel",
        })
    }
}

/// Address family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IpVersion {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl IpVersion {
    /// Bytes of an IP header without options or extensions (RFC 791, RFC 8200).
    pub const fn header_bytes(self) -> u32 {
        match self {
            Self::V4 => 20,
            Self::V6 => 40,
        }
    }

    /// Bytes of IP and UDP headers (RFC 768).
    pub const fn udp_headers(self) -> u32 {
        self.header_bytes() + 8
    }

    /// Bytes of IP and TCP headers with timestamps, as Linux sends them by default (RFC 9293, and
    /// RFC 7323 with its padding: appendix A).
    pub const fn tcp_headers(self) -> u32 {
        self.header_bytes() + 20 + 12
    }
}

impl fmt::Display for IpVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V4 => "v4",
            Self::V6 => "v6",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_goes_from_the_sender_to_the_other_end() {
        for direction in [Direction::Down, Direction::Up] {
            assert_eq!(Side::sends(direction), Side::receives(direction).other());
        }
        assert_eq!(Side::sends(Direction::Up), Side::Near);
    }

    /// RFC 791 section 3.1, RFC 8200 section 3, RFC 768, RFC 9293 section 3.1; RFC 7323 appendix A:
    /// ten bytes of timestamps after two of padding.
    #[test]
    fn headers_are_those_of_the_standards() {
        let of = |ip: IpVersion| (ip.header_bytes(), ip.udp_headers(), ip.tcp_headers());
        assert_eq!(of(IpVersion::V4), (20, 28, 52));
        assert_eq!(of(IpVersion::V6), (40, 48, 72));
    }

    #[test]
    fn a_load_in_both_directions_has_each() {
        for direction in [Direction::Down, Direction::Up] {
            assert!(LoadDirection::Both.has(direction));
            assert_eq!(LoadDirection::from(direction).directions(), [direction]);
            assert_eq!(
                LoadDirection::from(direction).to_string(),
                direction.to_string()
            );
        }
    }
}
