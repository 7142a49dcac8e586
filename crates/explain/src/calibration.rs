//! What a strength is worth as a probability.
//!
//! Counted on the training scenarios of the corpus: of the findings of a cause with a strength, so
//! many were right. A cause alone has too few for a share of its own, so its counts are joined with
//! those of all causes of that strength, which weigh ten findings: the mean of a Beta
//! distribution whose prior is the pooled share. Stronger evidence is never worth less: where the
//! counts say so by chance, neighbours are pooled (isotonic regression, Barlow et al. 1972).
//!
//! The counts are in `counts.rs`, made from `corpus/judged/training.jsonl` by
//! `UPDATE_DOCS=1 cargo test -p pathtwin-explain`; how good they are on scenarios that no rule was
//! made with is in `docs/corpus.md`.

mod counts;

use crate::verdict::Strength;
use counts::COUNTS;

/// Right, and all, for each strength from the weakest to the strongest.
pub(crate) type Counts = [[u32; 2]; 3];

/// How many findings the pooled share weighs beside a cause's own.
const PRIOR: f64 = 10.0;
/// Confidence that no finding exceeds: the corpus has some hundred scenarios, and real paths have
/// faults that none of them has.
const MOST: f64 = 0.98;

/// Probability that a finding of a cause with a strength is right.
pub fn confidence(code: &str, strength: Strength) -> f64 {
    worth(COUNTS, code)[strength as usize]
}

/// What each strength of a cause is worth by a table of counts.
fn worth(table: &[(&str, Counts)], code: &str) -> [f64; 3] {
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
        // Half a finding right and half a one wrong beside the pooled ones: Jeffreys' prior.
        let pooled = (f64::from(all[0]) + 0.5) / (f64::from(all[1]) + 1.0);
        let n = f64::from(own[1]) + PRIOR;
        *step = ((f64::from(own[0]) + PRIOR * pooled) / n, n);
    }
    rising(steps).map(|share| share.min(MOST))
}

/// The nearest shares that do not fall, by weighted least squares: pool adjacent violators.
fn rising(steps: [(f64, f64); 3]) -> [f64; 3] {
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
        let worth = worth(TABLE, "never seen");
        assert!((worth[0] - 0.5).abs() < 1e-9);
        assert!((worth[1] - 90.5 / 121.0).abs() < 1e-9);
    }

    #[test]
    fn many_findings_outweigh_the_pool() {
        let pooled = 90.5 / 121.0;
        let expected = (0.0 + 10.0 * pooled) / 30.0;
        let worth = worth(TABLE, "wrong");
        // The weak share, 0.5, is above that: both are pooled by their weights, 10 and 30.
        let both = (0.5 * 10.0 + expected * 30.0) / 40.0;
        assert!((worth[0] - both).abs() < 1e-9 && (worth[1] - both).abs() < 1e-9);
    }

    #[test]
    fn nothing_is_said_to_be_certain() {
        assert_eq!(worth(TABLE, "often")[2], MOST);
    }

    #[test]
    fn shares_that_rise_stay_as_they_are() {
        let rising = rising([(0.2, 1.0), (0.5, 3.0), (0.9, 2.0)]);
        assert_eq!(rising, [0.2, 0.5, 0.9]);
    }
}
