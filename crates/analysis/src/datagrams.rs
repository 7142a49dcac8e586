//! Counts of datagrams to the shares that the figures of UDP are.

use model::run::Udp;
use stats::Interval;

use crate::{flow::rate_bps, share::share};

/// Datagrams sent that are known to have arrived or not, after the number `from`: all of a load
/// that has ended (`total`, the sender's count); before that, those up to the highest number that
/// has arrived, since later ones may still be on their way.
pub fn decided(from: u64, highest: u64, total: Option<u64>) -> u64 {
    total.unwrap_or(highest).saturating_sub(from)
}

/// Share of lost datagrams, the figure `udp_lost`: the part of the [`decided`] datagrams that did
/// not arrive; duplicates count once (RFC 7680). `None` if none was sent.
pub fn lost(sent: u64, received: u64) -> Option<f64> {
    share(sent.saturating_sub(received) as f64, sent as f64)
}

/// The 95 % interval of [`lost`] (Wilson's score interval), if losses are independent.
pub fn lost_interval(sent: u64, received: u64) -> Option<Interval> {
    stats::wilson(sent.saturating_sub(received), sent)
}

/// Rate of datagrams, bit/s of payload, between the first and the last: the datagrams after the
/// first over the time since it. `None` if none followed or no time passed.
pub fn spaced_bps(followed: u64, payload_bytes: u32, span_us: f64) -> Option<f64> {
    rate_bps(followed as f64 * f64::from(payload_bytes), span_us).filter(|_| followed > 0)
}

/// Time in which the datagrams of a load were sent at their rate, s. A rate below 1 bit/s counts as
/// 1 bit/s.
pub fn span_s(udp: &Udp) -> f64 {
    udp.sent as f64 * f64::from(udp.payload) * 8.0 / udp.sent_bps.max(1.0)
}

/// Jitter of several streams together: the mean over the streams with a jitter (RFC 3550 section
/// 6.4.1 defines it for a single stream).
pub fn jitter(streams: &[f64]) -> Option<f64> {
    stats::mean(streams)
}

/// Share of reordered datagrams, the figure `udp_reordered`: arrived after one with a higher
/// number, over arrived, duplicates not counted (RFC 4737 sections 3.3 and 4.1).
pub fn reordered(reordered: u64, received: u64) -> Option<f64> {
    share(reordered as f64, received as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_that_does_not_arrive_is_lost_and_duplicates_do_not_count() {
        assert_eq!(lost(400, 300), Some(0.25));
        assert_eq!(
            lost(100, 101),
            Some(0.0),
            "one too many is not less than no loss"
        );
        assert_eq!((lost(0, 0), reordered(0, 0)), (None, None));
    }

    /// Ten more were sent than the highest number that has arrived: they are lost once the load has
    /// ended.
    #[test]
    fn datagrams_still_in_flight_are_not_lost() {
        assert_eq!(lost(decided(100, 200, None), 90), Some(0.1));
        assert_eq!(lost(decided(0, 90, Some(100)), 90), Some(0.1));
        assert_eq!(decided(7, 7, None), 0);
    }

    #[test]
    fn a_rate_excludes_the_first_datagram() {
        // 11 datagrams of 125 bytes, one each ms.
        assert_eq!(spaced_bps(10, 125, 10_000.0), Some(1e6));
        assert_eq!(
            (spaced_bps(0, 125, 1.0), spaced_bps(1, 125, 0.0)),
            (None, None)
        );
    }

    /// Lost datagrams cannot be overtaken: of 300 that arrived 3 are a hundredth.
    #[test]
    fn a_share_of_reordered_datagrams_is_of_those_that_arrived() {
        assert_eq!(reordered(3, 300), Some(0.01));
    }
}
