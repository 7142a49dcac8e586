//! Processor profiles of both hosts under load, by layer.

use analysis::hotspots::{self, Profile};
use model::{
    evidence::HotSpotClass,
    net::{Layer, Side},
    run::Run,
};

use crate::number::percent;

/// Minimum share that is listed.
const WORTH: f64 = 0.01;

/// A line for each layer and host that was profiled during a bulk load.
pub(crate) fn lines(run: &Run) -> Vec<String> {
    let mut lines = Vec::new();
    for (layer, name) in [(Layer::Underlay, "underlay"), (Layer::Tunnel, "tunnel")] {
        for (side, end) in [(Side::Near, "near"), (Side::Far, "far")] {
            if let Some(profile) = hotspots::under_load(run, layer, side) {
                lines.push(format!("{name}, {end} host: {}", line(&profile)));
            }
        }
    }
    lines
}

/// The relevant shares, largest first, with the number of samples.
fn line(profile: &Profile) -> String {
    let worth = profile.shares.iter().filter(|(_, share)| *share >= WORTH);
    let words: Vec<String> = worth
        .map(|(class, share)| format!("{} {}", name(*class), percent(*share)))
        .collect();
    format!("{} (n = {})", words.join(", "), profile.samples)
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

    #[test]
    fn a_line_leaves_out_shares_below_a_hundredth() {
        use HotSpotClass::{Copy, Crypto, User};
        let profile = Profile {
            shares: vec![(Copy, 0.75), (Crypto, 0.245), (User, 0.005)],
            samples: 400,
        };
        assert_eq!(
            line(&profile),
            "copies and checksums 75 %, encryption 24.5 % (n = 400)"
        );
    }
}
