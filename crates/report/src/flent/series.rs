//! Time series in flent's points.

use analysis::over_time;
use model::{
    net::Direction,
    run::{Column, Probes, Sample},
};

use super::test::Repeat;

/// flent's default step size, µs.
pub(super) const STEP_US: f64 = 200_000.0;
/// Step size of tests with probes only, µs.
pub(super) const IDLE_STEP_US: f64 = 100_000.0;

/// A data series of flent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SeriesKind {
    /// Goodput of one flow, by its index.
    Flow(Direction, usize),
    /// Goodput of all flows.
    Sum(Direction),
    /// Mean goodput of the flows.
    Mean(Direction),
    /// RTT of the probes.
    Ping,
}

/// A slot of the time axis within a repeat, from and to in µs after its start.
#[derive(Clone, Copy)]
pub(super) struct Slot<'a> {
    repeat: &'a Repeat<'a>,
    pub(super) window_us: [i64; 2],
}

impl Repeat<'_> {
    pub(super) fn sample(&self, direction: Direction) -> Option<&Sample> {
        let is = |s: &&&Sample| s.key.direction == Some(direction);
        self.samples.iter().find(is).copied()
    }

    /// The probes during the load, common to both directions.
    fn probes(&self) -> Option<&Probes> {
        self.samples.iter().find_map(|s| s.probes.as_ref())
    }

    /// Valid probes: sending times in µs after the start of the repeat, and RTTs in ms.
    pub(super) fn pings(&self) -> Vec<(i64, Option<f64>)> {
        let Some((probes, series)) = self.probes().and_then(|p| Some((p, p.series.as_ref()?)))
        else {
            return Vec::new();
        };
        let tcp = self.samples.iter().find_map(|s| s.tcp.as_ref());
        let from = tcp.map_or(0, |tcp| tcp.window_us[0]);
        let rtts = series.column(Column::RttNs).unwrap_or_default();
        series
            .at_us
            .iter()
            .zip(rtts)
            .filter(|(at, _)| **at >= from)
            .take(probes.sent as usize)
            .map(|(at, rtt)| (*at, rtt.map(|ns| ns as f64 / 1e6)))
            .collect()
    }

    /// The measured time in slots of about flent's step size.
    pub(super) fn slots(&self) -> Vec<Slot<'_>> {
        let tcp = self.samples.iter().find_map(|s| s.tcp.as_ref());
        let (window, step_us) = match tcp {
            Some(tcp) => (tcp.window_us, STEP_US),
            None => {
                let last = self.pings().last().map_or(0, |(at, _)| at + 1);
                ([0, last], IDLE_STEP_US)
            }
        };
        let span = (window[1] - window[0]) as f64;
        let n = (span / step_us).round().max(1.0);
        let at = |k: f64| window[0] + (span * k / n).round() as i64;
        let ends = (1..=n as u32).map(f64::from);
        ends.map(|k| Slot {
            repeat: self,
            window_us: [at(k - 1.0), at(k)],
        })
        .collect()
    }
}

impl Slot<'_> {
    pub(super) fn value(&self, series: SeriesKind) -> Option<f64> {
        let flows = |direction| -> Option<Vec<f64>> {
            let tcp = self.repeat.sample(direction)?.tcp.as_ref()?;
            // Mbit/s, as in flent.
            let bps = over_time::goodputs_bps(&tcp.flows, self.window_us)?;
            Some(bps.into_iter().map(|bps| bps / 1e6).collect())
        };
        match series {
            SeriesKind::Flow(direction, place) => flows(direction)?.get(place).copied(),
            SeriesKind::Sum(direction) => Some(flows(direction)?.iter().sum()),
            SeriesKind::Mean(direction) => over_time::mean(flows(direction)?.into_iter()),
            SeriesKind::Ping => {
                let within =
                    |(at, _): &(i64, _)| (self.window_us[0]..self.window_us[1]).contains(at);
                let pings = self.repeat.pings().into_iter().filter(within);
                over_time::mean(pings.filter_map(|(_, ms)| ms))
            }
        }
    }
}
