//! Processor time of a host under load, by kind of work.

use std::collections::BTreeMap;

use model::{
    evidence::{HotSpotClass, HotSpots},
    net::{Layer, Side},
    run::{Run, Sample},
};

/// Shares of the samples of the profiles of several loads.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Share of each kind of work, the largest first.
    pub shares: Vec<(HotSpotClass, f64)>,
    /// Number of profiler samples.
    pub samples: u64,
}

/// The profile of a host under the bulk loads of a layer; `None` if there was none.
pub fn under_load(run: &Run, layer: Layer, side: Side) -> Option<Profile> {
    let evidence = |s: &Sample| match side {
        Side::Near => s.near.as_ref()?.hotspots.clone(),
        Side::Far => s.far.as_ref()?.hotspots.clone(),
    };
    let loads = run.samples.iter();
    let loads = loads.filter(|s| s.key.layer == layer && s.tcp.is_some());
    together(loads.filter_map(evidence))
}

/// Profiles as one, each weighing as much as its samples.
fn together(all: impl Iterator<Item = HotSpots>) -> Option<Profile> {
    let mut counts: BTreeMap<HotSpotClass, f64> = BTreeMap::new();
    let mut samples = 0;
    for spots in all {
        samples += spots.samples;
        for (class, share) in spots.shares {
            *counts.entry(class).or_default() += share * spots.samples as f64;
        }
    }
    let share = |(class, count)| (class, count / samples.max(1) as f64);
    let mut shares: Vec<(HotSpotClass, f64)> = counts.into_iter().map(share).collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    (samples > 0).then_some(Profile { shares, samples })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spots(samples: u64, shares: &[(HotSpotClass, f64)]) -> HotSpots {
        HotSpots {
            samples,
            shares: shares.iter().copied().collect(),
            ..HotSpots::default()
        }
    }

    #[test]
    fn samples_weigh_and_the_largest_share_is_first() {
        use HotSpotClass::{Copy, Crypto, User};
        let all = [
            spots(300, &[(Copy, 1.0)]),
            spots(100, &[(Crypto, 0.98), (User, 0.02)]),
        ];
        let found = together(all.into_iter());
        let expected = Profile {
            shares: vec![(Copy, 0.75), (Crypto, 0.245), (User, 0.005)],
            samples: 400,
        };
        assert_eq!(found, Some(expected));
        assert_eq!(together(std::iter::empty()), None);
    }
}
