//! Spread of a figure in the Run and in the lab.

use analysis::summary;
use model::{
    run::{FigureKind, Range, Run},
    twin::{TwinFigure, TwinSpread},
};

use crate::statistics::Statistic;

/// Of the values of a Run, within the physical limits of its path, and of the values in the lab.
pub(crate) fn spread(
    run: &Run,
    statistic: &Statistic,
    measured: &[f64],
    twin: &[f64],
) -> TwinSpread {
    let of_run = summary::spread(measured, limits(run, statistic));
    let ends = of_run.and_then(|s| s.low.zip(s.high));
    TwinSpread {
        measured_interval: ends.map(|(low, high)| [low, high]),
        measured_range: of_run.and_then(|s| s.range),
        twin_range: range(twin),
    }
}

/// Smallest and largest of several values.
fn range(values: &[f64]) -> Option<Range> {
    (values.len() > 1).then(|| Range {
        low: values.iter().copied().fold(f64::INFINITY, f64::min),
        high: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    })
}

fn limits(run: &Run, statistic: &Statistic) -> [f64; 2] {
    let kind = match statistic.figure {
        TwinFigure::Goodput => FigureKind::Goodput,
        TwinFigure::Capacity => FigureKind::Capacity,
        TwinFigure::GoodputP10 => return [0.0, statistic.figure.unit().max()],
        TwinFigure::Retransmitted => FigureKind::Retransmitted,
        // An added delay is not below zero, whatever the base.
        TwinFigure::AddedP50
        | TwinFigure::AddedP95
        | TwinFigure::TcpAdded
        | TwinFigure::OverloadAdded => return [0.0, statistic.figure.unit().max()],
    };
    summary::limits(&run.samples, &statistic.key, kind)
}
