//! Processor profiles of both hosts under load, by layer.

use std::collections::BTreeMap;

use model::{
    evidence::{Evidence, HotSpotClass, HotSpots},
    net::Layer,
    run::{Run, Sample},
};

use crate::number::percent;

/// Minimum share that is listed.
const WORTH: f64 = 0.01;

/// A line for each layer and host that was profiled during a bulk load.
pub(crate) fn lines(run: &Run) -> Vec<String> {
    type Of = fn(&Sample) -> Option<&Evidence>;
    let near: Of = |s| s.near.as_ref();
    let far: Of = |s| s.far.as_ref();
    let mut lines = Vec::new();
    for (layer, name) in [(Layer::Underlay, "underlay"), (Layer::Tunnel, "tunnel")] {
        for (end, evidence) in [("near", near), ("far", far)] {
            let loads = run
                .samples
                .iter()
                .filter(|s| s.key.layer == layer && s.tcp.is_some());
            let spots = loads
                .filter_map(evidence)
                .filter_map(|e| e.hotspots.as_ref());
            if let Some(shares) = shares(spots) {
                lines.push(format!("{name}, {end} host: {shares}"));
            }
        }
    }
    lines
}

/// The combined shares, largest first, with the number of samples; `None` without samples.
fn shares<'a>(all: impl Iterator<Item = &'a HotSpots>) -> Option<String> {
    let mut counts: BTreeMap<HotSpotClass, f64> = BTreeMap::new();
    let mut samples = 0;
    for spots in all {
        samples += spots.samples;
        for (class, share) in &spots.shares {
            *counts.entry(*class).or_default() += share * spots.samples as f64;
        }
    }
    let mut shares: Vec<(HotSpotClass, f64)> = counts
        .into_iter()
        .map(|(class, count)| (class, count / samples.max(1) as f64))
        .filter(|(_, share)| *share >= WORTH)
        .collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    let words: Vec<String> = shares
        .into_iter()
        .map(|(class, share)| format!("{} {}", name(class), percent(share)))
        .collect();
    (samples > 0).then(|| format!("{} (n = {samples})", words.join(", ")))
}

fn name(class: HotSpotClass) -> &'static str {
    match class {
        HotSpotClass::Crypto => "encryption",
        HotSpotClass::Copy => "copies and checksums",
        HotSpotClass::Syscall => "system calls",
        HotSpotClass::Softirq => "network stack below TCP",
        HotSpotClass::Tcp => "TCP",
        HotSpotClass::Driver => "drivers",
        HotSpotClass::User => "programs",
        HotSpotClass::Other => "rest of the kernel",
    }
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
        // 300 of 400, 98 of 400; 2 of 400 is below the minimum.
        assert_eq!(
            shares(all.iter()).as_deref(),
            Some("copies and checksums 75.0%, encryption 24.5% (n = 400)")
        );
        assert_eq!(shares([].iter()), None);
    }
}
