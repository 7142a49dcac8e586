//! Loss below the knee, which no queue causes.

use analysis::view::{Datagrams, DirectionView, Load};

use super::estimate::Estimate;

/// A load below this share of the path's capacity does not fill its queue.
const UNFILLED: f64 = 0.8;
/// Losses from which on their pattern is reported.
const ENOUGH_LOST: f64 = 20.0;
/// Ratio of the mean length of a run of losses to that of independent losses from which they count
/// as bursts.
const BURSTY: f64 = 1.5;

/// Loss of a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossMoments {
    /// Share of packets, 0 to 1.
    pub share: Estimate,
    /// Packets that it was counted over.
    pub packets: f64,
    /// Mean length of a run of losses, packets; absent if they are not in bursts.
    pub run: Option<f64>,
}

impl LossMoments {
    /// Counts losses where no queue was full: datagrams below the knee, and segments of loads
    /// clearly below the capacity of the path. Events are taken as independent (Wilson's interval);
    /// of bursts, the runs are.
    pub(super) fn of(dir: &DirectionView<'_>, policed: bool) -> Self {
        let (mut lost, mut sent) = (0.0, 0.0);
        let mut run = None;
        if let Some(sweep) = dir.sweep() {
            lost += sweep.below.lost;
            sent += sweep.below.sent;
            run = burst(&sweep.below);
        }
        for load in dir.loads().iter().filter(|_| !policed) {
            if let Some((l, s)) = segments(dir, load) {
                lost += l;
                sent += s;
            }
        }
        let each = run.unwrap_or(1.0);
        let interval = stats::wilson((lost / each).round() as u64, (sent / each).round() as u64);
        let (low, high) = interval.map_or((0.0, 1.0), |i| (i.low, i.high));
        let value = if sent > 0.0 { lost / sent } else { 0.0 };
        Self {
            share: Estimate {
                value,
                low: low.min(value),
                high: high.max(value),
            },
            packets: sent,
            run,
        }
    }
}

/// Lost and sent segments of a load that did not fill the path; overtaken packets mistaken for lost
/// are not among them.
fn segments(dir: &DirectionView<'_>, load: &Load) -> Option<(f64, f64)> {
    let used = dir.utilization(load)?;
    // bbr probes above the rate four times as often as it drains.
    let calm = used < UNFILLED && load.cc != "bbr";
    let sent = load.segments.filter(|sent| calm && *sent > 0.0)?;
    Some((load.loss()? * sent, sent))
}

/// Mean run of losses below the knee, if that is more than chance makes of single ones.
fn burst(below: &Datagrams) -> Option<f64> {
    if below.lost < ENOUGH_LOST || below.loss_runs < 3.0 {
        return None;
    }
    // Independent losses of share p come in runs of 1 / (1 - p).
    let usual = 1.0 / (1.0 - below.loss()).max(0.01);
    below.mean_run().filter(|mean| *mean > BURSTY * usual)
}
