//! Calibration of strengths as probabilities.
//!
//! The probability is the share of correct findings of a cause with that strength. For causes that
//! a draw can have, it is counted on drawn scenarios with derived truths, most of which nobody had
//! looked at when the rules judged them: on those that rules were made on, nearly all findings are
//! correct, and rules that stated 94 and 96 % from them were right in 89 and 91 % on the next draw.
//! One cause has too few findings for a separate estimate. Its counts are therefore combined with
//! the share of all causes with that strength, the mean of a Beta distribution whose prior is that
//! share with the weight of five findings. For all other causes the counts are those of the chosen
//! scenarios of the corpus and what was stated on draws, where it cannot be true, and the prior is
//! the share on older paths that were unseen, with the weight of ten findings. Confidence never
//! decreases with strength: where the counts do so by chance, neighbours are pooled (isotonic
//! regression, Barlow et al. 1972).
//!
//! The counts are in `counts.rs`, made from `corpus/judged/training.jsonl` by `UPDATE_DOCS=1 cargo
//! test -p pathtwin-corpus`, and in `drawn.rs`, made from the lines of the draws of the calibration
//! by the same of `pathtwin-validation`. `docs/corpus.md` and `docs/drawn.md` have the results on
//! scenarios that were not used for either.

mod counts;
mod drawn;
mod table;

use crate::verdict::Strength;
use counts::COUNTS;
use drawn::DRAWN;
use model::cause::CauseCode;
use table::Table;

pub use table::Counts;

/// Weight of the share of all causes on drawn scenarios, in findings: for causes that a draw can
/// have. What was stated on one of draws 1002 to 1008 is more likely under the counts of the others
/// with a weight of 2 or 5 than with 10 or 20, by which weak findings were stated too high.
const PRIOR_DRAWN: f64 = 5.0;
/// Correct first findings and all of them on 57 lab paths that were written without looking at the
/// corpus (cable, DSL, satellite, 5G, long haul, office, VPS), with the quick plan and the rules of
/// that time: for all other causes.
const UNSEEN: [f64; 2] = [49.0, 57.0];
/// Weight of that share, in findings: those paths were measured with rules much older.
const PRIOR: f64 = 10.0;
/// Upper limit of confidence: there are some hundred scenarios, and real paths have faults that
/// none of them covers.
const MAX_CONFIDENCE: f64 = 0.97;

/// Probability that a finding with this cause and strength is correct.
pub fn confidence(code: &CauseCode, strength: Strength) -> f64 {
    calibrated(COUNTS, DRAWN, code)[strength as usize]
}

/// Probabilities for the strengths of a cause, from its counts in draws, or else in the corpus.
fn calibrated(chosen: &Table, drawn: &Table, code: &CauseCode) -> [f64; 3] {
    let of = |table: &Table| {
        let own = table.iter().find(|(name, _)| name == code);
        own.map(|(_, counts)| *counts).unwrap_or_default()
    };
    let by_chance = of(drawn);
    let (counts, shares, prior) = if by_chance.iter().any(|[right, _]| *right > 0) {
        (by_chance, shares(drawn), PRIOR_DRAWN)
    } else {
        let [right, all] = UNSEEN;
        (both(of(chosen), by_chance), [right / all; 3], PRIOR)
    };
    let steps = std::array::from_fn(|strength| {
        let [right, all] = counts[strength].map(f64::from);
        let n = all + prior;
        ((right + prior * shares[strength]) / n, n)
    });
    isotonic(steps).map(|share| share.min(MAX_CONFIDENCE))
}

/// Counts of a cause in the corpus and in draws. No draw can have it, so what was stated there is
/// wrong, and the corpus, in which rules were made, has nearly all that were right.
fn both(chosen: Counts, drawn: Counts) -> Counts {
    std::array::from_fn(|strength| {
        let [right, all] = chosen[strength];
        let [also_right, more] = drawn[strength];
        [right + also_right, all + more]
    })
}

/// Share of correct findings of all causes, by strength; that of all strengths where one has none.
fn shares(table: &Table) -> [f64; 3] {
    let sum = |strengths: std::ops::Range<usize>| {
        let steps = table
            .iter()
            .flat_map(|(_, counts)| &counts[strengths.clone()]);
        steps.fold([0.0, 0.0], |[right, all], step| {
            [right + f64::from(step[0]), all + f64::from(step[1])]
        })
    };
    let [right, all] = sum(0..3);
    std::array::from_fn(|strength| match sum(strength..strength + 1) {
        [_, 0.0] => right / all,
        [right, all] => right / all,
    })
}

/// Isotonic regression by weighted least squares: pool adjacent violators.
fn isotonic(steps: [(f64, f64); 3]) -> [f64; 3] {
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for (mean, weight) in steps {
        let mut block = (mean, weight, 1);
        while let Some(last) = blocks.pop_if(|last| last.0 > block.0) {
            let both = last.1 + block.1;
            let mean = (last.0 * last.1 + block.0 * block.1) / both;
            block = (mean, both, last.2 + block.2);
        }
        blocks.push(block);
    }
    let mut shares = blocks.iter().flat_map(|b| std::iter::repeat_n(b.0, b.2));
    std::array::from_fn(|_| shares.next().unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &Table = &[
        (CauseCode::POLICER, [[5, 10], [90, 100], [200, 200]]),
        (CauseCode::JITTER, [[0, 0], [0, 20], [0, 0]]),
    ];

    #[test]
    fn a_cause_without_findings_has_the_share_of_unseen_paths() {
        let calibrated = calibrated(TABLE, &[], &CauseCode::HEALTHY);
        assert!(
            calibrated
                .iter()
                .all(|share| (share - 49.0 / 57.0).abs() < 1e-9)
        );
    }

    #[test]
    fn many_findings_outweigh_the_prior() {
        let unseen = 49.0 / 57.0;
        let expected = (0.0 + 10.0 * unseen) / 30.0;
        let calibrated = calibrated(TABLE, &[], &CauseCode::JITTER);
        // The weak share is higher: both are pooled with their weights, 10 and 30.
        let both = (unseen * 10.0 + expected * 30.0) / 40.0;
        assert!((calibrated[0] - both).abs() < 1e-9 && (calibrated[1] - both).abs() < 1e-9);
    }

    /// Nearly every finding was stated with 98 %, whether it rested on 200 findings or on none.
    #[test]
    fn few_findings_are_stated_with_less_confidence_than_many() {
        let [few, many] =
            [CauseCode::JITTER, CauseCode::POLICER].map(|code| calibrated(TABLE, &[], &code)[2]);
        assert!(few < 0.9 && many > 0.95, "{few} {many}");
        let endless = [(CauseCode::WIFI_HOP, [[0, 0], [0, 0], [10_000, 10_000]])];
        assert_eq!(
            calibrated(&endless, &[], &CauseCode::WIFI_HOP)[2],
            MAX_CONFIDENCE
        );
    }

    /// Thirty findings by chance, of which 29 were right; 90 % of all causes were. What was counted
    /// on chosen paths, on which rules are made, counts for nothing.
    #[test]
    fn a_cause_that_a_draw_can_have_is_counted_on_draws_alone() {
        let chosen = [(CauseCode::REORDERING, [[0, 0], [0, 0], [500, 500]])];
        let drawn = [
            (CauseCode::REORDERING, [[0, 0], [0, 0], [29, 30]]),
            (CauseCode::JITTER, [[0, 0], [0, 0], [61, 70]]),
        ];
        let expected = (29.0 + 5.0 * 0.9) / 35.0;
        let calibrated = calibrated(&chosen, &drawn, &CauseCode::REORDERING);
        assert!((calibrated[2] - expected).abs() < 1e-9, "{calibrated:?}");
        assert!((calibrated[0] - 0.9).abs() < 1e-9, "{calibrated:?}");
    }

    /// Findings stated with 80 to 90 % were true in 76 %: a weak one was given the share of strong
    /// ones, of which there are ten times as many.
    #[test]
    fn a_weak_finding_has_the_share_of_weak_ones() {
        let drawn = [
            (CauseCode::REORDERING, [[0, 0], [0, 0], [950, 1000]]),
            (CauseCode::JITTER, [[30, 60], [0, 0], [0, 0]]),
        ];
        let calibrated = calibrated(&[], &drawn, &CauseCode::REORDERING);
        assert!((calibrated[0] - 0.5).abs() < 1e-9, "{calibrated:?}");
    }

    /// A limit of the far end was named on seven drawn paths, none of which can have one, and was
    /// stated with 89 % by the six of the corpus.
    #[test]
    fn what_no_draw_can_have_is_less_certain_by_each_draw_that_was_said_to_have_it() {
        let chosen = [(CauseCode::FAR_END_LIMIT, [[0, 0], [6, 6], [0, 0]])];
        let drawn = [
            (CauseCode::FAR_END_LIMIT, [[0, 0], [0, 7], [0, 0]]),
            (CauseCode::POLICER, [[0, 0], [0, 0], [200, 200]]),
        ];
        let expected = (6.0 + 10.0 * 49.0 / 57.0) / 23.0;
        let calibrated = calibrated(&chosen, &drawn, &CauseCode::FAR_END_LIMIT);
        // The weak share, of no finding, is higher: both are pooled with their weights.
        let pooled = (10.0 * 49.0 / 57.0 + 23.0 * expected) / 33.0;
        assert!((calibrated[1] - pooled).abs() < 1e-9, "{calibrated:?}");
    }

    #[test]
    fn rising_shares_are_unchanged() {
        let isotonic = isotonic([(0.2, 1.0), (0.5, 3.0), (0.9, 2.0)]);
        assert_eq!(isotonic, [0.2, 0.5, 0.9]);
    }
}
