//! Bounds of a gain and of its costs: one set for the trial of a remedy on a twin, for its proof on
//! hosts, and for the score of proofs.
//!
//! A stage adds its own evidence: a trial compares medians over pairs, a proof also needs a
//! significant difference. With other bounds in the proof, it would undo what the trial advises, or
//! keep what the trial calls a cost.

use super::{AdviceFigure, Outcome};

/// Logarithm of a ratio up to which a change counts as none, so that no change wins the tie: more
/// than the 2 % by which settings of hosts and rates of twins differ.
pub const GAIN: f64 = 0.05;
/// Share of the goodput that must remain. A shaper leaves 95 % of the rate
/// ([`crate::remedy::SHAPED`]), and its queue management some percent less.
const GOODPUT: f64 = 0.9;
/// Tolerated rise of a loaded RTT, by a factor and by µs: a tenth is twice the share that counts as
/// a gain, and 5 ms are not noticeable on a short path.
const DELAY: (f64, f64) = (1.1, 5_000.0);
/// Ratio of goodputs from which a load fills a line that it could not fill before. Its delay is
/// then compared with that of a nearly idle line, and is due to the load, not to the remedy alone.
const FILLED: f64 = 2.0;
/// Tolerated rise of the loaded RTT of a line that is now filled, µs: below it, a full line counts
/// as good for all uses (grade A of the common tests for bufferbloat by browser).
const FILLED_DELAY: f64 = 30_000.0;
/// Tolerated share of retransmitted bytes: this many times the present one, or this share. bbr, the
/// remedy for random loss, adds its own probes: at 1 % of loss it retransmits 3.9 % behind a queue
/// of 4 ms, where it fills a line of which cubic gets a fifth (`pathtwin/tests/fix.rs`). From a
/// twentieth on it is load on the line of others, whose goodput [`starves`] bounds besides.
const RETRANSMITTED: (f64, f64) = (3.0, 0.05);
/// Share of its goodput that a competing cubic flow must keep (Ware et al., Beyond Jain's Fairness
/// Index, HotNets 2019: a newcomer may do as much harm as the present flows do).
const COMPETITOR: f64 = 0.8;

/// Returns true if a figure is worse beyond its bound. `goodput` is the ratio of the goodputs in
/// its direction, 1 if unknown.
pub fn is_beyond(figure: AdviceFigure, before: f64, after: f64, goodput: f64) -> bool {
    match figure {
        AdviceFigure::Goodput => after < GOODPUT * before,
        AdviceFigure::LoadedP50 | AdviceFigure::LoadedP99 => {
            let added = match goodput >= FILLED {
                true => FILLED_DELAY,
                false => DELAY.1,
            };
            after > DELAY.0 * before && after > before + added
        }
        AdviceFigure::Retransmitted => after > (RETRANSMITTED.0 * before).max(RETRANSMITTED.1),
    }
}

/// Returns the figures of a direction that are worse beyond their bounds.
pub fn beyond(before: &Outcome, after: &Outcome) -> impl Iterator<Item = AdviceFigure> {
    let goodput = after.goodput_bps / before.goodput_bps.max(1.0);
    AdviceFigure::ALL.into_iter().filter(move |figure| {
        let both = before.value(*figure).zip(after.value(*figure));
        both.is_some_and(|(before, after)| is_beyond(*figure, before, after, goodput))
    })
}

/// Returns the gain of a loaded RTT, µs, like [`delay_gain`], without its first 5 ms, which are not
/// noticeable: 5.5 to 2.8 ms is no bargain for 6 % of the goodput, 46 to 28 ms is.
pub fn noticed_gain(before_us: f64, after_us: f64) -> f64 {
    let noticed = (before_us - after_us).abs() - DELAY.1;
    let before_us = after_us + noticed.max(0.0).copysign(before_us - after_us);
    delay_gain(before_us, after_us)
}

/// Returns the gain of a loaded RTT, µs, for those who want each millisecond: the logarithm of the
/// ratio, in which a queue of 5 ms counts half as much as a longer one.
pub fn delay_gain(before_us: f64, after_us: f64) -> f64 {
    ((before_us.max(0.0) + DELAY.1) / (after_us.max(0.0) + DELAY.1)).ln()
}

/// Returns true if a competing cubic flow loses too much: `ratio` is its goodput beside a flow with
/// the remedy over that beside one without.
pub fn starves(ratio: f64) -> bool {
    ratio < COMPETITOR
}

/// Returns true if the bound of a figure is for the sake of others on the line. A user who takes a
/// remedy at a cost waives these; the bounds on the user's own goodput and delay remain.
pub fn is_for_others(figure: AdviceFigure) -> bool {
    figure == AdviceFigure::Retransmitted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remedy::SHAPED;

    #[test]
    fn each_figure_has_its_bound_and_improvements_have_none() {
        use AdviceFigure::{Goodput, LoadedP50, LoadedP99, Retransmitted};
        for (figure, before, within, beyond) in [
            (Goodput, 10e6, 9.1e6, 8.9e6),
            // A tenth of 100 ms, and 5 ms on a short path.
            (LoadedP50, 100e3, 109e3, 111e3),
            (LoadedP99, 10e3, 14.9e3, 15.1e3),
            // Three times 2 %, and 5 % where less was retransmitted.
            (Retransmitted, 0.02, 0.059, 0.061),
            (Retransmitted, 0.0, 0.049, 0.051),
        ] {
            assert!(!is_beyond(figure, before, within, 1.0), "{figure:?}");
            assert!(is_beyond(figure, before, beyond, 1.0), "{figure:?}");
        }
        assert!(!is_beyond(Goodput, 1.0, 10.0, 10.0) && !is_beyond(LoadedP50, 1e5, 1e3, 1.0));
        assert!(starves(0.79) && !starves(0.8));
    }

    #[test]
    fn a_shaper_alone_breaks_no_bound() {
        assert!(!is_beyond(AdviceFigure::Goodput, 1.0, SHAPED, SHAPED));
    }

    /// 0.5 % of loss at 100 Mbit/s and 24 ms: cubic gets 6 Mbit/s, bbr 14 times as much, and P99 of
    /// the loaded RTT goes from 24 to 32 ms.
    #[test]
    fn a_line_that_is_now_filled_may_have_the_delay_of_a_well_managed_full_line() {
        let p99 = |after, goodput| is_beyond(AdviceFigure::LoadedP99, 24e3, after, goodput);
        assert!(!p99(32e3, 14.0) && p99(32e3, 1.9));
        assert!(!p99(53e3, 14.0) && p99(55e3, 14.0));
        // Retransmissions and goodput have their bounds in any case.
        assert!(is_beyond(AdviceFigure::Retransmitted, 0.01, 0.06, 14.0));
    }
}
