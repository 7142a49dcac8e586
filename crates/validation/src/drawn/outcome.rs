//! Result of a scenario: its truth and the findings, as one line.

mod advice;
mod calls;

use std::collections::BTreeSet;

use explain::{judge_with_strength, verdict::Strength};
use model::{
    cause::CauseCode,
    findings::{Place, Severity},
    net::{Direction, Side},
    run::Run,
};
use serde::{Deserialize, Serialize};

use super::{
    Drawn,
    advised::Bbr,
    fault::Fault,
    truth::{self, Allowed, Cause, FULL, Truth},
};

/// A scenario, its truth and its findings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Number of the draw.
    pub draw: u32,
    /// Index in the draw.
    pub index: u32,
    /// Name of the plan that was measured.
    pub plan: String,
    /// Rate down and up, Mbit/s.
    pub rate_mbps: [f64; 2],
    /// Two-way propagation delay, ms.
    pub rtt_ms: f64,
    /// True if the path has a tunnel.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tunnel: bool,
    /// True causes.
    pub causes: Vec<Cause>,
    /// Codes that are allowed in addition.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub also: BTreeSet<CauseCode>,
    /// Codes that are allowed in some directions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<Allowed>,
    /// Share of goodput that the removal of all faults recovers.
    pub recovers: f64,
    /// Findings in order.
    pub found: Vec<FoundCause>,
    /// Its judgement.
    pub judged: Judged,
    /// Effect of BBR in each direction; empty if not measured, as where it is not advised.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bbr: Vec<Bbr>,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundCause {
    /// Code of the cause.
    pub code: CauseCode,
    /// Place.
    #[serde(flatten)]
    pub place: Place,
    /// Severity.
    pub severity: Severity,
    /// Stated confidence.
    pub confidence: f64,
    /// Strength of the evidence, of which the confidence was made.
    pub strength: Strength,
    /// Whether its first remedy is another congestion control, where that does not follow from the
    /// cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<bool>,
}

/// Judgement of a scenario by its first finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judged {
    /// A true cause in the right direction; or nothing or CauseCode::HEALTHY on a healthy path.
    Right,
    /// A true cause in the wrong direction.
    WrongDirection,
    /// No finding although a rule could name the fault.
    Silent,
    /// "Healthy" on a path with a fault.
    CalledHealthy,
    /// A cause that is not among the true ones.
    WrongCause,
    /// A problem on a healthy path.
    FalseAlarm,
}

impl Judged {
    /// Description for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::WrongDirection => "right cause, wrong direction",
            Self::Silent => "silent",
            Self::CalledHealthy => "called healthy",
            Self::WrongCause => "wrong cause",
            Self::FalseAlarm => "false alarm",
        }
    }
}

impl Outcome {
    /// Explains the Run of a scenario.
    pub fn of(drawn: &Drawn, truth: &Truth, plan: &str, run: &Run) -> Self {
        let (findings, strengths) = judge_with_strength(run);
        let answers = findings.findings.into_iter().zip(strengths);
        let found = answers.map(|(finding, strength)| FoundCause {
            congestion_control: calls::here(&finding),
            code: finding.code,
            place: finding.place,
            severity: finding.severity,
            confidence: finding.confidence,
            strength,
        });
        let path = &drawn.cell.path;
        let mbps = |d: Direction| path.line(d).rate.map_or(0.0, model::units::Rate::mbps);
        let outcome = Self {
            draw: drawn.draw,
            index: drawn.index,
            plan: plan.to_owned(),
            rate_mbps: [Direction::Down, Direction::Up].map(mbps),
            rtt_ms: path.rtt().as_secs_f64() * 1e3,
            tunnel: drawn.cell.tunnel.is_some(),
            causes: truth.causes.clone(),
            also: truth.also.clone(),
            allowed: truth.allowed.clone(),
            recovers: truth.recovers,
            found: found.collect(),
            judged: Judged::Right,
            bbr: Vec::new(),
        };
        Self {
            judged: outcome.judge(),
            ..outcome
        }
    }

    /// Returns true if it is of a scenario.
    pub fn is_of(&self, drawn: &Drawn) -> bool {
        (self.draw, self.index) == (drawn.draw, drawn.index)
    }

    /// The truth that it was judged by, without the effects from which it was derived.
    pub fn truth(&self) -> Truth {
        Truth {
            causes: self.causes.clone(),
            also: self.also.clone(),
            allowed: self.allowed.clone(),
            recovers: self.recovers,
            effects: Vec::new(),
        }
    }

    /// Name of the scenario.
    pub fn name(&self) -> String {
        format!("drawn-{}-{:05}", self.draw, self.index)
    }

    /// Returns true if there is no fault.
    pub fn is_healthy(&self) -> bool {
        self.causes.is_empty()
    }

    /// The first asserting finding that is not merely allowed.
    pub fn first(&self) -> Option<&FoundCause> {
        let mut found = self.found.iter();
        found.find(|s| s.asserts() && !self.allows(s))
    }

    /// Returns true if a finding is neither right nor wrong.
    fn allows(&self, found: &FoundCause) -> bool {
        let direction = found.direction();
        let here = || truth::allows(&self.causes, &self.allowed, &found.code, direction);
        self.also.contains(&found.code) || here()
    }

    /// Returns true if a rule has a name for any of the causes.
    pub fn has_name(&self) -> bool {
        self.causes.iter().any(|c| !c.codes.is_empty())
    }

    /// Returns true if a code is right: one of a true cause, or CauseCode::HEALTHY where that is
    /// allowed.
    pub fn is_true(&self, code: &CauseCode) -> bool {
        match *code == CauseCode::HEALTHY {
            true => self.may_be_healthy(),
            false => self.with(code).next().is_some(),
        }
    }

    /// Returns true if the first finding names the cause with the largest weight.
    pub fn names_the_largest(&self) -> bool {
        let first = self.first().map(|s| &s.code);
        let largest = self.causes.first();
        largest.is_some_and(|c| first.is_some_and(|code| c.codes.contains(code)))
    }

    /// A path counts as full from 85 % of its goodput, so up to there neither "healthy" nor saying
    /// nothing is wrong, except with delay under load or a tunnel MTU that does not fit.
    fn may_be_healthy(&self) -> bool {
        let only_goodput = |c: &Cause| !c.fault.is_of_latency() && c.fault != Fault::TunnelMtu;
        self.causes.iter().all(only_goodput) && (self.is_healthy() || self.recovers < FULL)
    }

    /// The causes with a code.
    fn with<'a>(&'a self, code: &'a CauseCode) -> impl Iterator<Item = &'a Cause> {
        let has = move |c: &&Cause| c.codes.contains(code);
        self.causes.iter().filter(has)
    }

    fn judge(&self) -> Judged {
        if self.is_false_alarm() {
            return Judged::FalseAlarm;
        }
        let Some(first) = self.first() else {
            return match self.has_name() && !self.may_be_healthy() {
                true => Judged::Silent,
                false => Judged::Right,
            };
        };
        match self.is_true(&first.code) {
            true if self.is_misplaced(first) => Judged::WrongDirection,
            true => Judged::Right,
            false if first.code == CauseCode::HEALTHY => Judged::CalledHealthy,
            false => Judged::WrongCause,
        }
    }

    /// Returns true if a problem is reported on a healthy path.
    fn is_false_alarm(&self) -> bool {
        let alarm = |s: &FoundCause| s.asserts() && s.code != CauseCode::HEALTHY && !self.allows(s);
        self.is_healthy() && self.found.iter().any(alarm)
    }

    /// Returns true if a true cause is placed in the wrong direction.
    pub fn is_misplaced(&self, answers: &FoundCause) -> bool {
        let Some(direction) = answers.direction() else {
            return false;
        };
        let mut causes = self.with(&answers.code).peekable();
        let placed = |c: &Cause| c.directions.is_empty() || c.directions.contains(&direction);
        causes.peek().is_some() && !causes.any(placed)
    }

    /// Each asserted code, with flags for a true cause and for the right direction; without allowed
    /// codes.
    pub fn asserted(&self) -> Vec<(&FoundCause, bool)> {
        let mut seen = BTreeSet::new();
        let asserted = self
            .found
            .iter()
            .filter(|s| s.asserts() && !self.allows(s) && seen.insert(&s.code));
        let right = |s: &FoundCause| self.is_true(&s.code) && !self.is_misplaced(s);
        asserted.map(|s| (s, right(s))).collect()
    }
}

impl FoundCause {
    /// Returns true if it asserts a problem, or that there is none; informational findings do not.
    pub fn asserts(&self) -> bool {
        self.severity > Severity::Info || self.code == CauseCode::HEALTHY
    }

    /// The direction it concerns, if any. A queue of a host belongs to the direction in which it
    /// sends.
    fn direction(&self) -> Option<Direction> {
        const OF_SENDERS: [CauseCode; 3] = [
            CauseCode::LEFTOVER_SHAPER,
            CauseCode::BUFFERBLOAT_LOCAL,
            CauseCode::WRONG_QUEUE,
        ];
        let end = self.place.end.filter(|_| OF_SENDERS.contains(&self.code));
        self.place.direction.or(end.map(|side| match side {
            Side::Near => Direction::Up,
            Side::Far => Direction::Down,
        }))
    }
}

#[cfg(test)]
pub(super) mod tests;
