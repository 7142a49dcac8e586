//! Checks of CUBIC's curve: the time to return to the window before a loss.

use sys::tcp_info::TcpInfo;

use super::{
    Check, Expect, Line, Work,
    outcome::Outcome,
    theory::{BETA, C, cubic_k},
};

pub(super) const CHECKS: &[Check] = &[Check {
    name: "CUBIC's curve",
    source: "RFC 9438 section 4.2: K = cbrt(Wmax * 0.3 / 0.4)",
    work: Work::Cells(include_str!("specs/curve.toml"), judge),
}];

/// State of congestion avoidance in which the window grows (`TCP_CA_Open`).
const OPEN: u8 = 0;

/// The window after one loss.
struct Epoch {
    /// The window to which the curve returns.
    target: f64,
    /// Time since the curve began and the window, in segments.
    points: Vec<(f64, f64)>,
}

/// The epochs between losses, without the first, whose target is unknown.
fn epochs(series: &[(f64, TcpInfo)]) -> Vec<Epoch> {
    let mut epochs: Vec<Epoch> = Vec::new();
    let (mut target, mut last, mut began) = (0.0, None, None);
    for (at, info) in series {
        if info.ca_state != OPEN {
            began = None;
            continue;
        }
        let window = f64::from(info.snd_cwnd);
        let began = *began.get_or_insert_with(|| {
            let before = last.unwrap_or(window);
            // Fast convergence (RFC 9438 section 4.7).
            target = if before < target {
                before * (1.0 + BETA) / 2.0
            } else {
                before
            };
            epochs.push(Epoch {
                target,
                points: Vec::new(),
            });
            *at
        });
        last = Some(window);
        if let Some(epoch) = epochs.last_mut() {
            epoch.points.push((at - began, window));
        }
    }
    epochs.into_iter().skip(1).collect()
}

/// K from each point of the curve's first half, where a single segment has little effect: W = C (t
/// - K)^3 + Wmax.
fn measured_k(epoch: &Epoch) -> Option<f64> {
    let half = cubic_k(epoch.target) / 2.0;
    let inside = epoch.points.iter().filter(|(t, _)| (0.5..half).contains(t));
    let ks: Vec<f64> = inside
        .map(|(t, window)| t + ((epoch.target - window) / C).cbrt())
        .collect();
    stats::median(&ks)
}

fn judge(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let Some(s) = outcomes.first() else {
        return Vec::new();
    };
    let all = epochs(&s.senders());
    // The last epoch may be incomplete.
    let whole = all.split_last().map_or(&[][..], |(_, whole)| whole);
    let one = |(number, epoch): (usize, &Epoch)| {
        // The window follows the curve with up to a round trip between.
        let expected = Expect::near(cubic_k(epoch.target), s.rtt_s());
        Line::new(
            format!("K after loss {number}"),
            expected,
            measured_k(epoch),
            "s",
        )
    };
    let mut lines: Vec<Line> = (1..).zip(whole.iter().take(3)).map(one).collect();
    if lines.is_empty() {
        lines.push(Line::failed(String::new(), "no epoch between two losses"));
    }
    lines
}
