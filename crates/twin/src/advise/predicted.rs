//! Predicted changes of figures, with intervals.

use model::{
    advice::{AdviceFigure, Change, Outcome},
    net::Direction,
    path::Loss,
    run::Unit,
    twin::{Fitted, Twin, TwinFigure},
};

use super::{
    chance,
    judge::{self, Pair, USUAL_COUNTS},
    trial,
};

/// Smallest half width of an interval, a logarithm: settings of hosts and rates of twins differ by
/// this much. A shaper on an Ethernet device counts 14 bytes more than an IP packet has, 1 %.
const RESOLUTION: f64 = 0.02;
/// Least errors of goodput and of loaded delay, logarithms, of a twin that was tested, beside that
/// by a loss, the spread of pairs and [`RESOLUTION`]. A handful of figures that came out exactly
/// does not promise that all others will: paths of draw 5 that no twin can be equal to, with two
/// queues in series, had twins that predicted what was left out (docs/accuracy.md).
const TESTED: [f64; 2] = [0.02, 0.04];
/// The errors of an untested twin of a lab path, without [`RESOLUTION`], so that about 90 % hold on
/// the paths of draw 6. They are right for paths that a twin can be equal to.
const IN_LAB: [f64; 2] = [0.01, 0.02];
/// The errors of an untested twin of hosts, which does not show that its path is such a one; and
/// of other figures, whose errors on drawn paths are not known.
const UNKNOWN: f64 = 0.15;
/// Standard deviation between pairs, a logarithm, where the twin was not tested. It is smaller than
/// that which decides whether a remedy helps: pairs have the same seed.
const USUAL: f64 = 0.01;
/// Exponent of the loss in the goodput of a flow that it limits: 0.5 of Reno, 0.75 of CUBIC (RFC
/// 9438 section 5), which is Reno-friendly on most paths of a user.
const BY_LOSS: f64 = 0.65;
/// Bounds of a 90 % interval over those of a 95 % one.
const NARROWER: f64 = 1.645 / 1.96;

/// Changes of each figure, with intervals over the pairs that are widened by the error of the twin.
pub(super) fn changes(pairs: &[Pair<'_>], twin: &Twin) -> Vec<Change> {
    let mut all = Vec::new();
    for direction in [Direction::Down, Direction::Up] {
        for figure in AdviceFigure::PREDICTED {
            all.extend(change(pairs, twin, direction, figure));
        }
    }
    all
}

fn change(
    pairs: &[Pair<'_>],
    twin: &Twin,
    direction: Direction,
    figure: AdviceFigure,
) -> Option<Change> {
    let of = |all: &[Outcome]| {
        let own = all.iter().find(|o| o.direction == direction);
        own.and_then(|o| Some(o.value(figure)?.max(1.0)))
    };
    let ratios: Vec<f64> = pairs
        .iter()
        .filter_map(|p| Some((of(p.after)? / of(p.before)?).ln()))
        .collect();
    let centre = stats::median(&ratios)?;
    let around = pairs.iter().find_map(|p| of(p.after))?;
    let error = error(twin, figure, around);
    let usual = usual(twin, direction, figure, around).max(match figure {
        AdviceFigure::Goodput => by_chance(pairs, direction),
        _ => 0.0,
    });
    // The percentiles of four pairs would hold 60 % of further ones. What comes is the median of at
    // least three repeats, in a Run and in the turns of a proof.
    let known = [usual, USUAL_COUNTS];
    let spread = stats::prediction_half_width(&ratios, stats::MEDIAN_OF_THREE, 0.9, known)?;
    let by_loss = match figure {
        AdviceFigure::Goodput => by_loss(twin, direction, goodputs(pairs, direction)),
        _ => 0.0,
    };
    let without = pairs.iter().find_map(|p| of(p.before))?;
    let residual = residual(twin, direction, figure, without);
    let away = spread.hypot(error).hypot(by_loss).hypot(residual);
    Some(Change {
        direction,
        figure,
        ratio: centre.exp(),
        low: (centre - away).exp(),
        high: (centre + away).exp(),
    })
}

/// Error of the twin, a logarithm, on the load of the Run that a remedy is compared with: one flow
/// of the sender's congestion control. It is known, and nothing says that the remedy keeps it.
/// `without`: the figure on the twin.
fn residual(twin: &Twin, direction: Direction, figure: AdviceFigure, without: f64) -> f64 {
    let cc = trial::cc(&twin.path, direction);
    let of = |figure| {
        twin.fitted.iter().find(|fitted| {
            let key = &fitted.key;
            let is_load = key.direction == Some(direction) && !key.bidirectional;
            let is_flow = key.flows == Some(1) && key.cc.as_ref() == Some(&cc);
            fitted.figure == figure && is_load && is_flow
        })
    };
    let ratio = match figure {
        AdviceFigure::Goodput => {
            of(TwinFigure::Goodput).map(|f| f.twin.max(1.0) / f.measured.max(1.0))
        }
        AdviceFigure::LoadedP50 => {
            let rtt = |f: &Fitted| (without + f.measured - f.twin).max(1.0);
            of(TwinFigure::AddedP50).map(|f| without / rtt(f))
        }
        _ => None,
    };
    ratio.map_or(0.0, |ratio| ratio.ln().abs())
}

/// Standard deviation between pairs, a logarithm: the largest that repeats and seeds explain in the
/// figures left out, since a remedy may act on any load of its direction; [`USUAL`] if the twin was
/// not tested there.
fn usual(twin: &Twin, direction: Direction, figure: AdviceFigure, around: f64) -> f64 {
    let is_same = |of: TwinFigure| match figure.unit() {
        Unit::BitsPerSecond => of == TwinFigure::Goodput,
        _ => matches!(of, TwinFigure::AddedP50 | TwinFigure::AddedP95),
    };
    let own = twin
        .held_out
        .iter()
        .filter(|held| held.key.direction == Some(direction) && is_same(held.figure));
    let largest = own.filter_map(|held| held.noise).reduce(f64::max);
    let deviation = largest.map(|noise| match figure.unit() {
        Unit::BitsPerSecond => noise,
        _ => (1.0 + noise / around.max(1.0)).ln(),
    });
    deviation.unwrap_or(USUAL)
}

/// Standard deviation of the logarithm of the ratio of two goodputs by the chance of random loss.
fn by_chance(pairs: &[Pair<'_>], direction: Direction) -> f64 {
    let each: Vec<f64> = pairs.iter().map(|p| p.chance(direction)).collect();
    stats::mean(&each).map_or(0.0, f64::sqrt)
}

/// Median goodputs without and with the remedy, bit/s; `None` without a pair.
fn goodputs(pairs: &[Pair<'_>], direction: Direction) -> Option<[f64; 2]> {
    let of = |medians: Vec<Outcome>| {
        let own = medians.iter().find(|o| o.direction == direction);
        own.map(|o| o.goodput_bps)
    };
    let before = of(judge::medians(pairs.iter().map(|p| p.before)))?;
    Some([before, of(judge::medians(pairs.iter().map(|p| p.after)))?])
}

/// Error of the ratio of two goodputs, bit/s, of which random loss limits one: that of the loss, by
/// its interval.
fn by_loss(twin: &Twin, direction: Direction, goodputs: Option<[f64; 2]>) -> f64 {
    let line = twin.path.underlay.line(direction);
    let (Some(Loss::Random { share }), Some(goodputs)) = (&line.loss, goodputs) else {
        return 0.0;
    };
    let [before, after] = goodputs.map(|bps| chance::leaves_room(line, bps));
    let bounds = share
        .low
        .zip(share.high)
        .map(|(low, high)| [low.get(), high.get()]);
    match bounds {
        Some([low, high]) if before != after && low > 0.0 => {
            0.5 * NARROWER * BY_LOSS * (high / low).ln()
        }
        _ => 0.0,
    }
}

/// Error of the twin on figures that were held out: the 90th percentile of the logarithms, with
/// [`RESOLUTION`].
fn error(twin: &Twin, figure: AdviceFigure, around: f64) -> f64 {
    let errors = twin.errors.as_ref();
    let known = match figure.unit() {
        Unit::BitsPerSecond => errors.and_then(|e| e.goodput_beyond_p90.or(e.goodput_p90)),
        _ => errors
            .and_then(|e| e.delay_beyond_p90_us.or(e.delay_p90_us))
            .map(|us| (1.0 + us / around.max(1.0)).ln()),
    };
    let place = match figure {
        AdviceFigure::Goodput => Some(0),
        AdviceFigure::LoadedP50 => Some(1),
        _ => None,
    };
    match (known, place) {
        (Some(known), Some(place)) => known.max(TESTED[place]).hypot(RESOLUTION),
        (None, Some(place)) if twin.lab => IN_LAB[place],
        (known, _) => known.unwrap_or(UNKNOWN).hypot(RESOLUTION),
    }
}
