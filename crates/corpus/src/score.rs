//! Score of findings against the truth.

use std::collections::BTreeMap;

use explain::{calibration, registry};
use model::{cause::CauseCode, findings::RemedyClass};
use serde::Serialize;

use crate::outcome::Outcome;

/// Counts over many scenarios.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Score {
    /// Scenarios.
    pub scenarios: usize,
    /// Scenarios whose first finding is a true cause.
    pub top_right: usize,
    /// Scenarios measured in the lab.
    pub lab: usize,
    /// Lab scenarios whose first finding is a true cause.
    pub top_right_lab: usize,
    /// Held-out scenarios.
    pub held_out: usize,
    /// Held-out scenarios whose first finding is a true cause.
    pub top_right_held_out: usize,
    /// Healthy scenarios.
    pub healthy: usize,
    /// Healthy scenarios with a false alarm.
    pub false_alarms: usize,
    /// Scenarios with several causes.
    pub pairs: usize,
    /// Scenarios with several causes, all of them found.
    pub pairs_named: usize,
    /// Scenarios whose first remedy is another congestion control although no true cause requires
    /// it.
    pub wrong_congestion_control: Vec<String>,
    /// First true cause, first finding, count.
    pub confusion: BTreeMap<String, BTreeMap<String, usize>>,
    /// By cause.
    pub causes: BTreeMap<CauseCode, Counts>,
    /// By confidence.
    pub calibration: Vec<Bin>,
    /// Scenarios whose first finding is wrong: name, truth, found.
    pub wrong: Vec<[String; 3]>,
}

/// Counts of one cause.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Counts {
    /// Scenarios in which it is a true cause.
    pub there: usize,
    /// Scenarios in which it is a true cause and was found.
    pub found: usize,
    /// False positives.
    pub wrongly: usize,
}

/// Findings within a range of confidence.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bin {
    /// Lower bound of the range.
    pub from: f64,
    /// Upper bound, exclusive; inclusive in the last range.
    pub to: f64,
    /// Findings.
    pub findings: u64,
    /// Mean confidence.
    pub message: f64,
    /// Correct findings.
    pub right: u64,
}

/// Lower bounds of the ranges of [`Bin`].
const BINS: [f64; 6] = [0.0, 0.6, 0.8, 0.9, 0.95, 0.98];

impl Counts {
    /// Share of correct findings; `None` without findings.
    pub fn precision(&self) -> Option<f64> {
        let all = self.found + self.wrongly;
        (all > 0).then(|| self.found as f64 / all as f64)
    }

    /// Share of its scenarios in which it was found; `None` without scenarios.
    pub fn recall(&self) -> Option<f64> {
        (self.there > 0).then(|| self.found as f64 / self.there as f64)
    }
}

/// Scores outcomes.
pub fn score(all: &[Outcome]) -> Score {
    let mut score = Score::default();
    for outcome in all {
        score.add(outcome);
    }
    score.calibration = calibrated(all);
    score
}

/// Confidence against the share of correct findings. Empty ranges are left out.
fn calibrated(all: &[Outcome]) -> Vec<Bin> {
    let judged = || all.iter().flat_map(Outcome::judged);
    let message: Vec<(f64, bool)> = judged()
        .map(|(found, right)| {
            let message = calibration::confidence(&found.code, found.strength);
            (message, right)
        })
        .collect();
    let ends = BINS.iter().skip(1).copied().chain([f64::INFINITY]);
    let bin = |(from, to): (f64, f64)| {
        let inside = message.iter().filter(|(s, _)| (from..to).contains(s));
        let shares: Vec<f64> = inside.clone().map(|(s, _)| *s).collect();
        Some(Bin {
            from,
            to: to.min(1.0),
            findings: shares.len() as u64,
            message: stats::mean(&shares)?,
            right: inside.filter(|(_, right)| *right).count() as u64,
        })
    };
    BINS.into_iter().zip(ends).filter_map(bin).collect()
}

impl Score {
    fn add(&mut self, outcome: &Outcome) {
        let first = outcome.first().map(|f| &f.code);
        let right = first.is_some_and(|code| outcome.is_true(code));
        let top = first.map_or("none", CauseCode::as_str);
        let count = |is: bool| usize::from(is);
        self.scenarios += 1;
        self.top_right += count(right);
        self.lab += count(!outcome.composed);
        self.top_right_lab += count(right && !outcome.composed);
        self.held_out += count(outcome.held_out);
        self.top_right_held_out += count(right && outcome.held_out);
        if !right {
            let truth = outcome.cause.join(" + ");
            self.wrong
                .push([outcome.name.clone(), truth, top.to_owned()]);
        }
        self.healthy += count(outcome.is_healthy());
        self.false_alarms += count(outcome.is_false_alarm());
        let several = outcome.cause.len() > 1;
        let is_found = |code: &CauseCode| outcome.found.iter().any(|f| f.code == *code);
        self.pairs += count(several);
        self.pairs_named += count(several && outcome.cause.iter().all(is_found));
        let truth = outcome
            .cause
            .first()
            .map_or_else(String::new, CauseCode::to_string);
        let row = self.confusion.entry(truth).or_default();
        *row.entry(top.to_owned()).or_default() += 1;
        if wrong_congestion_control(outcome) {
            self.wrong_congestion_control.push(outcome.name.clone());
        }
        self.by_cause(outcome);
    }

    fn by_cause(&mut self, outcome: &Outcome) {
        for (found, right) in outcome.judged() {
            let counts = self.causes.entry(found.code.clone()).or_default();
            match right {
                true => counts.found += 1,
                false => counts.wrongly += 1,
            }
        }
        for code in &outcome.cause {
            self.causes.entry(code.clone()).or_default().there += 1;
        }
    }
}

/// Returns true if the first remedy is another congestion control although no true cause requires
/// it.
fn wrong_congestion_control(outcome: &Outcome) -> bool {
    let calls = |code: &CauseCode| {
        let cause = registry().iter().find(|c| c.code == *code);
        cause.is_some_and(|c| c.remedy.class() == RemedyClass::CongestionControl)
    };
    let advised = outcome.first().is_some_and(|f| calls(&f.code));
    advised && !outcome.cause.iter().any(calls)
}

#[cfg(test)]
mod tests {
    use model::findings::{Place, Severity};

    use explain::verdict::Strength;

    use super::*;
    use crate::outcome::Found;

    fn outcome(
        cause: &[CauseCode],
        also: &[CauseCode],
        found: &[(CauseCode, Severity)],
    ) -> Outcome {
        Outcome {
            name: cause.join("-"),
            seed: 1,
            composed: false,
            held_out: false,
            cause: cause.to_vec(),
            also: also.to_vec(),
            found: found
                .iter()
                .map(|(code, severity)| Found {
                    code: code.clone(),
                    place: Place::default(),
                    severity: *severity,
                    strength: Strength::Fair,
                })
                .collect(),
        }
    }

    #[test]
    fn allowed_codes_count_neither_way() {
        let score = score(&[outcome(
            &[CauseCode::RECEIVE_WINDOW],
            &[CauseCode::HOST_SETTINGS],
            &[
                (CauseCode::RECEIVE_WINDOW, Severity::High),
                (CauseCode::HOST_SETTINGS, Severity::Low),
                (CauseCode::POLICER, Severity::Low),
            ],
        )]);
        assert_eq!(score.top_right, 1);
        assert!(!score.causes.contains_key(&CauseCode::HOST_SETTINGS));
        assert_eq!(score.causes[&CauseCode::POLICER].wrongly, 1);
        let message: u64 = score.calibration.iter().map(|b| b.findings).sum();
        assert_eq!(message, 2);
    }

    #[test]
    fn an_alarm_on_a_healthy_path_is_one_even_below_a_first_finding_that_is_right() {
        let healthy = (CauseCode::HEALTHY, Severity::Info);
        let alarm = outcome(
            &[CauseCode::HEALTHY],
            &[],
            &[healthy.clone(), (CauseCode::POLICER, Severity::Low)],
        );
        let quiet = outcome(
            &[CauseCode::HEALTHY],
            &[],
            &[healthy, (CauseCode::AQM_IDLE, Severity::Info)],
        );
        let score = score(&[alarm, quiet]);
        assert_eq!((score.healthy, score.false_alarms), (2, 1));
    }

    #[test]
    fn congestion_control_advised_for_another_cause_is_counted() {
        let found = [(CauseCode::RANDOM_LOSS, Severity::High)];
        let wrong = outcome(&[CauseCode::UDP_SOCKET_DROPS], &[], &found);
        let right = outcome(&[CauseCode::JITTER], &[], &found);
        let score = score(&[wrong, right]);
        assert_eq!(score.wrong_congestion_control, ["udp-socket-drops"]);
    }

    #[test]
    fn a_pair_is_named_only_with_both() {
        let found = [
            (CauseCode::POLICER, Severity::High),
            (CauseCode::REORDERING, Severity::Low),
        ];
        let both = outcome(&[CauseCode::POLICER, CauseCode::REORDERING], &[], &found);
        let one = outcome(&[CauseCode::POLICER, CauseCode::RANDOM_LOSS], &[], &found);
        let score = score(&[both, one]);
        assert_eq!((score.pairs, score.pairs_named), (2, 1));
    }
}
