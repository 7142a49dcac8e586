//! Results of scenarios: the lines of the reviewed snapshot.
//!
//! A line has the strength of each finding instead of its confidence, which is calibrated from many
//! such lines ([`explain::calibration`]).

use explain::{judge_with_strength, verdict::Strength};
use model::{
    cause::CauseCode,
    findings::{Finding, Place, Severity},
    run::Run,
};
use serde::{Deserialize, Serialize};

use crate::scenario::{Part, Scenario, Source};

/// A scenario and the findings of its Run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Name of the scenario.
    pub name: String,
    /// Seed of the Run.
    pub seed: u64,
    /// True if the Run was computed instead of measured in the lab.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub composed: bool,
    /// True if the scenario was excluded from training.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held_out: bool,
    /// True causes; `healthy` if there are none.
    pub cause: Vec<CauseCode>,
    /// Causes that may also be found, and are neither right nor wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<CauseCode>,
    /// Findings in order.
    pub found: Vec<Found>,
}

/// One finding of an [`Outcome`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Code of the cause.
    pub code: CauseCode,
    /// Place.
    #[serde(flatten)]
    pub place: Place,
    /// Severity.
    pub severity: Severity,
    /// Strength of the evidence.
    pub strength: Strength,
}

impl Outcome {
    /// Judges the Run of a scenario.
    pub fn of(scenario: &Scenario, part: Part, run: &Run) -> Self {
        let (findings, strengths) = judge_with_strength(run);
        let found = |(finding, strength): (Finding, Strength)| Found {
            code: finding.code,
            place: finding.place,
            severity: finding.severity,
            strength,
        };
        Self {
            name: scenario.name.clone(),
            seed: scenario.seed(part).0,
            composed: matches!(scenario.source, Source::Composed(_)),
            held_out: scenario.held_out(),
            cause: match scenario.is_healthy() {
                true => vec![CauseCode::HEALTHY],
                false => scenario.cause.clone(),
            },
            also: scenario.also.clone(),
            found: findings
                .findings
                .into_iter()
                .zip(strengths)
                .map(found)
                .collect(),
        }
    }

    /// Returns true if it is a healthy path.
    pub fn is_healthy(&self) -> bool {
        self.cause.iter().all(|c| *c == CauseCode::HEALTHY)
    }

    /// Returns true if a code is a true cause.
    pub fn is_true(&self, code: &CauseCode) -> bool {
        self.cause.contains(code)
    }

    /// The first finding, if it asserts a problem.
    pub fn first(&self) -> Option<&Found> {
        self.found.first().filter(|f| f.asserts())
    }

    /// Each found cause with its correctness; without causes that count as neither.
    pub fn judged(&self) -> Vec<(&Found, bool)> {
        let mut seen: Vec<&CauseCode> = Vec::new();
        let mut judged = Vec::new();
        for found in &self.found {
            let code = &found.code;
            let right = self.is_true(code);
            let neutral = !right && (!found.asserts() || self.also.contains(code));
            if !neutral && !seen.contains(&code) {
                seen.push(code);
                judged.push((found, right));
            }
        }
        judged
    }

    /// Returns true if a problem was reported on a healthy path.
    pub fn is_false_alarm(&self) -> bool {
        let alarm = |f: &Found| {
            f.severity > Severity::Info
                && f.code != CauseCode::HEALTHY
                && !self.also.contains(&f.code)
        };
        self.is_healthy() && self.found.iter().any(alarm)
    }
}

impl Found {
    /// Returns true if it asserts a problem; informational findings do not.
    pub fn asserts(&self) -> bool {
        self.severity > Severity::Info || self.code == CauseCode::HEALTHY
    }
}
