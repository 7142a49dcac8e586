//! Predicted changes of figures, with intervals.

use model::{
    advice::{AdviceFigure, Change, Outcome},
    net::Direction,
    run::Unit,
    twin::{Twin, TwinFigure},
};

use super::judge::{Pair, USUAL, USUAL_COUNTS};

/// Smallest half width of an interval, a logarithm: settings of hosts and rates of twins differ by
/// this much. A shaper on an Ethernet device counts 14 bytes more than an IP packet has, 1 %.
const RESOLUTION: f64 = 0.02;
/// Error of goodput and of delay, logarithms, where the twin was not tested: somewhat above the
/// 90th percentile of the errors of such twins on drawn paths (docs/accuracy.md).
const UNTESTED: f64 = 0.15;

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
    let usual = usual(twin, direction, figure, around);
    // The percentiles of four pairs would hold 60 % of further ones.
    let spread = stats::prediction_half_width(&ratios, 0.9, usual, USUAL_COUNTS)?;
    let away = spread.hypot(error).hypot(RESOLUTION);
    Some(Change {
        direction,
        figure,
        ratio: centre.exp(),
        low: (centre - away).exp(),
        high: (centre + away).exp(),
    })
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

/// Error of the twin on figures that were held out: the 90th percentile of the logarithms.
fn error(twin: &Twin, figure: AdviceFigure, around: f64) -> f64 {
    let errors = twin.errors.as_ref();
    let known = match figure.unit() {
        Unit::BitsPerSecond => errors.and_then(|e| e.goodput_beyond_p90.or(e.goodput_p90)),
        _ => errors
            .and_then(|e| e.delay_beyond_p90_us.or(e.delay_p90_us))
            .map(|us| (1.0 + us / around.max(1.0)).ln()),
    };
    known.unwrap_or(UNTESTED)
}
