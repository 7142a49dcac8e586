//! Counts over the outcomes of a draw.

use std::collections::BTreeMap;

use model::cause::CauseCode;

use super::outcome::{Judged, Outcome};
use crate::accuracy::count::Count;

/// The counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// Scenarios whose first finding is right.
    pub right: Count,
    /// The part of them with a cause that a rule can name.
    pub right_named: Count,
    /// Scenarios whose first finding is the cause with the largest weight.
    pub largest: Count,
    /// Healthy paths with a false alarm.
    pub false_alarms: Count,
    /// Scenarios whose first finding is a true cause in the wrong direction, among those whose
    /// first finding is a true cause.
    pub misplaced: Count,
    /// Scenarios whose first remedy is another congestion control although no cause requires it.
    pub wrong_congestion_control: Count,
    /// Scenarios whose first remedy is BBR although it carries no more there, of those where that
    /// was measured.
    pub useless_congestion_control: Count,
    /// Number of scenarios by judgement.
    pub judged: BTreeMap<Judged, usize>,
    /// Scenarios with a named cause by the share of goodput that recovers, upper bounds of
    /// [`SIZES`].
    pub by_size: [Count; SIZES.len()],
    /// By fault of the largest weight, without its direction.
    pub by_fault: BTreeMap<String, Count>,
    /// Confidence and truth of all findings, by [`BINS`].
    pub bins: Vec<Bin>,
    /// Mistakes: the truth, the first finding, and their number.
    pub mistakes: BTreeMap<(String, String), usize>,
}

/// Findings within a range of confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Lower bound.
    pub from: f64,
    /// Upper bound, exclusive except for the last.
    pub to: f64,
    /// Mean of the stated confidence.
    pub stated: f64,
    /// True findings.
    pub right: Count,
}

/// Bounds of the ranges of confidence.
pub const BINS: [f64; 9] = [0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0];
/// Upper bounds of the ranges of goodput that recovers.
pub const SIZES: [f64; 4] = [0.2, 0.4, 0.7, 1.0];

/// Counts.
pub fn score(all: &[Outcome]) -> Score {
    let mut score = Score::default();
    for outcome in all {
        score.add(outcome);
    }
    score.bins = bins(all);
    score
}

impl Score {
    fn add(&mut self, outcome: &Outcome) {
        let right = outcome.judged == Judged::Right;
        self.right.add(right);
        *self.judged.entry(outcome.judged).or_default() += 1;
        let wrong_cc = outcome.advises_wrong_congestion_control();
        self.wrong_congestion_control.add(wrong_cc);
        if let Some(helps) = outcome.advice_helps() {
            self.useless_congestion_control.add(!helps);
        }
        if right || outcome.judged == Judged::WrongDirection {
            let is_placed = outcome
                .first()
                .is_some_and(|s| s.code != CauseCode::HEALTHY);
            if is_placed {
                self.misplaced.add(!right);
            }
        }
        if outcome.is_healthy() {
            self.false_alarms.add(outcome.judged == Judged::FalseAlarm);
        }
        if outcome.has_name() {
            self.right_named.add(right);
            self.largest.add(right && outcome.names_the_largest());
            let size = SIZES.iter().position(|to| outcome.recovers < *to);
            self.by_size[size.unwrap_or(SIZES.len() - 1)].add(right);
        }
        self.by_fault.entry(kind(outcome)).or_default().add(right);
        if !right {
            let first = outcome.first().map_or("nothing", |s| s.code.as_str());
            let mistake = (truth(outcome), first.to_owned());
            *self.mistakes.entry(mistake).or_default() += 1;
        }
    }
}

/// The fault of the largest weight, without its place.
fn kind(outcome: &Outcome) -> String {
    let largest = outcome.causes.first();
    largest.map_or_else(
        || CauseCode::HEALTHY.to_string(),
        |cause| {
            let text = cause.fault.to_string();
            let ends = [" down", " up", " of the near host", " of the far host"];
            let kind = ends.iter().find_map(|end| text.strip_suffix(end));
            kind.unwrap_or(&text).to_owned()
        },
    )
}

/// All true causes in words.
pub fn truth(outcome: &Outcome) -> String {
    let all: Vec<String> = outcome.causes.iter().map(|c| c.fault.to_string()).collect();
    match all.is_empty() {
        true => CauseCode::HEALTHY.to_string(),
        false => all.join(" + "),
    }
}

/// True findings and all of them, by cause and strength.
pub fn counts(all: &[Outcome]) -> BTreeMap<CauseCode, [[u32; 2]; 3]> {
    let mut counts: BTreeMap<CauseCode, [[u32; 2]; 3]> = BTreeMap::new();
    for (found, right) in all.iter().flat_map(Outcome::asserted) {
        let own = counts.entry(found.code.clone()).or_default();
        let [true_ones, of] = &mut own[found.strength as usize];
        *true_ones += u32::from(right);
        *of += 1;
    }
    counts
}

/// Stated confidence against the share of true findings. Empty ranges are left out.
fn bins(all: &[Outcome]) -> Vec<Bin> {
    let asserted = || all.iter().flat_map(Outcome::asserted);
    let bin = |range: &[f64]| {
        let (from, to) = (range[0], range[1]);
        let last = to >= 1.0;
        let holds = |c: f64| c >= from && (c < to || last);
        let inside: Vec<(f64, bool)> = asserted()
            .map(|(message, right)| (message.confidence, right))
            .filter(|(c, _)| holds(*c))
            .collect();
        let mut right = Count::default();
        inside.iter().for_each(|(_, is)| right.add(*is));
        let stated: Vec<f64> = inside.iter().map(|(c, _)| *c).collect();
        Some(Bin {
            from,
            to,
            stated: stats::mean(&stated)?,
            right,
        })
    };
    BINS.windows(2).filter_map(bin).collect()
}

#[cfg(test)]
mod tests {
    use model::{findings::Severity, net::Direction};

    use super::*;
    use crate::drawn::{fault::Fault, outcome::tests::outcome};

    #[test]
    fn each_outcome_is_counted_where_it_belongs() {
        let down = Some(Direction::Down);
        let loss = [Fault::Loss(Direction::Down)];
        let all = [
            outcome(&loss, &[(CauseCode::RANDOM_LOSS, down, Severity::High)]),
            outcome(
                &loss,
                &[(CauseCode::RANDOM_LOSS, Some(Direction::Up), Severity::High)],
            ),
            outcome(&loss, &[]),
            outcome(&[], &[(CauseCode::POLICER, down, Severity::Low)]),
            outcome(&[], &[]),
        ];
        let score = score(&all);
        assert_eq!(score.right, Count { hits: 2, of: 5 });
        assert_eq!(score.right_named, Count { hits: 1, of: 3 });
        assert_eq!(score.false_alarms, Count { hits: 1, of: 2 });
        assert_eq!(score.misplaced, Count { hits: 1, of: 2 });
        assert_eq!(score.by_fault["loss"], Count { hits: 1, of: 3 });
        // 0.9 was stated three times, and was correct once: one was in the other direction.
        assert_eq!(score.bins.len(), 1);
        assert_eq!(score.bins[0].right, Count { hits: 1, of: 3 });
    }
}
