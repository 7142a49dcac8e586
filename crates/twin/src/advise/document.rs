//! The Advice document, made from the results of a trial.

use model::{
    advice::{
        ADVICE_SCHEMA, Advice, Change, Effect, Goal, NotTried, Origin, Outcome, Tried, Unchanged,
        guards::{self, GAIN},
    },
    capacity::PathCapacity,
    remedy::{Action, Location, Remedy},
    text,
    text::{Text, Value},
    twin::{Twin, TwinVerdict},
};

use super::{
    because::{Context, no_part, nothing, parts},
    bounds::broken,
    field::Field,
    judge::{Worth, by_member, medians},
    objective::Objective,
    predicted::changes,
    recipe::{Candidate, capacity_bps},
};

/// All that a trial ended with.
pub(super) struct Ended<'a> {
    pub(super) twin: &'a Twin,
    pub(super) objective: &'a Objective,
    pub(super) program: &'a str,
    pub(super) field: &'a Field<'a>,
    /// The arms that were tried to the end.
    pub(super) finalists: &'a [usize],
    /// Arms whose harm to others is known.
    pub(super) checked: &'a [usize],
    pub(super) harm: &'a [(usize, Change)],
    pub(super) same: &'a [Candidate],
    pub(super) not_tried: &'a [NotTried],
}

pub(super) fn advice(ended: &Ended<'_>) -> Advice {
    let field = ended.field;
    let before = medians(field.unchanged().iter().map(|s| s.outcomes.as_slice()));
    let regrets = regrets(ended);
    let mut tried: Vec<(bool, Tried)> = (0..field.arms.len())
        .filter_map(|arm| {
            let checked = ended.checked.contains(&arm);
            Some((checked, one(ended, arm, &before, &regrets)?))
        })
        .collect();
    costs_of_parts(&mut tried);
    tried.extend(ended.same.iter().map(|c| (false, already(c))));
    let rank = |t: &Tried| match t.effect {
        Effect::Helps => 0,
        Effect::HelpsAtACost => 1,
        Effect::Unsure => 2,
        Effect::Nothing => 3,
        Effect::Harms => 4,
    };
    tried.sort_by(|(_, a), (_, b)| {
        let by_regret = match a.effect {
            Effect::Helps => a.regret.total_cmp(&b.regret),
            _ => b.worth.total_cmp(&a.worth),
        };
        rank(a).cmp(&rank(b)).then(by_regret)
    });
    let trusted = ended.twin.verdict != TwinVerdict::DoesNotFit;
    let advised = tried
        .iter()
        .position(|(checked, t)| trusted && *checked && t.effect == Effect::Helps);
    let tried: Vec<Tried> = tried.into_iter().map(|(_, t)| t).collect();
    let unchanged = field.unchanged();
    Advice {
        schema: ADVICE_SCHEMA,
        program: ended.program.to_owned(),
        run: ended.twin.run.clone(),
        twin: ended.twin.verdict,
        goal: ended.objective.goal,
        keep: ended.objective.keep.clone(),
        text: answer(ended, &tried, advised, &before),
        advised,
        settle: settle(ended, &tried, advised),
        capacity: PathCapacity::of(|way| capacity_bps(&ended.twin.path, way)),
        unchanged: Unchanged {
            outcomes: before,
            runs: unchanged.iter().map(|s| s.name.clone()).collect(),
        },
        tried,
        not_tried: ended.not_tried.to_vec(),
        notes: notes(ended),
        runs: field.runs,
        failed: field.failed,
    }
}

/// For each arm the largest shortfall of any member from its best arm; of the finalists.
fn regrets(ended: &Ended<'_>) -> Vec<(usize, f64)> {
    let members = ended.field.members.len();
    let worths = |arm: usize| by_member(&ended.field.pairs(arm), members, ended.objective.goal);
    let all: Vec<(usize, Vec<Option<f64>>)> = ended
        .finalists
        .iter()
        .map(|arm| (*arm, worths(*arm)))
        .collect();
    // No change has the value 0 on every member.
    let best = |member: usize| {
        let of = all
            .iter()
            .filter_map(|(_, worths)| worths.get(member).copied().flatten());
        of.fold(0.0, f64::max)
    };
    let regret = |worths: &[Option<f64>]| {
        let each = worths.iter().enumerate();
        let short = each.filter_map(|(member, worth)| Some(best(member) - (*worth)?));
        short.fold(0.0, f64::max)
    };
    all.iter()
        .map(|(arm, worths)| (*arm, regret(worths)))
        .collect()
}

fn one(
    ended: &Ended<'_>,
    arm: usize,
    before: &[Outcome],
    regrets: &[(usize, f64)],
) -> Option<Tried> {
    let field = ended.field;
    let pairs = field.pairs(arm);
    let worth = Worth::of(&pairs, ended.objective.goal)?;
    let candidate = &field.arms[arm].candidate;
    let outcomes = medians(pairs.iter().map(|p| p.after));
    let own_before = medians(pairs.iter().map(|p| p.before));
    let harm = ended.harm.iter().filter(|(of, _)| *of == arm);
    let competitor: Vec<Change> = harm.map(|(_, change)| *change).collect();
    let mut effect = worth.effect(field.arms.len());
    let mut texts = Vec::new();
    if effect == Effect::Helps {
        texts = broken(&own_before, &outcomes, &competitor, &ended.objective.keep);
        if !texts.is_empty() {
            effect = Effect::HelpsAtACost;
        }
    }
    let context = Context {
        path: &field.members[0],
        unchanged: before,
    };
    match (effect, candidate.remedies.as_slice()) {
        (Effect::Nothing, [remedy]) => texts.extend(nothing(remedy, &context)),
        (_, [_, _, ..]) if candidate.origin == Origin::Recipe => {
            match parts(worth.mean, &part_worths(ended, arm)) {
                Some(part) => texts.push(part),
                None => texts.extend(no_part(&candidate.remedies, &context)),
            }
        }
        _ => {}
    }
    let regret = regrets.iter().find(|(of, _)| *of == arm).map(|(_, r)| *r);
    Some(Tried {
        name: candidate.name.clone(),
        origin: candidate.origin,
        remedies: candidate.remedies.clone(),
        effect,
        texts,
        outcomes,
        changes: changes(&pairs, ended.twin),
        worth: round(worth.median),
        regret: round(regret.unwrap_or_else(|| (-worth.mean).max(0.0))),
        competitor,
        pairs: pairs.len(),
        runs: field.names(arm),
    })
}

/// Returns the value of each part of a recipe alone, with its name.
fn part_worths(ended: &Ended<'_>, whole: usize) -> Vec<(Text, f64)> {
    let of = &ended.field.arms[whole].candidate.remedies;
    let part = |arm: usize| {
        let candidate = &ended.field.arms[arm].candidate;
        let inside = are_in(&candidate.remedies, of);
        let smaller = candidate.remedies.len() < of.len();
        let worth = Worth::of(&ended.field.pairs(arm), ended.objective.goal)?;
        (inside && smaller).then(|| (candidate.name.clone(), worth.mean))
    };
    (0..ended.field.arms.len()).filter_map(part).collect()
}

/// A recipe costs others what a congestion control in it does: both are measured a few times, and
/// chance may put one of them on each side of the bound.
fn costs_of_parts(tried: &mut [(bool, Tried)]) {
    let starve = |t: &Tried| t.competitor.iter().any(|c| guards::starves(c.ratio));
    let costly: Vec<Tried> = tried
        .iter()
        .map(|(_, t)| t)
        .filter(|t| t.remedies.len() == 1 && starve(t))
        .cloned()
        .collect();
    for (_, whole) in tried.iter_mut().filter(|(_, t)| t.effect == Effect::Helps) {
        let part = costly
            .iter()
            .find(|part| are_in(&part.remedies, &whole.remedies));
        if let Some(part) = part.filter(|_| whole.origin == Origin::Recipe) {
            whole.effect = Effect::HelpsAtACost;
            whole.texts.splice(0..0, part.texts.clone());
        }
    }
}

/// True if all remedies of a part are in a whole.
fn are_in(part: &[Remedy], whole: &[Remedy]) -> bool {
    part.iter().all(|r| {
        whole
            .iter()
            .any(|o| o.on == r.on && acts_alike(&o.action, &r.action))
    })
}

/// True if two actions do the same to the flows of a path: the scope of a congestion control is for
/// the other flows of its host.
fn acts_alike(a: &Action, b: &Action) -> bool {
    let cc = |action: &Action| match action {
        Action::CongestionControl { cc, .. } => Some(cc.clone()),
        _ => None,
    };
    a == b || cc(a).is_some_and(|name| cc(b) == Some(name))
}

/// Returns a remedy that the path has already.
fn already(candidate: &Candidate) -> Tried {
    Tried {
        name: candidate.name.clone(),
        origin: candidate.origin,
        remedies: candidate.remedies.clone(),
        effect: Effect::Nothing,
        texts: vec![text!("the path has it already")],
        outcomes: Vec::new(),
        changes: Vec::new(),
        worth: 0.0,
        regret: 0.0,
        competitor: Vec::new(),
        pairs: 0,
        runs: Vec::new(),
    }
}

/// The answer in one sentence.
fn answer(ended: &Ended<'_>, tried: &[Tried], advised: Option<usize>, before: &[Outcome]) -> Text {
    if ended.twin.verdict == TwinVerdict::DoesNotFit {
        return text!(
            "no remedy is advised: the twin does not fit; the effects of the remedies on it are below"
        );
    }
    let Some(best) = advised.and_then(|place| tried.get(place)) else {
        let at_a_cost = tried.iter().find(|t| t.effect == Effect::HelpsAtACost);
        let n = Value::Count(tried.len() as f64);
        return match at_a_cost {
            None => text!("change nothing: of {n} remedies tried, none helps", n = n),
            Some(cost) => text!(
                "change nothing: of {n} remedies tried, none helps without harm; {name} would, at a cost: {cost}",
                n = n,
                name = cost.name.clone(),
                cost = cost
                    .texts
                    .first()
                    .cloned()
                    .unwrap_or_else(|| Text::plain(""))
            ),
        };
    };
    let numbers = ended.twin.verdict != TwinVerdict::OrderOnly;
    let on = best.remedies.first().map_or(Location::Elsewhere, |r| r.on);
    let name = best.name.clone();
    match (numbers, gains(best, before)) {
        (true, Some([goodput_before, goodput, rtt_before, rtt])) => text!(
            "{name} on the {on}: goodput {goodput} instead of {goodput_before}, loaded RTT {rtt} instead of {rtt_before}",
            name = name,
            on = on,
            goodput = Value::Bps(goodput),
            goodput_before = Value::Bps(goodput_before),
            rtt = Value::Us(rtt),
            rtt_before = Value::Us(rtt_before)
        ),
        _ => text!(
            "{name} on the {on} is the best candidate; this twin cannot predict by how much",
            name = name,
            on = on
        ),
    }
}

/// Goodput before and after, loaded RTT before and after, of the direction that gains most.
fn gains(best: &Tried, before: &[Outcome]) -> Option<[f64; 4]> {
    let both = before.iter().zip(&best.outcomes);
    let gain = |(a, b): &(&Outcome, &Outcome)| {
        (b.goodput_bps / a.goodput_bps.max(1.0))
            .max(1e-9)
            .ln()
            .abs()
            + (a.rtt_p50_us / b.rtt_p50_us.max(1.0)).max(1e-9).ln().abs()
    };
    let (a, b) = both.max_by(|a, b| gain(a).total_cmp(&gain(b)))?;
    Some([a.goodput_bps, b.goodput_bps, a.rtt_p50_us, b.rtt_p50_us])
}

/// The measurement that would decide: where members disagree on the best arm, or nothing fits.
fn settle(ended: &Ended<'_>, tried: &[Tried], advised: Option<usize>) -> Option<Text> {
    let best = advised.and_then(|place| tried.get(place));
    let disagree = best.is_some_and(|b| b.regret > GAIN);
    let unsure = best.is_none() && tried.iter().any(|t| t.effect == Effect::Unsure);
    if !(disagree || unsure) {
        return ended.twin.settle.clone();
    }
    let undecided = ended.twin.undecided.first().map(|u| u.settle.clone());
    undecided.or_else(|| ended.twin.settle.clone()).or_else(|| {
        Some(text!(
            "more repeats of the measurement (`pathtwin measure --thorough`), or more time for the trial (`--budget-time 10m`)"
        ))
    })
}

fn notes(ended: &Ended<'_>) -> Vec<Text> {
    let mut all = ended.twin.notes.clone();
    if ended.twin.verdict == TwinVerdict::Untested {
        all.push(text!(
            "the twin is untested: the accuracy of its predictions is unknown, so the intervals are wide"
        ));
    }
    if ended.objective.goal == Goal::Latency {
        all.push(text!(
            "the loaded RTT is that of a probe beside the load, which flow isolation spares"
        ));
    }
    all
}

fn round(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
