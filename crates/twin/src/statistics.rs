//! Figures by which a path and a Run are compared, and their distance.

use std::{collections::BTreeMap, f64::consts::FRAC_PI_2};

use analysis::{
    figures::{added_us, value},
    over_time::slowest_bps,
    view::{Sweep, View},
};
use model::{
    net::{Direction, IpVersion, Layer},
    run::{FigureKind, Key, Run, Sample, StepKind, SweepStep},
    twin::TwinFigure,
};

use crate::moments::Moments;

/// A figure of a kind of load.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Statistic {
    pub(crate) key: Key,
    pub(crate) figure: TwinFigure,
}

/// Values of figures, one for each repeat.
pub(crate) type Values = BTreeMap<Statistic, Vec<f64>>;

/// Target that paths are compared with: the figures of a Run, and their variation from seed to seed
/// on one path, as far as observed in the lab.
#[derive(Debug)]
pub(crate) struct Target<'a> {
    pub(crate) values: &'a Values,
    pub(crate) seeds: Seeds,
}

/// Variation from seed to seed on one path, on the scale of each figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Seeds(BTreeMap<Statistic, Variation>);

/// Sum of squares around the mean, and its degrees of freedom.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Variation {
    squares: f64,
    freedom: f64,
}

impl Seeds {
    /// Of paths that were measured with several seeds; with one a path shows no spread.
    pub(crate) fn of<'a>(paths: impl Iterator<Item = &'a Values>) -> Self {
        let mut all: BTreeMap<Statistic, Variation> = BTreeMap::new();
        for (statistic, values) in paths.flatten().filter(|(_, v)| v.len() > 1) {
            let Some(around) = stats::median(values) else {
                continue;
            };
            let figure = statistic.figure;
            let scaled = Scale::of(figure, around.abs()).scaled(figure, values);
            let own = all.entry(statistic.clone()).or_default();
            own.squares += squares(&scaled);
            own.freedom += (values.len() - 1) as f64;
        }
        Self(all)
    }

    fn get(&self, statistic: &Statistic) -> Variation {
        self.0.get(statistic).copied().unwrap_or_default()
    }
}

fn squares(values: &[f64]) -> f64 {
    let mean = stats::mean(values).unwrap_or(0.0);
    values.iter().map(|v| (v - mean).powi(2)).sum()
}

/// Share below which retransmissions are as good as none.
const FEW_RETRANSMITTED: f64 = 3e-4;

/// Figures of one layer of a Run. A step without an unloaded round trip has no added delay.
pub(crate) fn of(run: &Run, layer: Layer, family: IpVersion) -> Values {
    let ours = |s: &&Sample| s.valid && s.key.layer == layer && s.key.family == family;
    let samples: Vec<&Sample> = run.samples.iter().filter(ours).collect();
    let base = View::on(run, layer, family).base_us();
    let mut values = Values::new();
    for sample in samples {
        for (figure, value) in figures(sample, base) {
            if value.is_finite() {
                let key = sample.key.clone();
                values
                    .entry(Statistic { key, figure })
                    .or_default()
                    .push(value);
            }
        }
    }
    values
}

fn figures(sample: &Sample, base_us: Option<f64>) -> Vec<(TwinFigure, f64)> {
    let added = |kind| Some(added_us(value(sample, kind)?, base_us?));
    let all = match sample.key.step {
        StepKind::Tcp => vec![
            (TwinFigure::Goodput, value(sample, FigureKind::Goodput)),
            (TwinFigure::GoodputP10, slowest_bps(sample)),
            (TwinFigure::AddedP50, added(FigureKind::RttP50)),
            (TwinFigure::AddedP95, added(FigureKind::RttP95)),
            (TwinFigure::TcpAdded, added(FigureKind::TcpRttP50)),
            (
                TwinFigure::Retransmitted,
                value(sample, FigureKind::Retransmitted),
            ),
        ],
        StepKind::UdpSweep => vec![
            (TwinFigure::Capacity, value(sample, FigureKind::Capacity)),
            (TwinFigure::OverloadAdded, overload(sample, base_us)),
        ],
        _ => Vec::new(),
    };
    all.into_iter()
        .filter_map(|(figure, value)| Some((figure, value?)))
        .collect()
}

/// Returns the delay added by the smallest overload of a sweep that filled the queue most of the
/// time. While a queue fills, its delay depends on the elapsed time, not on the path.
fn overload(sample: &Sample, base_us: Option<f64>) -> Option<f64> {
    sample.capacity_bps?;
    let over = Sweep::of_sample(sample)?.overloads();
    let filled = |s: &&SweepStep| Sweep::is_mostly_full(&s.udp);
    let mildest = over.iter().find(filled)?;
    Some(added_us(mildest.rtt_p50_us?, base_us?))
}

/// Scale on which a kind of figure is compared.
struct Scale {
    /// True to compare logarithms.
    by_ratio: bool,
    /// Standard deviation of one repeat where the repeats do not show it.
    usual: f64,
    /// Tolerated error of a correct path, because a lab path is simpler than a real one.
    discrepancy: f64,
}

impl Scale {
    /// The discrepancy of a figure around a value. The discrepancies are half of the tolerance for
    /// a good emulation: 10 % of a rate, 2 ms or 15 % of an added delay, half as many losses again.
    fn of(figure: TwinFigure, around: f64) -> Self {
        let ratio = |usual, discrepancy| Self {
            by_ratio: true,
            usual,
            discrepancy,
        };
        match figure {
            TwinFigure::Goodput => ratio(0.08, 0.05),
            TwinFigure::GoodputP10 => ratio(0.03, 0.08),
            TwinFigure::Capacity => ratio(0.01, 0.02),
            TwinFigure::Retransmitted => ratio(0.4, 0.2),
            _ => Self {
                by_ratio: false,
                usual: (0.1 * around).max(300.0),
                discrepancy: (0.075 * around).max(1_000.0),
            },
        }
    }

    fn scaled(&self, figure: TwinFigure, values: &[f64]) -> Vec<f64> {
        let floor = match figure {
            TwinFigure::Retransmitted => FEW_RETRANSMITTED,
            _ => f64::MIN_POSITIVE,
        };
        let scaled = |v: &f64| {
            if self.by_ratio {
                (v.max(0.0) + floor).ln()
            } else {
                *v
            }
        };
        values.iter().map(scaled).collect()
    }
}

/// Distance of a path's values from those of the Run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Distance {
    /// Predicted less measured, on the scale of the figure: a logarithm, or µs.
    pub(crate) error: f64,
    /// Standard deviation of that by repeats and seeds.
    pub(crate) noise: f64,
    /// The same in standard deviations of repeats, seeds and the model's discrepancy.
    pub(crate) implausibility: f64,
}

/// Distance of a path without the figure.
pub(crate) const ABSENT: f64 = 6.0;

/// The distance of a path's values of a figure from the Run's; `None` without values. `seeds` is
/// its known variation in the lab.
///
/// The variances of both sides are their own (Welch, Biometrika 34, 1947): a figure that varies
/// much on one path does not on another. Where losses are few, CUBIC delays others by 0.1 to 14 ms
/// from repeat to repeat; with ten times the losses, by less than 1 ms.
///
/// Bug: one variance for both was mostly that of the lab's paths, and one line of four with a loss
/// of 0.5 % fitted no path.
pub(crate) fn distance(
    figure: TwinFigure,
    run: &[f64],
    path: &[f64],
    seeds: Variation,
) -> Option<Distance> {
    let around = stats::median(run)?;
    let scale = Scale::of(figure, around.abs());
    let (run, path) = (scale.scaled(figure, run), scale.scaled(figure, path));
    let error = stats::median(&path)? - stats::median(&run)?;
    let usual = seeds.variance(scale.usual);
    let noise = (of_median(&run, usual) + of_median(&path, usual)).sqrt();
    let implausibility = error.abs() / noise.hypot(scale.discrepancy);
    Some(Distance {
        error,
        noise,
        implausibility,
    })
}

/// Number of repeats that what is usual counts as, beside those of a figure.
const USUAL_COUNTS: f64 = 2.0;

impl Variation {
    /// Variance of one repeat in the lab: with few of them, shrunk toward that of a usual standard
    /// deviation.
    fn variance(self, usual: f64) -> f64 {
        (self.squares + USUAL_COUNTS * usual * usual) / (self.freedom + USUAL_COUNTS)
    }
}

/// Variance of the median of these values, whose own variance is shrunk toward the usual one. That
/// of the median of n normal values tends to pi/2 of that of their mean (Kendall and Stuart, The
/// Advanced Theory of Statistics, 14.12); the formula has both ends, of one value and of many.
fn of_median(values: &[f64], usual: f64) -> f64 {
    let n = values.len() as f64;
    let own = (squares(values) + USUAL_COUNTS * usual) / (n - 1.0 + USUAL_COUNTS);
    own * FRAC_PI_2 / (n + FRAC_PI_2 - 1.0)
}

impl Target<'_> {
    /// The distance of a path's values of a statistic from these of the Run.
    pub(crate) fn distance(
        &self,
        statistic: &Statistic,
        run: &[f64],
        path: &[f64],
    ) -> Option<Distance> {
        distance(statistic.figure, run, path, self.seeds.get(statistic))
    }
}

/// Goodness of fit of values to those of the Run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fitness {
    /// Mean of the squared implausibilities, each at most [`ABSENT`]².
    pub(crate) score: f64,
    /// The second largest implausibility: one figure may be an outlier.
    pub(crate) second: f64,
    /// The statistic that is farthest away.
    pub(crate) worst: Option<(Statistic, f64)>,
    /// Sum of the squared implausibilities.
    pub(crate) sum: f64,
    /// Number of statistics.
    n: usize,
}

impl Fitness {
    /// Returns the fitness of a path with this many parameters more than others: each costs 2, as
    /// in Akaike's information criterion (IEEE Transactions on Automatic Control 19, 1974), since
    /// it fits to chance.
    #[must_use]
    pub(crate) fn with_parameters(self, more: usize) -> Self {
        let sum = self.sum + 2.0 * more as f64;
        Self {
            score: sum / self.n.max(1) as f64,
            sum,
            ..self
        }
    }
}

/// The fitness over the relevant statistics of the Run.
pub(crate) fn fitness(
    run: &Target<'_>,
    path: &Values,
    counts: &dyn Fn(&Statistic) -> bool,
) -> Fitness {
    let mut all: Vec<(&Statistic, f64)> = Vec::new();
    for (statistic, measured) in run.values.iter().filter(|(s, _)| counts(s)) {
        let own = path.get(statistic).map_or(&[][..], Vec::as_slice);
        let distance = run.distance(statistic, measured, own);
        all.push((statistic, distance.map_or(ABSENT, |d| d.implausibility)));
    }
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    let squares = all.iter().map(|(_, i)| i.min(ABSENT).powi(2));
    let sum = squares.sum::<f64>();
    // With few statistics no outlier is tolerated.
    let place = usize::from(all.len() >= 4);
    Fitness {
        score: sum / all.len().max(1) as f64,
        second: all.get(place).map_or(0.0, |(_, i)| *i),
        worst: all.first().map(|(s, i)| ((*s).clone(), *i)),
        sum,
        n: all.len(),
    }
}

/// Returns true if a statistic belongs to the fit of a direction: loads of that direction alone, on
/// the layer that is fitted.
pub(crate) fn is_of(statistic: &Statistic, known: &Moments, direction: Direction) -> bool {
    let key = &statistic.key;
    key.layer == known.layer && !key.bidirectional && key.direction == Some(direction)
}

/// Returns true for a figure that depends on the moment at which it was taken: UDP above the
/// capacity is short, and where the rate changes it meets one rate in the Run and another on the
/// twin.
pub(crate) fn is_momentary(statistic: &Statistic, known: &Moments) -> bool {
    let changes = |d| known.line(d).rate_steps.is_some();
    statistic.key.step == StepKind::UdpSweep && statistic.key.direction.is_some_and(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(run: &[f64], path: &[f64]) -> Option<Distance> {
        distance(TwinFigure::Goodput, run, path, Variation::default())
    }

    #[test]
    fn equal_values_have_distance_zero() {
        let d = apart(&[1e7, 1.1e7, 0.9e7], &[1e7]).unwrap();
        assert!(d.error.abs() < 1e-9 && d.implausibility < 1e-6);
    }

    #[test]
    fn a_rate_that_is_half_is_far_away_and_repeats_bring_it_no_nearer() {
        let one = apart(&[1e7], &[5e6]).unwrap();
        let many = apart(&[1e7; 9], &[5e6; 9]).unwrap();
        assert!(one.implausibility > 3.0, "{one:?}");
        assert!(many.implausibility > one.implausibility);
        assert!((many.error - 0.5_f64.ln()).abs() < 1e-9);
    }

    #[test]
    fn noisy_repeats_make_a_difference_plausible() {
        let calm = apart(&[2e7, 2.01e7], &[3e7]).unwrap();
        let noisy = apart(&[1.2e7, 3.4e7], &[3e7]).unwrap();
        assert!(
            calm.implausibility > 3.0 && noisy.implausibility < 2.0,
            "{calm:?} {noisy:?}"
        );
    }

    #[test]
    fn a_missing_value_is_not_a_fit() {
        assert_eq!(apart(&[1.0], &[]), None);
    }

    /// What cubic added for others at a loss of 0.5 %, µs, and on the best path of its twin, with
    /// what paths of more loss varied by.
    #[test]
    fn a_figure_that_varies_much_on_the_line_alone_is_not_far_away() {
        let (run, path) = ([142.0, 7_149.0, 13_931.0], [353.0, 887.0, 1_652.0]);
        let others = Variation {
            squares: 12.0 * 400.0_f64.powi(2),
            freedom: 12.0,
        };
        let apart = |run: &[f64]| distance(TwinFigure::AddedP50, run, &path, others).unwrap();
        let varied = apart(&run);
        assert!(varied.noise > 2_500.0, "{varied:?}");
        assert!(varied.implausibility < 2.5, "{varied:?}");
        // The same median without that variation is.
        let steady = apart(&[7_000.0, 7_149.0, 7_200.0]);
        assert!(steady.implausibility > 4.0, "{steady:?}");
    }

    /// The variance of a median: that of one value, and half of pi of that of a mean of many.
    #[test]
    fn a_median_of_many_varies_more_than_their_mean() {
        let values = |n: usize| -> Vec<f64> {
            (0..n)
                .map(|i| if i % 2 == 0 { 1.0 } else { -1.0 })
                .collect()
        };
        assert!((of_median(&values(1), 4.0) - 4.0).abs() < 1e-9);
        let many = of_median(&values(10_000), 4.0) * 10_000.0;
        assert!((many - FRAC_PI_2).abs() < 0.01, "{many}");
    }

    #[test]
    fn variation_between_seeds_is_no_distance() {
        // CUBIC under random loss: windows of 5 s on one path differ by a third.
        let key = Key {
            step: StepKind::Tcp,
            layer: Layer::Underlay,
            family: IpVersion::V4,
            direction: Some(Direction::Down),
            bidirectional: false,
            flows: Some(1),
            cc: Some("cubic".to_owned()),
            rate_bps: None,
            bytes: None,
        };
        let statistic = Statistic {
            key,
            figure: TwinFigure::Goodput,
        };
        let paths: Vec<Values> = [[2.3e7, 4.0e7, 3.0e7], [1.9e7, 3.6e7, 2.7e7]]
            .into_iter()
            .map(|values| Values::from([(statistic.clone(), values.to_vec())]))
            .collect();
        let seeds = Seeds::of(paths.iter());
        let known = distance(statistic.figure, &[3.1e7], &[1.9e7], seeds.get(&statistic)).unwrap();
        let unknown = apart(&[3.1e7], &[1.9e7]).unwrap();
        assert!(unknown.implausibility > 3.0, "{unknown:?}");
        assert!(known.implausibility < 1.5, "{known:?}");
    }
}
