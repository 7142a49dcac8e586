//! Distribution of the probes' round trips over all repeats. The percentiles of a step are its
//! figures (`rtt_p50_us` and so on), medians over the repeats; quantiles here have the same
//! definition, that of [`stats::percentile`].

use model::run::{Column, Sample};

/// Quantiles drawn between none and all.
const STEPS: usize = 100;
/// Further quantiles of the tail, the most relevant part.
const TOP: [f64; 6] = [0.993, 0.995, 0.997, 0.998, 0.999, 1.0];

/// RTTs of answered probes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    /// The RTTs, µs, the smallest first.
    sorted_us: Vec<f64>,
}

impl Distribution {
    /// Of the answered probes of samples, within the time that counts.
    pub fn of<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Self {
        let rtts = samples.into_iter().flat_map(|sample| {
            let window = sample.tcp.as_ref().map(|t| t.window_us);
            let series = sample.probes.as_ref().and_then(|p| p.series.as_ref());
            let points = series.map(|s| s.points(Column::RttNs)).unwrap_or_default();
            let counts = move |at: i64| window.is_none_or(|[from, to]| (from..to).contains(&at));
            points.into_iter().filter(move |(at, _)| counts(*at))
        });
        let mut sorted_us: Vec<f64> = rtts.map(|(_, ns)| ns as f64 / 1e3).collect();
        sorted_us.sort_by(f64::total_cmp);
        Self { sorted_us }
    }

    /// Number of probes.
    pub fn len(&self) -> usize {
        self.sorted_us.len()
    }

    /// Returns true if no probe was answered.
    pub fn is_empty(&self) -> bool {
        self.sorted_us.is_empty()
    }

    /// The fastest, µs.
    pub fn min_us(&self) -> Option<f64> {
        self.sorted_us.first().copied()
    }

    /// The slowest, µs.
    pub fn max_us(&self) -> Option<f64> {
        self.sorted_us.last().copied()
    }

    /// The RTT that this share of the probes does not exceed, µs.
    pub fn at_us(&self, share: f64) -> Option<f64> {
        stats::percentile(&self.sorted_us, share * 100.0)
    }

    /// RTT, µs, and cumulative share of the probes. Quantiles beyond the resolution of the number
    /// of probes are not in it, except the slowest.
    pub fn curve(&self) -> Vec<[f64; 2]> {
        let even = (0..STEPS).map(|i| i as f64 / STEPS as f64);
        let finest = 1.0 - 1.0 / self.len().max(1) as f64;
        let shares = even.chain(TOP).filter(|s| *s <= finest || *s == 1.0);
        let point = |share: f64| Some([self.at_us(share)?, share]);
        shares.filter_map(point).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_rises_and_ends_at_the_slowest() {
        let few = Distribution {
            sorted_us: vec![10.0, 11.0, 30.0],
        };
        let curve = few.curve();
        let rises = |w: &[[f64; 2]]| w[0][0] <= w[1][0] && w[0][1] < w[1][1];
        assert!(curve.windows(2).all(rises));
        assert_eq!(curve.first(), Some(&[10.0, 0.0]));
        assert_eq!(curve.last(), Some(&[30.0, 1.0]));
        assert_eq!(Distribution::default().curve(), Vec::<[f64; 2]>::new());
    }

    /// The page of a run had percentiles by the nearest rank, and its figures interpolated ones.
    #[test]
    fn quantiles_are_those_of_the_figures() {
        let two = Distribution {
            sorted_us: vec![10.0, 20.0],
        };
        // Half-way between the two, as the figure `rtt_p50_us` of two probes is.
        assert!(two.curve().contains(&[15.0, 0.5]));
    }
}
