//! Sequential halving: numbers of arms, and of pairs of member and seed, by round.
//!
//! Karnin, Koren, Somekh: Almost Optimal Exploration in Multi-Armed Bandits, ICML 2013. A pair is
//! shared by all arms, so that differences are compared and not levels.

/// Arms that remain at the end.
const LAST: usize = 4;
/// Maximum pairs of an arm.
const MAX_PAIRS: usize = 12;
/// Combinations that join the last round.
pub(super) const COMBINED: usize = 3;
/// Arms within this distance (logarithm of a ratio) of the last surviving arm continue, too.
pub(super) const TIE: f64 = 0.03;
/// Maximum number of such arms.
const TIES: usize = 2;

/// A round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Round {
    /// Arms in it, without that of no change.
    pub(super) arms: usize,
    /// Pairs of each arm at its end, including earlier rounds.
    pub(super) pairs: usize,
}

/// The rounds within this number of runs; empty if they do not allow one of one pair.
pub(super) fn rounds(arms: usize, allowed: usize) -> Vec<Round> {
    let of = |first: usize| {
        let mut all = vec![Round { arms, pairs: first }];
        while let Some(last) = all.last().copied()
            && last.arms > LAST
        {
            all.push(Round {
                arms: last.arms.div_ceil(2).max(LAST),
                pairs: (2 * last.pairs).min(MAX_PAIRS),
            });
        }
        all
    };
    let fits = |rounds: &Vec<Round>| runs(rounds) <= allowed;
    if let Some(rounds) = [4, 3, 2, 1].into_iter().map(of).find(fits) {
        return rounds;
    }
    let mut rounds = of(1);
    while !rounds.is_empty() && runs(&rounds) > allowed {
        rounds.pop();
    }
    rounds
}

/// Runs that the rounds take at most, those without a change included.
pub(super) fn runs(rounds: &[Round]) -> usize {
    let mut before = 0;
    let mut sum = 0;
    for (number, round) in rounds.iter().enumerate() {
        let ties = if number == 0 { 0 } else { TIES };
        sum += (round.arms + ties + 1) * (round.pairs - before);
        before = round.pairs;
    }
    match rounds.len() {
        0 | 1 => sum,
        _ => sum + COMBINED * before,
    }
}

/// The arms that continue: the best `count` by their worth, and those that tie with the last of
/// them.
pub(super) fn survivors(mut worths: Vec<(usize, f64)>, count: usize) -> Vec<usize> {
    worths.sort_by(|a, b| b.1.total_cmp(&a.1));
    let last = worths.get(count.saturating_sub(1)).map(|w| w.1);
    let ties = |(place, (_, worth)): &(usize, (usize, f64))| {
        *place < count || (*place < count + TIES && last.is_some_and(|last| *worth >= last - TIE))
    };
    let on = worths.into_iter().enumerate().filter(ties);
    on.map(|(_, (arm, _))| arm).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_halves_the_arms_and_doubles_the_pairs() {
        let all = rounds(24, 10_000);
        assert_eq!(all[0], Round { arms: 24, pairs: 4 });
        assert_eq!(all[1], Round { arms: 12, pairs: 8 });
        assert_eq!(all.last().unwrap().arms, LAST);
    }

    #[test]
    fn rounds_never_take_more_than_is_allowed() {
        for allowed in [0, 20, 30, 60, 100, 150, 300, 1000] {
            let all = rounds(26, allowed);
            assert!(runs(&all) <= allowed, "{allowed}: {all:?}");
        }
        assert!(rounds(26, 20).is_empty());
        assert_eq!(rounds(26, 30).len(), 1);
    }

    #[test]
    fn an_arm_that_ties_with_the_last_one_continues() {
        let worths = vec![(1, 0.5), (2, 0.30), (3, 0.29), (4, 0.1)];
        assert_eq!(survivors(worths, 2), vec![1, 2, 3]);
    }
}
