//! Profiles of competitors: groups of flows that stand for a kind of use.
//!
//! They are not recordings of real traffic: sizes, times and rates are constant.

use std::time::Duration;

use crate::{
    cell::{Batch, Traffic, TrafficKind},
    net::Direction,
    units::{Bytes, Rate},
};

/// A kind of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Profile {
    /// Pages of a browser.
    Web,
    /// Segments of a video.
    Video,
    /// A video call.
    Call,
    /// An upload that never ends.
    Backup,
}

pub(super) const NAMES: &[(&str, Profile)] = &[
    ("web", Profile::Web),
    ("video", Profile::Video),
    ("call", Profile::Call),
    ("backup", Profile::Backup),
];

/// The keys that a profile replaces.
pub(super) const KEYS: &[&str] = &[
    "kind",
    "direction",
    "flows",
    "rate",
    "payload",
    "size",
    "requests",
    "every",
];

impl Profile {
    /// The flows from the start of the load to its end.
    pub(super) fn traffic(self) -> Traffic {
        let (kind, directions, flows) = match self {
            Self::Web => (requests(37_000, 12, 10), vec![Direction::Down], 6),
            Self::Video => (requests(2_500_000, 1, 4), vec![Direction::Down], 1),
            Self::Call => {
                let (rate, payload) = (Rate::from_bps(1_200_000), 1000);
                let both = vec![Direction::Down, Direction::Up];
                (TrafficKind::Udp { rate, payload }, both, 1)
            }
            Self::Backup => (TrafficKind::Tcp, vec![Direction::Up], 1),
        };
        Traffic {
            kind,
            directions,
            flows,
            probe: None,
            ..Traffic::default()
        }
    }

    /// Returns true if its flows have a congestion control.
    pub(super) fn is_tcp(self) -> bool {
        !matches!(self, Self::Call)
    }

    /// Origin of its figures.
    pub(super) const fn source(self) -> &'static str {
        match self {
            Self::Web => {
                "a page of 2.66 MB in 72 requests, every 10 s, by six connections: the median home page for desktops has \
                 2652 kB in 71 requests (HTTP Archive, Web Almanac 2024); browsers open six connections to a host with \
                 HTTP/1.1"
            }
            Self::Video => {
                "a segment of 4 s at 5 Mbit/s, as players with a full buffer fetch them; 5 Mbit/s is what Netflix \
                 recommends for 1080p; the bit rate does not adapt"
            }
            Self::Call => {
                "1.2 Mbit/s each way, what Zoom lists for a call of two in 720p; datagrams of equal size at equal \
                 distances; the bit rate does not adapt"
            }
            Self::Backup => "one connection that always has data; no figures",
        }
    }
}

fn requests(size: u64, requests: u32, every_s: u64) -> TrafficKind {
    TrafficKind::Short {
        size: Bytes(size),
        batch: Some(Batch {
            requests,
            every: Some(Duration::from_secs(every_s)),
        }),
    }
}
