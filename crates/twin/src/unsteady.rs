//! Loads that fill the path and carry less, at times, than a constant rate would: the rate of the
//! path changes, and a twin has a constant one.

use model::{net::Direction, twin::TwinFigure};

use crate::{
    held_out::CHANCE,
    input::Input,
    statistics::{Statistic, Target, Values, is_of},
};

/// Share of the rate from which a load fills the path of the twin. Headers take less than the rest.
const FILLED: f64 = 0.85;
/// Share of its mean goodput from which the slowest tenth of a load on the twin is steady.
const STEADY: f64 = 0.97;
/// Shortfall of the slowest tenth beyond chance, a logarithm, that an error of the rate or a busy
/// host does not explain.
const SHORTFALL: f64 = 0.05;

/// A load that was slower at times than on the twin, bit/s.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unsteady {
    pub(crate) statistic: Statistic,
    pub(crate) measured: f64,
    pub(crate) twin: f64,
}

/// The worst of them; `None` if the rate of the path seems constant.
pub(crate) fn unsteady(fit: &Input<'_>, run: &Target<'_>, best: &Values) -> Option<Unsteady> {
    let of = |(statistic, measured): (&Statistic, &Vec<f64>)| {
        let twin = best.get(statistic)?;
        let apart = run.distance(statistic, measured, twin)?;
        let short = apart.error - CHANCE * apart.noise;
        let found = Unsteady {
            statistic: statistic.clone(),
            measured: stats::median(measured)?,
            twin: stats::median(twin)?,
        };
        (short > SHORTFALL && fills(fit, best, statistic)).then_some((short, found))
    };
    let slowest = run
        .values
        .iter()
        .filter(|(s, _)| s.figure == TwinFigure::GoodputP10);
    let worst = slowest.filter_map(of).max_by(|a, b| a.0.total_cmp(&b.0));
    worst.map(|(_, found)| found)
}

/// Returns true if a load of one direction alone fills the path of the twin all the time.
fn fills(fit: &Input<'_>, best: &Values, statistic: &Statistic) -> bool {
    let own = [Direction::Down, Direction::Up]
        .into_iter()
        .find(|d| is_of(statistic, &fit.known, *d));
    let Some(direction) = own else { return false };
    let of = |figure| {
        let statistic = Statistic {
            figure,
            ..statistic.clone()
        };
        best.get(&statistic)
            .and_then(|values| stats::median(values))
    };
    let both = of(TwinFigure::Goodput).zip(of(TwinFigure::GoodputP10));
    let rate_bps = fit.known.line(direction).rate_bps.value;
    both.is_some_and(|(mean, slowest)| mean > FILLED * rate_bps && slowest > STEADY * mean)
}
