//! Durations after which a load shows the steady behaviour of TCP on a path, by the path's round
//! trip and rate.

use crate::models::{ETHERNET_MSS as MSS, ETHERNET_PACKET, drain_s, needed_bytes};

/// Window at the start of a connection, segments (RFC 6928).
const INITIAL_WINDOW: f64 = 10.0;
/// Round trips after slow start until its overshoot is repaired and its queue has drained.
const RECOVERY: f64 = 4.0;
/// Number of packets from which a loss share is distinguishable from chance, and from which a rate
/// is distinguishable from a burst.
const PACKETS: [f64; 2] = [300.0, 100.0];

/// Round trips that a load should be measured for.
pub const AIM: f64 = 25.0;
/// Number of round trips below which a load is too short to show the behaviour of TCP.
pub const MIN: f64 = 10.0;
/// The longest that is ever needed of either part of a load, s.
pub const LONGEST_S: f64 = 30.0;

/// Known properties of one direction of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Line {
    /// Round trip of the idle path, µs.
    pub idle_us: Option<f64>,
    /// Round trip under load, µs.
    pub loaded_us: Option<f64>,
    /// Capacity, bit/s.
    pub rate_bps: Option<f64>,
}

/// Times of a bulk load, s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// From its start until slow start has ended and its overshoot is repaired.
    pub warmup_s: f64,
    /// From then to its end.
    pub counted_s: f64,
}

impl Line {
    /// Round trip under load, s: that of the idle path if none is known.
    fn loaded_s(&self) -> f64 {
        let idle = self.idle_us.unwrap_or(0.0);
        self.loaded_us.unwrap_or(idle).max(idle) / 1e6
    }

    /// Time in which slow start fills the path, s. The window doubles with each round trip, from
    /// ten segments (RFC 5681 section 3.1, RFC 6928) until it fills path and queue.
    pub fn slow_start_s(&self) -> f64 {
        let window = needed_bytes(self.rate_bps.unwrap_or(0.0), self.loaded_s()) / MSS;
        (window / INITIAL_WINDOW).log2().max(1.0) * self.idle_us.unwrap_or(0.0) / 1e6
    }

    /// Returns the recommended duration of a bulk load: past slow start, then [`AIM`] round trips,
    /// and enough packets.
    pub fn bulk(&self) -> Pace {
        self.pace(AIM, PACKETS[0])
    }

    /// Returns the minimum duration of a bulk load: past slow start, then [`MIN`] round trips.
    pub fn least(&self) -> Pace {
        let pace = self.pace(MIN, PACKETS[1]);
        Pace {
            warmup_s: self.slow_start_s(),
            ..pace
        }
    }

    /// Returns the recommended duration of requests of `bytes`: time for ten of them, each with its
    /// handshake and slow start.
    pub fn requests_s(&self, bytes: u64) -> f64 {
        let rounds = 2.0 + (1.0 + bytes as f64 / MSS / INITIAL_WINDOW).log2();
        let sent_s = self.rate_bps.map_or(0.0, |bps| bytes as f64 * 8.0 / bps);
        (10.0 * (rounds * self.idle_us.unwrap_or(0.0) / 1e6 + sent_s)).min(LONGEST_S)
    }

    /// Time of a datagram load in which there are enough packets at a share of the rate, s.
    pub fn datagrams_s(&self) -> f64 {
        self.packets_s(PACKETS[0])
    }

    fn packets_s(&self, packets: f64) -> f64 {
        let bytes = packets * ETHERNET_PACKET;
        let needed = self.rate_bps.map_or(0.0, |bps| drain_s(bytes, bps));
        needed.min(LONGEST_S)
    }

    fn pace(&self, rounds: f64, packets: f64) -> Pace {
        let loaded_s = self.loaded_s();
        let warmup_s = self.slow_start_s() + RECOVERY * loaded_s;
        Pace {
            warmup_s: warmup_s.min(LONGEST_S),
            counted_s: (rounds * loaded_s)
                .max(self.packets_s(packets))
                .min(LONGEST_S),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0.5 s of warm-up and 2.5 s in all: on a satellite's line that was within slow start, and its
    /// overshoot was mistaken for 14 % of loss.
    #[test]
    fn a_satellite_is_measured_past_slow_start() {
        let line = Line {
            idle_us: Some(600e3),
            loaded_us: None,
            rate_bps: Some(100e6),
        };
        // 7.5 MB are 5180 segments: nine doublings of ten.
        let doublings = (100e6 * 0.6 / 8.0 / 1448.0 / 10.0_f64).log2();
        assert!((9.0..9.1).contains(&doublings));
        assert!((line.slow_start_s() - doublings * 0.6).abs() < 1e-9);
        let pace = line.bulk();
        assert!((pace.warmup_s - (doublings + 4.0) * 0.6).abs() < 1e-9);
        assert!((pace.counted_s - 15.0).abs() < 1e-9, "25 round trips");
        assert!((line.least().counted_s - 6.0).abs() < 1e-9);
    }

    #[test]
    fn a_short_path_needs_no_longer_load() {
        let line = Line {
            idle_us: Some(20e3),
            loaded_us: Some(40e3),
            rate_bps: Some(100e6),
        };
        let pace = line.bulk();
        assert!(pace.warmup_s < 0.5 && pace.counted_s <= 1.0, "{pace:?}");
    }

    #[test]
    fn a_slow_line_is_measured_until_there_are_enough_packets() {
        let line = Line {
            idle_us: Some(20e3),
            loaded_us: None,
            rate_bps: Some(256e3),
        };
        // 300 packets of 1500 bytes at 256 kbit/s.
        assert!((line.bulk().counted_s - 14.0625).abs() < 1e-9);
    }

    #[test]
    fn an_unknown_line_needs_no_duration() {
        assert_eq!(Line::default().bulk(), Pace::default());
        assert_eq!(Line::default().requests_s(1000), 0.0);
    }
}
