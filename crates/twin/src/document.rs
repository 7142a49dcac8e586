//! Twin document from the results of a fit.

use std::collections::BTreeSet;

use model::{
    cause::CauseCode,
    cell::Queue,
    net::Direction,
    path::{NotModelled, Path, Source, StandIn},
    run::Run,
    text,
    text::{Text, Value},
    twin::{Effort, Fitted, Member, TWIN_SCHEMA, Twin, TwinSeries, TwinVerdict, Undecided},
};

use crate::{
    held_out::{errors, never_fitted, rotation},
    input::Input,
    moments::Moments,
    plan::not_in_lab,
    search::{Finalist, Found, Tried},
    spread::spread,
    statistics::{Fitness, Statistic, Target, fitness, is_of},
    unsteady::unsteady,
    verdict::{Judged, PLAUSIBLE, judge, steady},
};

/// Members at most.
const MAX_MEMBERS: usize = 9;

pub(crate) fn twin(fit: &Input<'_>, found: &Found, effort: Effort, program: &str) -> Twin {
    let findings = explain::judge(fit.run);
    let stand_ins = stand_ins(&findings, &fit.known);
    let finish = |path: Path| Path {
        stand_ins: stand_ins.clone(),
        ..path
    };
    let target = found.target(&fit.values);
    let ranked = ranked(fit, found, &target);
    let best = ranked.first();
    let repeated: Vec<&Tried> = found.members.iter().map(|m| &m.tried).collect();
    let mut held_out = rotation(fit, &target, &found.tried, &repeated);
    let judged = match best {
        None => untested(),
        Some((best, fitness)) => {
            held_out.extend(never_fitted(fit, &target, &best.tried.values));
            let judged = judge(fitness, &held_out, held_out.len());
            steady(judged, unsteady(fit, &target, &best.tried.values))
        }
    };
    let kept = plausible(&ranked);
    let path = match best {
        Some((best, _)) => finish(fit.path(&best.tried.candidate, Source::Fitted)),
        None => finish(fit.path_of_moments()),
    };
    let remedies = findings
        .findings
        .into_iter()
        .flat_map(|f| f.remedies)
        .collect();
    Twin {
        schema: TWIN_SCHEMA,
        program: program.to_owned(),
        run: fit.run.id.clone(),
        lab: fit.run.lab,
        layer: fit.known.layer,
        family: fit.known.family,
        verdict: judged.verdict,
        text: judged.text,
        settle: judged.settle,
        path,
        fitted: fitted(fit, &target, &ranked, &kept),
        errors: errors(&held_out),
        held_out,
        series: best.and_then(|(best, _)| series(fit, best)),
        undecided: undecided(&kept),
        members: members(fit, &kept, &finish),
        notes: notes(fit, &stand_ins),
        remedies,
        effort,
    }
}

type Ranked<'a> = (&'a Finalist, Fitness);

/// Returns the candidates measured with several seeds, by the figures of both directions: best
/// first of those that cannot be told from the Run's path, then of the others.
fn ranked<'a>(fit: &Input<'_>, found: &'a Found, target: &Target<'_>) -> Vec<Ranked<'a>> {
    let counts = |s: &Statistic| {
        [Direction::Down, Direction::Up]
            .iter()
            .any(|d| is_of(s, &fit.known, *d))
    };
    let of = |one: &'a Finalist| {
        let candidate = &one.tried.candidate;
        let unasked = [Direction::Down, Direction::Up].map(|d| candidate.unasked(&fit.known, d));
        let fitness = fitness(target, &one.tried.values, &counts);
        (one, fitness.with_parameters(unasked.iter().sum()))
    };
    let mut all: Vec<Ranked<'a>> = found.members.iter().map(of).collect();
    let is_other = |f: &Fitness| f.second >= PLAUSIBLE;
    all.sort_by(|(_, a), (_, b)| {
        let by_score = a.score.total_cmp(&b.score);
        is_other(a).cmp(&is_other(b)).then(by_score)
    });
    all
}

/// The candidates that cannot be told from the Run's path, best first.
fn plausible<'r, 'a>(ranked: &'r [Ranked<'a>]) -> Vec<&'r Ranked<'a>> {
    ranked
        .iter()
        .filter(|(_, f)| f.second < PLAUSIBLE)
        .take(MAX_MEMBERS)
        .collect()
}

fn members(fit: &Input<'_>, kept: &[&Ranked<'_>], finish: &dyn Fn(Path) -> Path) -> Vec<Member> {
    let least = kept
        .iter()
        .map(|(_, f)| f.sum)
        .fold(f64::INFINITY, f64::min);
    let likelihood = |f: &Fitness| (-0.5 * (f.sum - least)).exp();
    let total: f64 = kept.iter().map(|(_, f)| likelihood(f)).sum();
    let round = |v: f64| (v * 1e4).round() / 1e4;
    let member = |(one, fitness): &Ranked<'_>| Member {
        path: finish(fit.path(&one.tried.candidate, Source::Fitted)),
        weight: round(likelihood(fitness) / total.max(f64::MIN_POSITIVE)),
        implausibility: round(fitness.second),
        runs: one.names.clone(),
    };
    kept.iter().copied().map(member).collect()
}

/// The figures of the best path, with their spread over the `kept` paths.
fn fitted(
    fit: &Input<'_>,
    target: &Target<'_>,
    ranked: &[Ranked<'_>],
    kept: &[&Ranked<'_>],
) -> Vec<Fitted> {
    let Some(first @ (best, _)) = ranked.first() else {
        return Vec::new();
    };
    let shown = match kept {
        [] => &[first],
        kept => kept,
    };
    let everywhere = |statistic: &Statistic| -> Vec<f64> {
        let all = shown
            .iter()
            .filter_map(|(m, _)| m.tried.values.get(statistic));
        all.flatten().copied().collect()
    };
    let ours = fit.values.iter().filter(|(s, _)| {
        [Direction::Down, Direction::Up]
            .iter()
            .any(|d| is_of(s, &fit.known, *d))
    });
    ours.filter_map(|(statistic, measured)| {
        let own = best.tried.values.get(statistic)?;
        Some(Fitted {
            key: statistic.key.clone(),
            figure: statistic.figure,
            measured: stats::median(measured)?,
            n: measured.len(),
            twin: stats::median(own)?,
            spread: spread(fit.run, statistic, measured, &everywhere(statistic)),
            implausibility: target.distance(statistic, measured, own)?.implausibility,
        })
    })
    .collect()
}

/// The shown step in the Run and on the best path, if both have it.
fn series(fit: &Input<'_>, best: &Finalist) -> Option<TwinSeries> {
    Some(fit.shown.as_ref()?.beside(best.course.clone()?))
}

/// Nothing was run.
fn untested() -> Judged {
    Judged {
        verdict: TwinVerdict::Untested,
        text: text!(
            "untested: the path follows from the run by arithmetic, and nothing was run in the lab"
        ),
        settle: Some(text!("a budget of time (`--budget-time 3m`)")),
    }
}

/// Queues that members do not agree on.
fn undecided(kept: &[&Ranked<'_>]) -> Vec<Undecided> {
    let of = |direction| {
        let queues = kept
            .iter()
            .map(|(m, _)| m.tried.candidate.choice(direction).queue);
        let names: BTreeSet<String> = queues.map(|q: Queue| q.to_string()).collect();
        let names: Vec<String> = names.into_iter().collect();
        (names.len() > 1).then(|| Undecided {
            direction: Some(direction),
            what: text!(
                "the queue {direction} is one of {queues}",
                direction = direction,
                queues = names.join(", ")
            ),
            settle: text!(
                "TCP with 8 flows and a UDP sweep above the path's capacity: a plain queue fills to the same delay under both"
            ),
        })
    };
    [Direction::Down, Direction::Up]
        .into_iter()
        .filter_map(of)
        .collect()
}

/// Causes that a lab path cannot have, and their descriptions.
const NOT_MODELLED: [(CauseCode, NotModelled); 6] = [
    (CauseCode::CPU_CORE, NotModelled::Processor),
    (CauseCode::CPU_SOFTIRQ, NotModelled::Processor),
    (CauseCode::CPU_TUNNEL_THREAD, NotModelled::Processor),
    (CauseCode::USERSPACE_TCP_STACK, NotModelled::Processor),
    (CauseCode::RELAYED_PATH, NotModelled::Relay),
    (CauseCode::WIFI_HOP, NotModelled::Radio),
];

/// Returns the limits that the lab cannot copy, and their substitute: the rate of the line.
fn stand_ins(findings: &model::findings::Findings, known: &Moments) -> Vec<StandIn> {
    let mut all: Vec<StandIn> = Vec::new();
    for finding in &findings.findings {
        let Some((_, of)) = NOT_MODELLED.iter().find(|(code, _)| *code == finding.code) else {
            continue;
        };
        if all.iter().any(|s| s.of == *of) {
            continue;
        }
        let directions = match finding.place.direction {
            Some(direction) => vec![direction],
            None => vec![Direction::Down, Direction::Up],
        };
        all.push(StandIn {
            of: *of,
            at: finding.place.end,
            parameters: rates(*of, &directions, known),
        });
    }
    all
}

/// The rates that stand in for a limit: those of the tunnel's stages, if it is slower than the path
/// below it, which then has no such limit.
fn rates(of: NotModelled, directions: &[Direction], known: &Moments) -> Vec<String> {
    let staged = |d: &&Direction| {
        let stage = known.tunnel.as_ref().map(|tunnel| tunnel.stage(**d));
        of != NotModelled::Radio && stage.is_some_and(|stage| stage.rate_bps.is_some())
    };
    let stages = directions.iter().filter(staged);
    let stages: Vec<String> = stages.map(|d| format!("tunnel.{d}.rate_bps")).collect();
    if !stages.is_empty() {
        return stages;
    }
    let below = directions.iter();
    below.map(|d| format!("underlay.{d}.rate_bps")).collect()
}

fn notes(fit: &Input<'_>, stand_ins: &[StandIn]) -> Vec<Text> {
    let mut notes = fit.known.notes.clone();
    let missing = not_in_lab(fit.run);
    if !missing.is_empty() {
        notes.push(text!(
            "the lab's kernel has no {names}: those loads are not fitted",
            names = missing.join(", ")
        ));
    }
    notes.extend(stand_ins.iter().map(|stand_in| match stand_in.of {
        NotModelled::Processor => text!(
            "a processor limits this path; in the lab a rate stands in for it, so the gain from a faster or less busy processor cannot be predicted"
        ),
        NotModelled::Relay => text!(
            "the path goes through a relay; its rate and delay stand in for it, so the gain from a direct connection cannot be predicted"
        ),
        NotModelled::Radio => text!(
            "there is a radio link; a constant rate and delay stand in for it, so its variation cannot be predicted"
        ),
    }));
    if fit.known.tunnel.is_some() && !is_wireguard(fit.run) {
        notes.push(text!(
            "the kernel's WireGuard stands in for the tunnel, whose own software the lab does not run"
        ));
    }
    if let Some(why) = &fit.run.cut_short {
        notes.push(text!(
            "the run ended early: {why}",
            why = Value::Text(why.clone())
        ));
    }
    notes
}

/// Returns true if the tunnel is the kernel's WireGuard, as far as known.
fn is_wireguard(run: &Run) -> bool {
    let path = run.near.facts.path.as_ref();
    let tunnel = path.and_then(|path| path.tunnel());
    tunnel.is_none_or(|t| t.kind == model::facts::TunnelKind::KernelWireguard)
}
