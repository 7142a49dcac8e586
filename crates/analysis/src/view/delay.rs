//! Round trips without own load, and the delay added by a load.

use model::net::Direction;

use super::{DirectionView, Load, View};
use crate::figures::added_us;

/// Rise of the round trip above the smallest of the Run that shows a queue, µs ...
const RISES_US: f64 = 2_000.0;
/// ... and as a share of that smallest one.
const RISES: f64 = 0.05;
/// Idle median above the smallest round trip that a queue makes if probes also get lost, µs: jitter
/// is mostly a part of the round trip, and where radio makes it a multiple, its retransmissions
/// leave no loss.
const FAR_US: f64 = 10_000.0;
/// Share of idle probes that a full queue drops at least.
const DROPS: f64 = 0.01;
/// Correlation of idle delay over 40 ms from which its variation is attributed to a queue, not to
/// chance.
const SLOW: f64 = 0.6;
/// The same from which it is not chance that it varies slowly, for some hundred probes: of 109
/// drawn paths with random loss and without other traffic, none varied by more than [`DRIFTS_US`]
/// with as much correlation (draws 1, 2, 1000 and 1001 of docs/drawn.md).
const DRIFT: f64 = 0.3;
/// The same below which it varies from packet to packet, as jitter does: two standard errors of 200
/// probes above 0.
const CHANCE: f64 = 0.15;
/// Variation of the idle round trip above that of hosts and clocks, µs.
const DRIFTS_US: f64 = 1_000.0;

impl View<'_> {
    /// Rise above the smallest round trip from which a queue shows, µs.
    pub fn rise_limit_us(&self) -> f64 {
        RISES_US.max(RISES * self.floor_us().unwrap_or(0.0))
    }

    /// Idle round trip above the path's smallest, µs, if a queue that others fill explains it: it
    /// never returns to the smallest one, varies as slowly as a queue, or mostly waits where
    /// packets get lost. Where it varies from packet to packet, as jitter does, the smallest of some
    /// hundred probes is chance, and only a gap above all of that variation shows a queue.
    pub fn idle_rise_us(&self) -> Option<f64> {
        let (idle, floor, limit) = (self.idle()?, self.floor_us()?, self.rise_limit_us());
        let by_chance = self.idle_correlation().is_some_and(|c| c < CHANCE);
        let spread = idle.p95_us.filter(|_| by_chance).map(|p95| p95 - idle.min_us);
        let never = idle.min_us - floor > spread.unwrap_or(0.0).max(limit);
        let slow = self.idle_correlation().is_some_and(|c| c >= SLOW);
        let rise = idle.p50_us - floor;
        let varies = idle.variation_us().is_some_and(|us| us > limit);
        let drops = idle.lost > DROPS * idle.sent;
        let far = varies && drops && rise > floor.max(FAR_US);
        (never || far || slow && rise > limit).then_some(rise)
    }

    /// Variation of the idle round trip, µs, if it is slow, as that of a queue that others fill and
    /// drain: a sign of other traffic also where its queue is short.
    pub fn idle_drift_us(&self) -> Option<f64> {
        let varies = self.idle()?.variation_us().filter(|us| *us > DRIFTS_US)?;
        let slow = self.idle_correlation().is_some_and(|c| c >= DRIFT);
        slow.then_some(varies)
    }

    /// Base round trip, µs, without any queue: the idle median, or the smallest of the Run where
    /// others queued while it was idle. `None` without idle probes.
    pub fn base_us(&self) -> Option<f64> {
        let queued = self.idle_rise_us().and_then(|_| self.floor_us());
        queued.or_else(|| Some(self.idle()?.p50_us))
    }

    /// Round trip without any queue, µs, also of a Run without idle probes: [`Self::base_us`], else
    /// the smallest round trip of all samples.
    pub fn unqueued_us(&self) -> Option<f64> {
        self.base_us().or_else(|| self.floor_us())
    }

    /// The median round trip of the probes beside a direction's default load, µs: the higher value
    /// of both directions, with its direction.
    pub fn loaded_us(&self) -> Option<(f64, Direction)> {
        let loaded = self.directions().into_iter().filter_map(|dir| {
            let load = dir.default_load()?;
            Some((load.probe_p50_us?, dir.direction))
        });
        loaded.max_by(|a, b| a.0.total_cmp(&b.0))
    }
}

impl DirectionView<'_> {
    /// Added delay of a load, µs: the figure `rtt_p50_us` of the probes beside it over
    /// [`View::base_us`].
    pub fn added_delay_us(&self, load: &Load) -> Option<f64> {
        Some(added_us(load.probe_p50_us?, self.view.base_us()?))
    }
}
