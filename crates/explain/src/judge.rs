//! Evaluation of all causes, and the order of the findings.

use std::{cmp::Reverse, collections::BTreeMap};

use analysis::view::View;
use model::{
    capacity::PathCapacity,
    findings::{CannotTell, FINDINGS_SCHEMA, Finding, Findings, Place, Remedy, RuledOut, Severity},
    net::Side,
    remedy::Location,
    run::Run,
    text,
    text::Text,
};

use crate::{
    brief, calibration,
    cause::{Cause, CauseCode, Need, On, Test},
    causes::registry,
    scope::{Scope, below_tunnel_bps},
    verdict::{Confirmed, Strength, Verdict, undecided},
};

/// Explains a Run.
pub fn judge(run: &Run) -> Findings {
    judge_with_strength(run).0
}

/// Explains a Run; also returns the strength of each finding before calibration.
pub fn judge_with_strength(run: &Run) -> (Findings, Vec<Strength>) {
    let mut findings = Findings {
        schema: FINDINGS_SCHEMA,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        run: run.id.clone(),
        layer: None,
        family: None,
        capacity: PathCapacity::default(),
        summary: text!("No valid samples, so no conclusion is possible."),
        findings: Vec::new(),
        ruled_out: Vec::new(),
        cannot_tell: Vec::new(),
    };
    let Some(view) = View::new(run) else {
        return (findings, Vec::new());
    };
    findings.layer = Some(view.layer);
    findings.family = Some(view.family);
    findings.capacity = PathCapacity::of(|way| below_tunnel_bps(view.direction(way)));
    let answers: Vec<Answer> = registry().iter().flat_map(|c| evaluate(c, &view)).collect();
    let mut held = Vec::new();
    for answer in in_one_list(resolve(answers)) {
        let (code, place) = (answer.cause.code.clone(), answer.place);
        match answer.verdict {
            Verdict::Confirmed(holds) => held.push((answer.cause, place, *holds)),
            Verdict::RuledOut { why } => findings.ruled_out.push(RuledOut { code, place, why }),
            Verdict::Undecided { because, settle } => {
                findings.cannot_tell.push(CannotTell {
                    code,
                    place,
                    because,
                    settle,
                });
            }
        }
    }
    let healthy = held
        .iter()
        .find(|(cause, ..)| cause.code == CauseCode::HEALTHY)
        .map(|(_, _, holds)| holds.text.clone());
    let strengths;
    (findings.findings, strengths) = in_order(held, view).into_iter().unzip();
    let open = crate::next::measurement(&findings.cannot_tell).map(|(settle, _)| settle);
    findings.summary = crate::summary::of(&findings.findings, healthy, open, &view);
    (findings, strengths)
}

/// Verdict of one cause for one place.
struct Answer {
    cause: &'static Cause,
    place: Place,
    verdict: Verdict,
}

/// Evaluates one cause in each of its places.
fn evaluate(cause: &'static Cause, view: &View) -> Vec<Answer> {
    let answer = |place, verdict| Answer {
        cause,
        place,
        verdict,
    };
    if cause.needs.contains(&Need::Third) && view.third().is_none() {
        return Vec::new();
    }
    let lacks = |need: Option<&Need>| need.map(|n| undecided(n.missing(), n.settle()));
    match cause.test {
        Test::Direction(test) => {
            let of = |dir: &analysis::view::DirectionView| {
                let place = Place {
                    direction: Some(dir.direction),
                    end: None,
                };
                let missing = lacks(cause.needs.iter().find(|n| !n.met(dir)));
                let judged = || brief::corrected(cause, dir, test(dir));
                answer(place, missing.unwrap_or_else(judged))
            };
            view.directions().iter().map(of).collect()
        }
        Test::Host(test) => {
            let of = |side: Side| {
                let place = Place {
                    direction: None,
                    end: Some(side),
                };
                let missing = lacks(cause.needs.iter().find(|n| !n.met_by(view)));
                answer(place, missing.unwrap_or_else(|| test(&view.host(side))))
            };
            [Side::Near, Side::Far].map(of).into()
        }
        Test::Path(test) => {
            let missing = lacks(cause.needs.iter().find(|n| !n.met_by(view)));
            let verdict = missing.unwrap_or_else(|| test(view));
            vec![answer(Place::default(), verdict)]
        }
    }
}

/// Returns true if two places may concern the same traffic.
fn overlap(a: Place, b: Place) -> bool {
    match (a.direction, b.direction) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}

/// Resolves masked and dependent causes.
fn resolve(mut answers: Vec<Answer>) -> Vec<Answer> {
    for at in 0..answers.len() {
        let this = &answers[at];
        let Verdict::Confirmed(holds) = &this.verdict else {
            continue;
        };
        let place = this.place;
        let beside = |codes: &[CauseCode]| {
            let found = answers.iter().find(|a| {
                matches!(a.verdict, Verdict::Confirmed(_))
                    && codes.contains(&a.cause.code)
                    && overlap(a.place, place)
            });
            found.map(|a| a.cause)
        };
        let cause = this.cause;
        if let Some(masker) = beside(cause.masked_by).or_else(|| beside(holds.masked_by)) {
            answers[at].verdict = undecided(
                text!(
                    "another cause of the same symptoms was found: {cause}",
                    cause = Text::fixed(masker.title)
                ),
                text!(
                    "the same plan after this is fixed: {cause}",
                    cause = Text::fixed(masker.title)
                ),
            );
        } else if beside(cause.depends_on).is_none()
            && let Some(causes) = titles(cause.depends_on)
        {
            answers[at].verdict = Verdict::RuledOut {
                why: text!("none of these was found there: {causes}", causes = causes),
            };
        }
    }
    let limits = |a: &Answer| match &a.verdict {
        Verdict::Confirmed(holds) => severity(a.cause, holds) > Severity::Info,
        _ => false,
    };
    if answers.iter().any(limits) {
        for answer in &mut answers {
            if answer.cause.code == CauseCode::HEALTHY
                && matches!(answer.verdict, Verdict::Confirmed(_))
            {
                answer.verdict = Verdict::RuledOut {
                    why: text!("something limits it"),
                };
            }
        }
    }
    answers
}

/// Titles of causes as one text; `None` without any.
fn titles(codes: &[CauseCode]) -> Option<Text> {
    let title = |code: &CauseCode| registry().iter().find(|cause| cause.code == *code);
    let titles = codes.iter().filter_map(title);
    let titles = titles.map(|cause| Text::fixed(cause.title));
    titles.reduce(|one, more| text!("{one}; {more}", one = one, more = more))
}

/// Leaves each cause in one list only: a cause confirmed somewhere is neither ruled out nor open
/// elsewhere, and one open somewhere is not ruled out.
fn in_one_list(mut answers: Vec<Answer>) -> Vec<Answer> {
    let level = |verdict: &Verdict| match verdict {
        Verdict::Confirmed(_) => 2,
        Verdict::Undecided { .. } => 1,
        Verdict::RuledOut { .. } => 0,
    };
    let mut highest: BTreeMap<&CauseCode, u8> = BTreeMap::new();
    for answer in &answers {
        let most = highest.entry(&answer.cause.code).or_default();
        *most = (*most).max(level(&answer.verdict));
    }
    answers.retain(|a| highest.get(&a.cause.code) == Some(&level(&a.verdict)));
    answers
}

fn severity(cause: &Cause, holds: &Confirmed) -> Severity {
    holds.severity.unwrap_or(cause.severity)
}

/// Confidence below which a finding is in doubt.
const DOUBT: f64 = 0.9;

/// Orders findings by severity, those in doubt after the others, then by the registry, in which
/// causes that can imitate others come first.
fn in_order(held: Vec<(&'static Cause, Place, Confirmed)>, view: View) -> Vec<(Finding, Strength)> {
    let mut findings: Vec<(Finding, Strength)> = held
        .into_iter()
        .map(|(cause, place, holds)| {
            let strength = holds.strength;
            (finding(cause, place, holds, view), strength)
        })
        .collect();
    // "Healthy" comes first if all others are only informational.
    let doubtful = |f: &Finding| f.confidence < DOUBT;
    let is_problem = |f: &Finding| f.code != CauseCode::HEALTHY;
    findings.sort_by_key(|(f, _)| (Reverse(f.severity), is_problem(f), doubtful(f)));
    for at in 1..findings.len() {
        let (above, below) = findings.split_at_mut(at);
        let (this, _) = &mut below[0];
        this.after = repaired_before(this, above.iter().map(|(finding, _)| finding));
    }
    findings
}

/// Codes of the findings listed above another one that call for a repair and may explain it.
fn repaired_before<'a>(this: &Finding, above: impl Iterator<Item = &'a Finding>) -> Vec<CauseCode> {
    let explains = |f: &&Finding| {
        f.severity > Severity::Info
            && f.code != this.code
            && overlap(f.place, this.place)
            && rank(&f.code) < rank(&this.code)
    };
    let mut codes = Vec::new();
    for finding in above.filter(explains) {
        // One cause may be found in both directions, with others between.
        if !codes.contains(&finding.code) {
            codes.push(finding.code.clone());
        }
    }
    codes
}

fn finding(cause: &Cause, place: Place, holds: Confirmed, view: View) -> Finding {
    let on = match cause.remedy.on {
        On::Sender => place.direction.map(Side::sends),
        On::Receiver => place.direction.map(Side::receives),
        On::Here => place.end,
        On::Router | On::Elsewhere => None,
    };
    let end = place.end.or(match cause.remedy.on {
        On::Sender | On::Receiver => on,
        On::Here | On::Router | On::Elsewhere => None,
    });
    Finding {
        code: cause.code.clone(),
        title: Text::fixed(cause.title),
        severity: severity(cause, &holds),
        confidence: calibration::confidence(&cause.code, holds.strength),
        place: Place { end, ..place },
        text: holds.text,
        evidence: holds.evidence,
        remedies: remedies(cause, on, &Scope::of(view, place)),
        after: Vec::new(),
        settle: holds.settle,
    }
}

/// The remedies of a cause for one place.
fn remedies(cause: &Cause, on: Option<Side>, scope: &Scope) -> Vec<Remedy> {
    let usual = match (on, cause.remedy.on) {
        (Some(side), _) => side.into(),
        (None, On::Router) => Location::Router,
        (None, _) => Location::Elsewhere,
    };
    let actions = (cause.remedy.actions)(scope).into_iter();
    actions
        .map(|action| {
            let on = match cause.remedy.host_of(&action) {
                On::Router => Location::Router,
                On::Elsewhere => Location::Elsewhere,
                On::Sender | On::Receiver | On::Here => usual,
            };
            Remedy::new(action, on, Text::fixed(cause.remedy.why))
        })
        .collect()
}

/// Place of a cause in the registry.
fn rank(code: &CauseCode) -> usize {
    registry()
        .iter()
        .position(|c| c.code == *code)
        .unwrap_or(usize::MAX)
}
