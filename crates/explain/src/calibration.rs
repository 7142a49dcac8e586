//! Calibration of strengths as probabilities.
//!
//! The probability is the share of correct findings of a cause with that strength among the
//! training scenarios. One cause has too few findings for an estimate of its own. Its counts are
//! therefore combined with the share over all causes of that strength, which has the weight of ten
//! findings: the mean of a Beta distribution whose prior is the pooled share. Confidence never
//! decreases with strength: where the counts do so by chance, neighbours are pooled (isotonic
//! regression, Barlow et al. 1972).
//!
//! The counts are in `counts.rs`, made from `corpus/judged/training.jsonl` by `UPDATE_DOCS=1 cargo
//! test -p pathtwin-explain`; `docs/corpus.md` has the results on scenarios that were not used for
//! making rules.

mod counts;

use crate::verdict::Strength;
use counts::COUNTS;

/// Correct findings and all findings, for each strength from weakest to strongest.
pub(crate) type Counts = [[u32; 2]; 3];

/// Weight of the pooled share, in findings.
const PRIOR: f64 = 10.0;
/// Upper limit of confidence: the corpus has some hundred scenarios, and real paths have faults
/// that none of them covers.
const MAX_CONFIDENCE: f64 = 0.98;

/// Probability that a finding with this cause and strength is correct.
pub fn confidence(code: &str, strength: Strength) -> f64 {
    calibrated(COUNTS, code)[strength as usize]
}

/// Probabilities for the strengths of a cause, from a table of counts.
fn calibrated(table: &[(&str, Counts)], code: &str) -> [f64; 3] {
    let mut all = Counts::default();
    for (_, counts) in table {
        for (sum, one) in all.iter_mut().zip(counts) {
            sum[0] += one[0];
            sum[1] += one[1];
        }
    }
    let own = table.iter().find(|(name, _)| *name == code);
    let own = own.map_or(Counts::default(), |(_, counts)| *counts);
    let mut steps = [(0.0, 0.0); 3];
    for ((step, all), own) in steps.iter_mut().zip(all).zip(own) {
        // Jeffreys' prior: half a correct and half a wrong finding in addition.
        let pooled = (f64::from(all[0]) + 0.5) / (f64::from(all[1]) + 1.0);
        let n = f64::from(own[1]) + PRIOR;
        *step = ((f64::from(own[0]) + PRIOR * pooled) / n, n);
    }
    isotonic(steps).map(|share| share.min(MAX_CONFIDENCE))
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

    const TABLE: &[(&str, Counts)] = &[
        ("often", [[5, 10], [90, 100], [200, 200]]),
        ("wrong", [[0, 0], [0, 20], [0, 0]]),
    ];

    #[test]
    fn a_cause_without_findings_has_the_pooled_share() {
        // (5 + 0.5) / (10 + 1) and (90 + 0.5) / (120 + 1).
        let calibrated = calibrated(TABLE, "never seen");
        assert!((calibrated[0] - 0.5).abs() < 1e-9);
        assert!((calibrated[1] - 90.5 / 121.0).abs() < 1e-9);
    }

    #[test]
    fn many_findings_outweigh_the_pool() {
        let pooled = 90.5 / 121.0;
        let expected = (0.0 + 10.0 * pooled) / 30.0;
        let calibrated = calibrated(TABLE, "wrong");
        // The weak share, 0.5, is higher: both are pooled with their weights, 10 and 30.
        let both = (0.5 * 10.0 + expected * 30.0) / 40.0;
        assert!((calibrated[0] - both).abs() < 1e-9 && (calibrated[1] - both).abs() < 1e-9);
    }

    #[test]
    fn nothing_is_said_to_be_certain() {
        assert_eq!(calibrated(TABLE, "often")[2], MAX_CONFIDENCE);
    }

    #[test]
    fn shares_that_rise_stay_as_they_are() {
        let isotonic = isotonic([(0.2, 1.0), (0.5, 3.0), (0.9, 2.0)]);
        assert_eq!(isotonic, [0.2, 0.5, 0.9]);
    }
}
