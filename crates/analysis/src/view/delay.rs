//! Round trips without own load, and the delay added by a load.

use model::net::Direction;

use super::{DirectionView, Load, View};
use crate::figures::added_us;

impl View<'_> {
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
