//! How findings fare against what is true.

use std::collections::BTreeMap;

use model::findings::{Finding, Findings, RemedyClass, Severity};
use serde::Serialize;

use super::Scenario;
use crate::{causes::HEALTHY, registry};

/// A scenario, and what was found in its Run.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The scenario.
    pub scenario: Scenario,
    /// What was found.
    pub findings: Findings,
}

/// Counts over many scenarios.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Score {
    /// Scenarios.
    pub scenarios: usize,
    /// Those of them that no rule was made with.
    pub held_out: usize,
    /// Those whose first finding is a true cause.
    pub top_right: usize,
    /// The same among those held out.
    pub top_right_held_out: usize,
    /// Scenarios in which nothing is wrong.
    pub healthy: usize,
    /// Those of them in which something was found all the same.
    pub false_alarms: usize,
    /// Scenarios with several causes.
    pub pairs: usize,
    /// Those of them whose causes were all found.
    pub pairs_named: usize,
    /// Scenarios whose first remedy is another congestion control though no true cause calls for it.
    pub wrong_congestion_control: Vec<String>,
    /// First true cause, first finding, count.
    pub confusion: BTreeMap<String, BTreeMap<String, usize>>,
    /// By cause.
    pub causes: BTreeMap<String, Counts>,
    /// By confidence in percent: findings, and those of them that are right.
    pub calibration: BTreeMap<u32, [usize; 2]>,
    /// Scenarios whose first finding is wrong: name, truth, found.
    pub wrong: Vec<[String; 3]>,
}

/// Counts of one cause.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Counts {
    /// Scenarios in which it is a true cause.
    pub there: usize,
    /// Those of them in which it was found.
    pub found: usize,
    /// Findings of it in scenarios in which it is not.
    pub wrongly: usize,
}

impl Counts {
    /// Share of the findings that are right; `None` without any.
    pub fn precision(&self) -> Option<f64> {
        let all = self.found + self.wrongly;
        (all > 0).then(|| self.found as f64 / all as f64)
    }

    /// Share of the scenarios with it in which it was found; `None` without any.
    pub fn recall(&self) -> Option<f64> {
        (self.there > 0).then(|| self.found as f64 / self.there as f64)
    }
}

/// Counts how findings fare.
pub fn score(all: &[Judged]) -> Score {
    let mut score = Score::default();
    for judged in all {
        score.add(judged);
    }
    score
}

/// What a finding asserts: those that are merely worth knowing assert nothing wrong.
fn asserts(finding: &Finding) -> bool {
    finding.severity > Severity::Info || finding.code == HEALTHY
}

impl Score {
    fn add(&mut self, judged: &Judged) {
        let Judged { scenario, findings } = judged;
        let healthy = scenario.is_healthy();
        let truth: Vec<&str> = match healthy {
            true => vec![HEALTHY],
            false => scenario.cause.iter().map(String::as_str).collect(),
        };
        let first = findings.findings.first().filter(|f| asserts(f));
        let top = first.map_or("none", |f| f.code.as_str());
        let right = truth.contains(&top);
        self.scenarios += 1;
        self.held_out += usize::from(scenario.held_out());
        self.top_right += usize::from(right);
        self.top_right_held_out += usize::from(right && scenario.held_out());
        if !right {
            self.wrong
                .push([scenario.name.clone(), truth.join(" + "), top.to_owned()]);
        }
        let alarm = findings.findings.iter().any(|f| {
            f.severity > Severity::Info && f.code != HEALTHY && !scenario.also.contains(&f.code)
        });
        self.healthy += usize::from(healthy);
        self.false_alarms += usize::from(healthy && alarm);
        let codes: Vec<&str> = findings.findings.iter().map(|f| f.code.as_str()).collect();
        self.pairs += usize::from(truth.len() > 1);
        let named = truth.iter().all(|c| codes.contains(c));
        self.pairs_named += usize::from(truth.len() > 1 && named);
        let row = self.confusion.entry(truth[0].to_owned()).or_default();
        *row.entry(top.to_owned()).or_default() += 1;
        self.congestion_control(scenario, first, &truth);
        self.by_cause(scenario, findings, &truth);
    }

    fn congestion_control(&mut self, scenario: &Scenario, first: Option<&Finding>, truth: &[&str]) {
        let class = |code: &&&str| {
            let cause = registry().iter().find(|c| c.code == **code);
            cause.is_some_and(|c| c.remedy.class == RemedyClass::CongestionControl)
        };
        let advised = first.is_some_and(|f| f.remedy.class == RemedyClass::CongestionControl);
        if advised && !truth.iter().any(|code| class(&code)) {
            self.wrong_congestion_control.push(scenario.name.clone());
        }
    }

    fn by_cause(&mut self, scenario: &Scenario, findings: &Findings, truth: &[&str]) {
        let mut seen: Vec<&str> = Vec::new();
        for finding in &findings.findings {
            let code = finding.code.as_str();
            let right = truth.contains(&code);
            let neutral = !right && (!asserts(finding) || scenario.also.iter().any(|c| c == code));
            if seen.contains(&code) || neutral {
                continue;
            }
            seen.push(code);
            let percent = (finding.confidence * 100.0).round() as u32;
            let bin = self.calibration.entry(percent).or_default();
            bin[0] += 1;
            bin[1] += usize::from(right);
            let counts = self.causes.entry(code.to_owned()).or_default();
            if right {
                counts.found += 1;
            } else {
                counts.wrongly += 1;
            }
        }
        for code in truth {
            self.causes.entry((*code).to_owned()).or_default().there += 1;
        }
    }
}
