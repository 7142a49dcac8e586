//! Counts of latency probes to the share that was lost.

use crate::share::share;

/// Share of lost probes, the figure `probe_lost`: without an answer, over sent (the round-trip loss
/// of RFC 6673). `None` if none was sent.
pub fn lost(sent: u64, answered: u64) -> Option<f64> {
    share(sent.saturating_sub(answered) as f64, sent as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Run, a row of the lab, the live display and the watch each had a different formula.
    #[test]
    fn no_probes_have_no_loss_and_one_of_four_is_a_quarter() {
        assert_eq!(lost(4, 3), Some(0.25));
        assert_eq!(lost(4, 5), Some(0.0), "an answer that came twice");
        assert_eq!(lost(0, 0), None);
    }
}
