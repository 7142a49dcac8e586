//! A TCP load after slow start.

use std::borrow::Cow;

use model::run::{AfterStart, FlowResult, Sample};

use super::{DirectionView, Load};
use crate::start;

/// All repeats of a load after slow start.
#[derive(Clone, Debug, Default)]
pub struct Steady {
    /// Round trips in it, the median over the flows.
    pub round_trips: f64,
    /// Data segments sent in it, of all flows.
    pub segments: f64,
    /// Smoothed round trip before each loss event, µs.
    pub events_us: Vec<f64>,
}

impl Steady {
    /// Loss events per segment: `p` of the response function of a congestion control (RFC 5348
    /// section 5.2: losses within one round trip are one event).
    pub fn event_rate(&self) -> Option<f64> {
        (self.segments > 0.0).then(|| self.events_us.len() as f64 / self.segments)
    }

    /// Number of events at which the round trip was at most `limit_us`.
    pub fn events_within(&self, limit_us: f64) -> usize {
        self.events_us.iter().filter(|us| **us <= limit_us).count()
    }
}

impl DirectionView<'_> {
    /// A load after slow start; `None` if it is not known where that ended.
    pub fn steady(&self, load: &Load) -> Option<Steady> {
        let mut all = Steady::default();
        let mut trips = Vec::new();
        for sample in self.samples_of(load) {
            for part in flows(sample).filter_map(part) {
                let [from, to] = part.window_us;
                trips.push((to - from) as f64 / part.rtt_us.max(1.0));
                all.segments += part.segments;
                all.events_us.extend(&part.events_us);
            }
        }
        all.round_trips = stats::median(&trips)?;
        Some(all)
    }

    /// Round trips of a load after slow start. A load whose slow start never ended counts from its
    /// start: a window that doubles each round trip reaches any limit within twenty. `None` if the
    /// round trip is not known.
    pub fn round_trips(&self, load: &Load) -> Option<f64> {
        if let Some(steady) = self.steady(load) {
            return Some(steady.round_trips);
        }
        Some(load.window_s[1] * 1e6 / load.rtt_us()?.max(1.0))
    }
}

fn flows(sample: &Sample) -> impl Iterator<Item = &FlowResult> {
    sample.tcp.iter().flat_map(|tcp| &tcp.flows)
}

/// Returns the part from the measurement, or from the series of Runs of older versions.
fn part(flow: &FlowResult) -> Option<Cow<'_, AfterStart>> {
    if let Some(known) = &flow.after_start {
        return Some(Cow::Borrowed(known));
    }
    start::after_start(flow.series.as_ref()?).map(Cow::Owned)
}
