//! What was left out of the fit, and how well it is predicted.

use std::collections::BTreeSet;

use model::{
    net::{Direction, Layer},
    twin::{Errors, HeldOut, LeftOut, TwinFigure},
};

use crate::{
    moments::Moments,
    search::{Tried, ranked},
    statistics::{Distance, Statistic, Values, distance},
};

/// So many of the best paths predict together, by their median.
const PREDICT: usize = 3;
/// Errors within this many standard deviations of repeats and seeds are no errors.
const CHANCE: f64 = 1.96;
/// Error of a goodput that is good enough for numbers, as a logarithm: what the calibrated
/// emulators of Pantheon reach on average (Yan et al., USENIX ATC 2018: about 17 %).
pub(crate) const GOODPUT: f64 = 0.16;
/// Error of an added delay that is good enough: this share of it, or so many µs.
const DELAY: (f64, f64) = (0.2, 3_000.0);
/// Error of a retransmitted share that is good enough: a factor of two.
const RETRANSMITTED: f64 = std::f64::consts::LN_2;

/// The figures that are predicted. Others describe the line, not what somebody gets of it.
const FIGURES: [TwinFigure; 3] = [
    TwinFigure::GoodputBps,
    TwinFigure::AddedP50Us,
    TwinFigure::Retransmitted,
];

/// Leaves out each congestion control and each number of flows in turn, chooses the best paths of
/// each direction by the rest, and predicts what was left out.
pub(crate) fn rotation(known: &Moments, run: &Values, tried: &[Tried]) -> Vec<HeldOut> {
    let ours = || {
        run.keys()
            .filter(|s| s.key.layer == known.layer && !s.key.bidirectional)
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
    let mut all = Vec::new();
    for group in groups {
        for direction in [Direction::Down, Direction::Up] {
            all.extend(without(known, run, tried, &group, direction));
        }
    }
    all
}

/// One group left out in one direction.
fn without(
    known: &Moments,
    run: &Values,
    tried: &[Tried],
    group: &LeftOut,
    direction: Direction,
) -> Vec<HeldOut> {
    let kept = |s: &Statistic| !is_in(s, group);
    // Something of TCP must be left to choose by.
    let of_tcp = |s: &&Statistic| s.key.flows.is_some() && s.key.direction == Some(direction);
    if !run
        .keys()
        .filter(of_tcp)
        .any(|s| kept(s) && s.key.layer == known.layer)
    {
        return Vec::new();
    }
    let best = ranked(known, run, tried, direction, &kept);
    let best: Vec<&Values> = best.iter().take(PREDICT).map(|(t, _)| &t.values).collect();
    let mine = |s: &Statistic| {
        is_in(s, group)
            && crate::statistics::is_of(s, known, direction)
            && FIGURES.contains(&s.figure)
    };
    let left = run.iter().filter(|(s, _)| mine(s));
    left.filter_map(|(statistic, measured)| {
        let predicted: Vec<f64> = best
            .iter()
            .filter_map(|values| stats::median(values.get(statistic)?))
            .collect();
        // All with one seed: what that seed did is in all of them, so they count as one repeat.
        let predicted = stats::median(&predicted)?;
        held(group.clone(), statistic, measured, &[predicted])
    })
    .collect()
}

/// What was never fitted: loads in both directions at once, and the tunnel over the path that was
/// fitted. `member` is the best path, measured with several seeds.
pub(crate) fn never_fitted(known: &Moments, run: &Values, member: &Values) -> Vec<HeldOut> {
    let group = |s: &Statistic| {
        if s.key.layer == Layer::Tunnel && known.layer == Layer::Underlay {
            Some(LeftOut::Tunnel)
        } else {
            s.key.bidirectional.then_some(LeftOut::Bidirectional)
        }
    };
    let left = run.iter().filter(|(s, _)| FIGURES.contains(&s.figure));
    left.filter_map(|(statistic, measured)| {
        let predicted = member.get(statistic)?;
        held(group(statistic)?, statistic, measured, predicted)
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
    left_out: LeftOut,
    statistic: &Statistic,
    measured: &[f64],
    predicted: &[f64],
) -> Option<HeldOut> {
    let apart = distance(statistic.figure, measured, predicted)?;
    let centre = stats::median(measured)?;
    Some(HeldOut {
        left_out,
        key: statistic.key.clone(),
        figure: statistic.figure,
        measured: centre,
        predicted: stats::median(predicted)?,
        excess: excess(statistic.figure, centre, &apart),
    })
}

/// The error beyond chance, over what is allowed of it.
fn excess(figure: TwinFigure, measured: f64, apart: &Distance) -> f64 {
    let allowed = match figure {
        TwinFigure::GoodputBps | TwinFigure::CapacityBps => GOODPUT,
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
    let goodput = of(TwinFigure::GoodputBps, &ratio);
    let delay = of(TwinFigure::AddedP50Us, &|h| {
        (h.predicted - h.measured).abs()
    });
    (!goodput.is_empty() || !delay.is_empty()).then(|| Errors {
        goodput_n: goodput.len(),
        goodput_p50: stats::median(&goodput),
        goodput_p90: stats::percentile(&goodput, 90.0),
        delay_n: delay.len(),
        delay_p50_us: stats::median(&delay),
        delay_p90_us: stats::percentile(&delay, 90.0),
    })
}
