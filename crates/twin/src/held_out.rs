//! Held-out figures, and the errors of their predictions.

use std::collections::BTreeSet;

use model::{
    net::{Direction, Layer},
    twin::{Errors, HeldOut, LeftOut, TwinFigure},
};

use crate::{
    candidate::{Candidate, Choice},
    input::Input,
    moments::Moments,
    search::{Tried, ranked},
    spread::spread,
    statistics::{Distance, Statistic, Target, Values, is_of},
};

/// Errors within this many standard deviations of repeats and seeds count as none.
pub(crate) const CHANCE: f64 = 1.96;
/// Error of a goodput that is good enough for numbers, as a logarithm: the mean error of Pantheon's
/// calibrated emulators (Yan et al., USENIX ATC 2018: about 17 %).
pub(crate) const GOODPUT: f64 = 0.16;
/// Error of an added delay that is good enough: this share of it, or this many µs.
const DELAY: (f64, f64) = (0.2, 3_000.0);
/// Error of a retransmitted share that is good enough: a factor of two.
const RETRANSMITTED: f64 = std::f64::consts::LN_2;

/// The figures that are predicted. Others describe the line, not the result of a user.
const FIGURES: [TwinFigure; 3] = [
    TwinFigure::Goodput,
    TwinFigure::AddedP50,
    TwinFigure::Retransmitted,
];

/// Returns the groups left out together, in turn: each congestion control and each number of flows.
fn groups(known: &Moments, run: &Target<'_>) -> Vec<LeftOut> {
    let ours = || {
        let keys = run.values.keys();
        keys.filter(|s| s.key.layer == known.layer && !s.key.bidirectional)
    };
    let ccs: BTreeSet<&String> = ours().filter_map(|s| s.key.cc.as_ref()).collect();
    let flows: BTreeSet<u32> = ours().filter_map(|s| s.key.flows).collect();
    let mut groups: Vec<LeftOut> = Vec::new();
    if ccs.len() > 1 {
        groups.extend(ccs.into_iter().map(|cc| LeftOut::Cc(cc.clone())));
    }
    if flows.len() > 1 {
        groups.extend(flows.into_iter().map(LeftOut::Flows));
    }
    groups
}

/// The best path of each rotation, chosen without the figures left out: they predict them, and so
/// have to be measured with several seeds.
pub(crate) fn champions(known: &Moments, run: &Target<'_>, tried: &[Tried]) -> Vec<Candidate> {
    let groups = groups(known, run);
    let of = |group: &LeftOut| {
        let choice = |direction| {
            let chosen = champion(known, run, tried, group, direction);
            // A direction without further figures continues with its best path.
            let best = || {
                let ranked = ranked(known, run, tried, direction, &|_| true);
                ranked
                    .first()
                    .map(|(tried, _)| *tried.candidate.choice(direction))
            };
            chosen.or_else(best)
        };
        Some(Candidate {
            down: choice(Direction::Down)?,
            up: choice(Direction::Up)?,
        })
    };
    groups.iter().filter_map(of).collect()
}

/// The best choice of a direction by the figures not left out; `None` if no TCP is left.
fn champion(
    known: &Moments,
    run: &Target<'_>,
    tried: &[Tried],
    group: &LeftOut,
    direction: Direction,
) -> Option<Choice> {
    let kept = |s: &Statistic| !is_in(s, group);
    let of_tcp = |s: &&Statistic| s.key.flows.is_some() && is_of(s, known, direction);
    run.values.keys().filter(of_tcp).find(|s| kept(s))?;
    let ranked = ranked(known, run, tried, direction, &kept);
    let (best, _) = ranked.first()?;
    Some(*best.candidate.choice(direction))
}

/// Leaves out each group in turn, and predicts it by the best path of the rest: with all its seeds,
/// if it is among the members.
pub(crate) fn rotation(
    fit: &Input<'_>,
    run: &Target<'_>,
    tried: &[Tried],
    members: &[&Tried],
) -> Vec<HeldOut> {
    let known = &fit.known;
    let mut all = Vec::new();
    for group in groups(known, run) {
        for direction in [Direction::Down, Direction::Up] {
            let Some(chosen) = champion(known, run, tried, &group, direction) else {
                continue;
            };
            let is = |t: &&Tried| *t.candidate.choice(direction) == chosen;
            let repeated = members.iter().copied().find(|t| is(t));
            let Some(path) = repeated.or_else(|| tried.iter().find(is)) else {
                continue;
            };
            let mine = |s: &Statistic| {
                is_in(s, &group) && is_of(s, known, direction) && FIGURES.contains(&s.figure)
            };
            let left = run.values.iter().filter(|(s, _)| mine(s));
            all.extend(left.filter_map(|(statistic, measured)| {
                let predicted = path.values.get(statistic)?;
                held(fit, run, group.clone(), statistic, measured, predicted)
            }));
        }
    }
    all
}

/// Returns the figures never fitted: loads in both directions at once, and the tunnel over the
/// fitted path. `member` is the best path, measured with several seeds.
pub(crate) fn never_fitted(fit: &Input<'_>, run: &Target<'_>, member: &Values) -> Vec<HeldOut> {
    let known = &fit.known;
    let group = |s: &Statistic| {
        if s.key.layer == Layer::Tunnel && known.layer == Layer::Underlay {
            Some(LeftOut::Tunnel)
        } else {
            s.key.bidirectional.then_some(LeftOut::Bidirectional)
        }
    };
    let left = run
        .values
        .iter()
        .filter(|(s, _)| FIGURES.contains(&s.figure));
    left.filter_map(|(statistic, measured)| {
        let predicted = member.get(statistic)?;
        held(fit, run, group(statistic)?, statistic, measured, predicted)
    })
    .collect()
}

fn is_in(statistic: &Statistic, group: &LeftOut) -> bool {
    match group {
        LeftOut::Cc(cc) => statistic.key.cc.as_ref() == Some(cc),
        LeftOut::Flows(flows) => statistic.key.flows == Some(*flows),
        LeftOut::Bidirectional => statistic.key.bidirectional,
        LeftOut::Tunnel => statistic.key.layer == Layer::Tunnel,
    }
}

fn held(
    fit: &Input<'_>,
    run: &Target<'_>,
    left_out: LeftOut,
    statistic: &Statistic,
    measured: &[f64],
    predicted: &[f64],
) -> Option<HeldOut> {
    let apart = run.distance(statistic, measured, predicted)?;
    let centre = stats::median(measured)?;
    Some(HeldOut {
        left_out,
        key: statistic.key.clone(),
        figure: statistic.figure,
        measured: centre,
        predicted: stats::median(predicted)?,
        spread: spread(fit.run, statistic, measured, predicted),
        noise: Some(apart.noise),
        excess: excess(statistic.figure, centre, &apart),
    })
}

/// The error beyond chance, over its tolerance.
fn excess(figure: TwinFigure, measured: f64, apart: &Distance) -> f64 {
    let allowed = match figure {
        TwinFigure::Goodput | TwinFigure::GoodputP10 | TwinFigure::Capacity => GOODPUT,
        TwinFigure::Retransmitted => RETRANSMITTED,
        _ => DELAY.1.max(DELAY.0 * measured),
    };
    (apart.error.abs() - CHANCE * apart.noise).max(0.0) / allowed
}

/// The errors together; `None` of no predictions.
pub(crate) fn errors(all: &[HeldOut]) -> Option<Errors> {
    let of = |figure: TwinFigure, error: &dyn Fn(&HeldOut) -> f64| -> Vec<f64> {
        all.iter()
            .filter(|h| h.figure == figure)
            .map(error)
            .collect()
    };
    let ratio = |h: &HeldOut| (h.predicted.max(1.0) / h.measured.max(1.0)).ln().abs();
    // Variation of repeats and seeds is an error of the measurement, and not of the twin.
    let beyond = |h: &HeldOut, error: f64| {
        let noise = h.noise.unwrap_or(0.0);
        (error * error - noise * noise).max(0.0).sqrt()
    };
    let goodput = of(TwinFigure::Goodput, &ratio);
    let goodput_beyond = of(TwinFigure::Goodput, &|h| beyond(h, ratio(h)));
    let delay_beyond = of(TwinFigure::AddedP50, &|h| {
        beyond(h, (h.predicted - h.measured).abs())
    });
    let delay = of(TwinFigure::AddedP50, &|h| (h.predicted - h.measured).abs());
    (!goodput.is_empty() || !delay.is_empty()).then(|| Errors {
        goodput_n: goodput.len(),
        goodput_p50: stats::median(&goodput),
        goodput_p90: stats::percentile(&goodput, 90.0),
        goodput_beyond_p90: stats::percentile(&goodput_beyond, 90.0),
        delay_n: delay.len(),
        delay_p50_us: stats::median(&delay),
        delay_p90_us: stats::percentile(&delay, 90.0),
        delay_beyond_p90_us: stats::percentile(&delay_beyond, 90.0),
    })
}
