//! Effects of a remedy: paired ratios, and their value for a goal.

use model::{
    advice::{
        AdviceFigure, Effect, Goal, Outcome,
        guards::{self, GAIN},
    },
    net::Direction,
    path::Path,
};

use super::{chance, trial};

/// Assumed standard deviation of the value of one pair, since few pairs do not show it; it counts
/// as [`USUAL_COUNTS`] more pairs.
pub(super) const USUAL: f64 = 0.08;
pub(super) const USUAL_COUNTS: f64 = 2.0;
/// Chance that a remedy without an effect, the luckiest of all that were tried, seems to have one.
const BY_CHANCE: f64 = 0.05;
/// A pair of values without and with the remedy, on a member.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<'a> {
    pub(super) member: usize,
    pub(super) before: &'a [Outcome],
    pub(super) after: &'a [Outcome],
    /// Variance of the logarithm of the ratio of the goodputs by the chance of random loss, down
    /// and up.
    pub(super) chance: [f64; 2],
}

impl<'a> Pair<'a> {
    /// The outcomes without and with a remedy on a member of this path.
    pub(super) fn new(member: usize, path: &Path, [before, after]: [&'a [Outcome]; 2]) -> Self {
        let time = trial::counts(path);
        let of = |direction| {
            let goodput = |all: &[Outcome]| {
                let own = all.iter().find(|o| o.direction == direction);
                own.map(|o| o.goodput_bps)
            };
            match (goodput(before), goodput(after)) {
                // Identical bits are not chance.
                (Some(a), Some(b)) if a != b => {
                    let line = path.underlay.line(direction);
                    [a, b]
                        .map(|bps| chance::variance(line, bps, time))
                        .iter()
                        .sum()
                }
                _ => 0.0,
            }
        };
        Self {
            member,
            before,
            after,
            chance: [Direction::Down, Direction::Up].map(of),
        }
    }

    /// The variance by the chance of random loss in a direction.
    pub(super) fn chance(&self, direction: Direction) -> f64 {
        let [down, up] = self.chance;
        match direction {
            Direction::Down => down,
            Direction::Up => up,
        }
    }
}

/// Weights of a goal: of goodput, and of loaded latency.
const fn weights(goal: Goal) -> [f64; 2] {
    match goal {
        Goal::Balanced => [1.0, 0.5],
        Goal::Throughput => [1.0, 0.0],
        Goal::Latency => [0.5, 1.0],
    }
}

/// Returns the value of a change, both directions together: logarithms of ratios, of delays those
/// that are noticeable.
pub(super) fn worth(pair: &Pair<'_>, goal: Goal) -> f64 {
    by_direction(pair, goal).map(|(_, worth)| worth).sum()
}

/// Value of a change in each direction.
fn by_direction(pair: &Pair<'_>, goal: Goal) -> impl Iterator<Item = (Direction, f64)> {
    let [goodput, delay] = weights(goal);
    let ln = |a: f64, b: f64| (b.max(1.0) / a.max(1.0)).ln();
    let one = move |(a, b): (&Outcome, &Outcome)| {
        let gain = match goal {
            Goal::Latency => guards::delay_gain,
            Goal::Balanced | Goal::Throughput => guards::noticed_gain,
        };
        let p50 = gain(a.rtt_p50_us, b.rtt_p50_us);
        // The median alone where a 99th percentile is not known.
        let p99 = a.rtt_p99_us.zip(b.rtt_p99_us);
        let p99 = p99.map(|(a, b)| gain(a, b));
        let rtt = p99.map_or(p50, |p99| f64::midpoint(p50, p99));
        let worth = goodput * ln(a.goodput_bps, b.goodput_bps) + delay * rtt;
        (a.direction, worth)
    };
    pair.before.iter().zip(pair.after).map(one)
}

/// Mean worth in a direction over all pairs; `None` without pairs.
pub(super) fn mean_in(pairs: &[Pair<'_>], goal: Goal, direction: Direction) -> Option<f64> {
    let own = |pair| by_direction(pair, goal).find(|(d, _)| *d == direction);
    let all = pairs.iter().filter_map(own).map(|(_, worth)| worth);
    stats::mean(&all.collect::<Vec<_>>())
}

/// Worths over all pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Worth {
    pub(super) median: f64,
    pub(super) mean: f64,
    /// Standard error of the mean.
    pub(super) error: f64,
}

impl Worth {
    /// `None` without pairs.
    pub(super) fn of(pairs: &[Pair<'_>], goal: Goal) -> Option<Self> {
        let all: Vec<f64> = pairs.iter().map(|p| worth(p, goal)).collect();
        let mean = stats::mean(&all)?;
        // Identical bits are not chance.
        if all.iter().all(|w| *w == 0.0) {
            return Some(Self {
                median: 0.0,
                mean: 0.0,
                error: 0.0,
            });
        }
        let n = all.len() as f64;
        let squares: f64 = all.iter().map(|w| (w - mean).powi(2)).sum();
        let [of_goodput, _] = weights(goal);
        let chances: Vec<f64> = pairs.iter().map(|p| p.chance.iter().sum()).collect();
        let by_loss = of_goodput * of_goodput * stats::mean(&chances)?;
        let usual = USUAL * USUAL + by_loss;
        let variance = (squares + USUAL_COUNTS * usual) / (n - 1.0 + USUAL_COUNTS);
        Some(Self {
            median: stats::median(&all)?,
            mean,
            error: (variance / n).sqrt(),
        })
    }

    /// Returns its effect on the goal, as one of `arms` that were tried: their bounds hold together
    /// (Bonferroni), since it is the best of all that is looked at.
    pub(super) fn effect(&self, arms: usize) -> Effect {
        let each = BY_CHANCE / arms.max(1) as f64;
        let half = stats::distribution::normal_quantile(1.0 - each) * self.error;
        if self.mean - half > GAIN {
            Effect::Helps
        } else if self.mean + half < -GAIN {
            Effect::Harms
        } else if self.mean > GAIN {
            Effect::Unsure
        } else {
            Effect::Nothing
        }
    }
}

/// Mean worth on each member.
pub(super) fn by_member(pairs: &[Pair<'_>], members: usize, goal: Goal) -> Vec<Option<f64>> {
    let of = |member| {
        let own = pairs.iter().filter(|p| p.member == member);
        stats::mean(&own.map(|p| worth(p, goal)).collect::<Vec<_>>())
    };
    (0..members).map(of).collect()
}

/// Medians over all pairs of the values with, or without, the remedy.
pub(super) fn medians<'a>(all: impl Iterator<Item = &'a [Outcome]>) -> Vec<Outcome> {
    let all: Vec<&Outcome> = all.flatten().collect();
    let one = |direction| {
        let median = |figure| {
            let own = all.iter().filter(|o| o.direction == direction);
            stats::median(&own.filter_map(|o| o.value(figure)).collect::<Vec<_>>())
        };
        Some(Outcome {
            direction,
            goodput_bps: median(AdviceFigure::Goodput)?,
            rtt_p50_us: median(AdviceFigure::LoadedP50)?,
            rtt_p99_us: median(AdviceFigure::LoadedP99),
            retransmitted: median(AdviceFigure::Retransmitted),
        })
    };
    [Direction::Down, Direction::Up]
        .into_iter()
        .filter_map(one)
        .collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn outcome(goodput_bps: f64, rtt_us: f64) -> Outcome {
        Outcome {
            direction: Direction::Down,
            goodput_bps,
            rtt_p50_us: rtt_us,
            rtt_p99_us: Some(rtt_us),
            retransmitted: Some(0.0),
        }
    }

    fn pairs<'a>(before: &'a [Outcome], after: &'a [Outcome], n: usize) -> Vec<Pair<'a>> {
        let pair = |member| Pair {
            member,
            before,
            after,
            chance: [0.0; 2],
        };
        (0..n).map(pair).collect()
    }

    #[test]
    fn twice_the_goodput_helps_and_the_same_does_nothing() {
        let (one, two) = ([outcome(1e7, 3e4)], [outcome(2e7, 3e4)]);
        let effect = |after, goal| Worth::of(&pairs(&one, after, 4), goal).unwrap().effect(1);
        assert_eq!(effect(&two, Goal::Balanced), Effect::Helps);
        assert_eq!(effect(&one, Goal::Balanced), Effect::Nothing);
    }

    /// In case 4, a shaper for 1.8 ms, and 2.7 ms of the 99th percentile, was advised and kept
    /// before the line's actual problem.
    #[test]
    fn milliseconds_are_no_bargain_for_goodput_unless_latency_is_asked_for() {
        let effect = |scale: f64, goal| {
            let with_p99 = |goodput, p50, p99| Outcome {
                rtt_p99_us: Some(p99 * scale),
                ..outcome(goodput, p50 * scale)
            };
            let (bloated, shaped) = (
                [with_p99(956e6, 4.6e3, 5.5e3)],
                [with_p99(900e6, 2.8e3, 2.8e3)],
            );
            Worth::of(&pairs(&bloated, &shaped, 4), goal)
                .unwrap()
                .effect(1)
        };
        assert_eq!(effect(1.0, Goal::Balanced), Effect::Nothing);
        assert_eq!(effect(1.0, Goal::Latency), Effect::Helps);
        assert_eq!(effect(10.0, Goal::Balanced), Effect::Helps);
    }

    #[test]
    fn a_tenth_of_the_delay_at_95_percent_of_the_goodput_is_a_bargain_except_for_throughput() {
        let (bloated, shaped) = ([outcome(2e7, 4e5)], [outcome(1.9e7, 4e4)]);
        let effect = |goal| {
            Worth::of(&pairs(&bloated, &shaped, 4), goal)
                .unwrap()
                .effect(1)
        };
        assert_eq!(effect(Goal::Balanced), Effect::Helps);
        assert_eq!(effect(Goal::Latency), Effect::Helps);
        assert_ne!(effect(Goal::Throughput), Effect::Helps);
    }

    #[test]
    fn two_noisy_pairs_are_not_enough_to_say_that_it_helps() {
        let (a, b, c) = (
            [outcome(1e7, 3e4)],
            [outcome(1.6e7, 3e4)],
            [outcome(0.9e7, 3e4)],
        );
        let mut both = pairs(&a, &b, 1);
        both.extend(pairs(&a, &c, 1));
        let worth = Worth::of(&both, Goal::Throughput).unwrap();
        assert_eq!(worth.effect(1), Effect::Unsure, "{worth:?}");
    }

    /// Bug: on a real line with 1 % of loss, of which bbr would have made six times the goodput, a
    /// shaper was advised: of 24 remedies with one pair each it had met the fewest losses.
    #[test]
    fn the_luckiest_of_many_remedies_on_a_lossy_line_does_not_help_and_bbr_does() {
        let lossy = [outcome(3.5e6, 4e4)];
        let effect = |after: f64, chance| {
            let after = [outcome(after, 4e4)];
            let pair = Pair {
                chance: [chance, 0.0],
                ..pairs(&lossy, &after, 1)[0]
            };
            let worth = Worth::of(&[pair], Goal::Balanced).unwrap();
            [1, 24].map(|arms| worth.effect(arms))
        };
        // 18 losses in each of two trials of 6 s.
        let chance = 2.0 * 0.25 / 18.0;
        let lucky = 3.5e6 * 1.23;
        assert_eq!(effect(lucky, 0.0), [Effect::Helps, Effect::Unsure]);
        assert_eq!(effect(lucky, chance), [Effect::Unsure, Effect::Unsure]);
        assert_eq!(effect(1.9e7, 0.5 * chance), [Effect::Helps, Effect::Helps]);
    }

    /// A 99th percentile needs 100 answered probes, and some senders report no retransmissions.
    #[test]
    fn what_was_not_measured_is_in_no_median_no_worth_and_no_change() {
        let unknown = |rtt_us| Outcome {
            rtt_p99_us: None,
            retransmitted: None,
            ..outcome(1e7, rtt_us)
        };
        let (before, after) = ([unknown(8e4)], [unknown(4e4)]);
        let pairs = pairs(&before, &after, 3);
        // The same goodput, the RTT with the weight of latency and what is not noticeable of it.
        let worth = worth(&pairs[0], Goal::Latency);
        assert!((worth - (85.0_f64 / 45.0).ln()).abs() < 1e-12, "{worth}");
        let medians = medians(pairs.iter().map(|p| p.after));
        assert_eq!(medians, after);
        let known = [outcome(1e7, 4e4)];
        let mixed = super::medians([&after[..], &known[..]].into_iter());
        assert_eq!(mixed[0].rtt_p99_us, Some(4e4));
    }
}
