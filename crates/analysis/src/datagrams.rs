//! Counts of datagrams to the shares that the figures of UDP are.

use stats::Interval;

use crate::share::share;

/// Share of lost datagrams, the figure `udp_lost`: sent and not arrived, over sent; what arrived
/// twice counts once (RFC 7680). `None` if none was sent.
pub fn lost(sent: u64, received: u64) -> Option<f64> {
    share(sent.saturating_sub(received) as f64, sent as f64)
}

/// The 95 % interval of [`lost`] (Wilson's score interval), if losses are independent.
pub fn lost_interval(sent: u64, received: u64) -> Option<Interval> {
    stats::wilson(sent.saturating_sub(received), sent)
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
    fn a_quarter_that_does_not_arrive_is_lost_and_duplicates_are_no_gain() {
        assert_eq!(lost(400, 300), Some(0.25));
        assert_eq!(
            lost(100, 101),
            Some(0.0),
            "one too many is not less than no loss"
        );
        assert_eq!((lost(0, 0), reordered(0, 0)), (None, None));
    }

    /// Lost datagrams are not there to be overtaken: of 300 that arrived 3 are a hundredth.
    #[test]
    fn a_share_of_reordered_datagrams_is_of_those_that_arrived() {
        assert_eq!(reordered(3, 300), Some(0.01));
    }
}
