//! What became of one scenario: a line of the reviewed snapshot.
//!
//! The line holds the strength of each finding and not its confidence: what a strength is worth is
//! counted over many such lines ([`crate::calibration`]).

use model::{
    findings::{Finding, Place, Severity},
    run::Run,
};
use serde::{Deserialize, Serialize};

use super::{Part, Scenario, What};
use crate::{causes::HEALTHY, judge::weigh, verdict::Strength};

/// A scenario, and what was found in its Run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Name of the scenario.
    pub name: String,
    /// Seed of the Run.
    pub seed: u64,
    /// Whether the Run was made by arithmetic and not measured in the lab.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub composed: bool,
    /// Whether rules were made without the scenario.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held_out: bool,
    /// True causes; `healthy` where nothing is wrong.
    pub cause: Vec<String>,
    /// What may be found beside them and is neither right nor wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// What was found, the first first.
    pub found: Vec<Found>,
}

/// One finding of an [`Outcome`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Code of the cause.
    pub code: String,
    /// Where.
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
        let (findings, strengths) = weigh(run);
        let found = |(finding, strength): (Finding, Strength)| Found {
            code: finding.code,
            place: finding.place,
            severity: finding.severity,
            strength,
        };
        Self {
            name: scenario.name.clone(),
            seed: scenario.seed(part).0,
            composed: matches!(scenario.what, What::Composed(_)),
            held_out: scenario.held_out(),
            cause: match scenario.is_healthy() {
                true => vec![HEALTHY.to_owned()],
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

    /// Whether nothing is wrong there.
    pub fn is_healthy(&self) -> bool {
        self.cause.iter().all(|c| c == HEALTHY)
    }

    /// Whether a code is a true cause.
    pub fn is_true(&self, code: &str) -> bool {
        self.cause.iter().any(|c| c == code)
    }

    /// What was found first, if that asserts anything.
    pub fn first(&self) -> Option<&Found> {
        self.found.first().filter(|f| f.asserts())
    }

    /// Each cause that was found once, with whether that is right; without what is neither right
    /// nor wrong.
    pub fn judged(&self) -> Vec<(&Found, bool)> {
        let mut seen: Vec<&str> = Vec::new();
        let mut judged = Vec::new();
        for found in &self.found {
            let code = found.code.as_str();
            let right = self.is_true(code);
            let neutral = !right && (!found.asserts() || self.also.iter().any(|c| c == code));
            if !neutral && !seen.contains(&code) {
                seen.push(code);
                judged.push((found, right));
            }
        }
        judged
    }

    /// Whether something was found that is not there, though it would have been silence's turn.
    pub fn is_false_alarm(&self) -> bool {
        let alarm = |f: &Found| {
            f.severity > Severity::Info && f.code != HEALTHY && !self.also.contains(&f.code)
        };
        self.is_healthy() && self.found.iter().any(alarm)
    }
}

impl Found {
    /// Whether it asserts anything: what is merely worth knowing asserts nothing wrong.
    pub fn asserts(&self) -> bool {
        self.severity > Severity::Info || self.code == HEALTHY
    }
}
