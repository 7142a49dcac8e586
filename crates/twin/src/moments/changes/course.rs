//! Rates that a load shows over time.

use analysis::{
    flow,
    models::packet_us,
    view::{DirectionView, Load},
};
use model::{
    counter,
    run::{Column, FlowResult, Sample},
    wire::Wire,
};

use crate::moments::{payload::on_wire, queue::TRAINS_US};

/// Shortest part of a load, µs: twenty samples of its series ...
const SHORTEST_US: f64 = 200_000.0;
/// ... and so many full packets, of which one at either end is chance.
const PACKETS: f64 = 40.0;
/// A queue is not empty while the smoothed round trip exceeds the slowest without load by so many
/// packets at the observed rate: one is sent, and one more may be chance.
const WAITING: f64 = 3.0;
/// BBR fills the path while so many parts in a row are within this share of their mean.
const STEADY: (usize, f64) = (3, 0.02);

/// A part of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    /// Bit/s with Ethernet headers.
    pub(super) rate_bps: f64,
    /// Bytes that waited at its end, by the smoothed round trip.
    pub(super) waiting_bytes: f64,
    /// True if it shows the rate of the bottleneck.
    pub(super) full: bool,
}

/// Equal parts of one sample.
#[derive(Debug)]
pub(super) struct Course {
    pub(super) part_us: f64,
    pub(super) parts: Vec<Part>,
}

impl Course {
    /// The rates of the parts that show it, bit/s.
    pub(super) fn rates_bps(&self) -> impl Iterator<Item = f64> {
        self.parts.iter().filter(|p| p.full).map(|p| p.rate_bps)
    }
}

/// The rates over time of the samples of a load.
pub(super) fn of_load(dir: &DirectionView<'_>, load: &Load, wire: Wire) -> Vec<Course> {
    let Some(idle_us) = dir.view.unqueued_us() else {
        return Vec::new();
    };
    let varies = dir.view.idle().and_then(|idle| idle.range_us());
    let base_us = idle_us + without_queue_us(varies);
    let mss = load.mss_bytes();
    let packet = mss * on_wire(dir, load, wire);
    let samples = dir.samples_of(load).into_iter();
    let mut courses: Vec<Course> = samples
        .filter_map(|sample| course(sample, packet, base_us))
        .collect();
    if load.cc == "bbr" {
        courses.iter_mut().for_each(|c| mark_steady(&mut c.parts));
    }
    courses
}

/// Increase of TCP's round trip without a queue, µs: the variation of the idle path, and trains of
/// packets and acknowledgements.
fn without_queue_us(varies_us: Option<f64>) -> f64 {
    varies_us.unwrap_or(0.0) + TRAINS_US
}

/// Marks parts of a load of BBR in which it had one rate.
fn mark_steady(parts: &mut [Part]) {
    let (row, near) = STEADY;
    for start in 0..(parts.len() + 1).saturating_sub(row) {
        let some = &mut parts[start..start + row];
        let mean = some.iter().map(|p| p.rate_bps).sum::<f64>() / row as f64;
        let steady = some
            .iter()
            .all(|p| (p.rate_bps - mean).abs() <= near * mean);
        if steady && mean > 0.0 {
            some.iter_mut().for_each(|p| p.full = true);
        }
    }
}

/// The parts of a sample of one flow, whose packets have `packet` bytes on the line. Packets wait
/// where the smoothed round trip exceeds `base_us`.
fn course(sample: &Sample, packet: f64, base_us: f64) -> Option<Course> {
    let tcp = sample.tcp.as_ref()?;
    let [flow] = tcp.flows.as_slice() else {
        return None;
    };
    let seen = Seen::of(flow, packet, base_us)?;
    let [from, to] = tcp.window_us.map(|us| us as f64);
    let all = seen.packets([from as i64, to as i64])?;
    let packets_s = all / (to - from).max(1.0) * 1e6;
    let part_us = SHORTEST_US.max(PACKETS / packets_s.max(f64::MIN_POSITIVE) * 1e6);
    let count = ((to - from) / part_us).floor();
    let part_us = (to - from) / count;
    let at = |i: u32| (from + f64::from(i) * part_us).round() as i64;
    let parts: Option<Vec<Part>> = (0..count as u32)
        .map(|i| seen.part([at(i), at(i + 1)]))
        .collect();
    Some(Course {
        part_us,
        parts: parts.filter(|parts| !parts.is_empty())?,
    })
}

/// Series of one flow.
struct Seen {
    /// Full segments that the receiver got until a time, µs, in order or not: the bytes of those
    /// behind a gap count together when it is filled.
    arrived: Vec<(i64, f64)>,
    /// Smoothed round trips of the sender above that without a queue, µs.
    waited: Vec<(i64, f64)>,
    packet: f64,
}

impl Seen {
    fn of(flow: &FlowResult, packet: f64, base_us: f64) -> Option<Self> {
        let arrived = flow.received.as_ref()?.grown(Column::DataSegsIn);
        let rtts = flow.series.as_ref()?.points(Column::RttUs);
        let above = |us: u64| (us as f64 - base_us).max(0.0);
        Some(Self {
            arrived,
            waited: rtts.into_iter().map(|(at, us)| (at, above(us))).collect(),
            packet,
        })
    }

    fn packets(&self, [from, to]: [i64; 2]) -> Option<f64> {
        Some(counter::at(&self.arrived, to)? - counter::at(&self.arrived, from)?)
    }

    fn part(&self, [from, to]: [i64; 2]) -> Option<Part> {
        let bytes = self.packets([from, to])? * self.packet;
        let rate_bps = flow::rate_bps(bytes, (to - from) as f64)?;
        let before = |us: i64| self.waited.partition_point(|(at, _)| *at < us);
        let waited = &self.waited[before(from)..before(to).max(before(from))];
        let least = waited.iter().map(|(_, us)| *us).reduce(f64::min)?;
        let (_, last) = waited.last()?;
        Some(Part {
            rate_bps,
            waiting_bytes: last / 1e6 * rate_bps / 8.0,
            full: rate_bps > 0.0 && least > WAITING * packet_us(rate_bps),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use model::run::Series;

    use super::*;

    #[test]
    fn bbr_shows_the_rate_while_it_is_constant_without_any_queue() {
        let levels = [25.0, 24.9, 25.0, 25.1, 18.2, 12.0, 12.0, 11.9, 14.0];
        let part = |mbps: f64| Part {
            rate_bps: mbps * 1e6,
            waiting_bytes: 0.0,
            full: false,
        };
        let mut parts = levels.map(part);
        mark_steady(&mut parts);
        let full: Vec<bool> = parts.iter().map(|p| p.full).collect();
        let known = [true, true, true, true, false, true, true, true, false];
        assert_eq!(full, known);
        mark_steady(&mut []);
    }

    /// Bug: the smallest round trip of TCP is of whole milliseconds on some hosts, 0.8 ms below
    /// that of the idle path. Each part of a load with random loss then seemed to wait in a queue,
    /// and a rate that never changed seemed to follow CUBIC's window.
    #[test]
    fn round_trips_of_acknowledgements_that_wait_for_one_another_are_no_queue() {
        let (idle_us, packet) = (31_774.0, 1514.0);
        let of = |rtt_us: u64| {
            let mut received = Series {
                at_us: vec![0, 200_000],
                ..Series::default()
            };
            // 41 Mbit/s of 61.
            received.push(Column::DataSegsIn, vec![Some(0), Some(677)]);
            let mut sent = Series {
                at_us: vec![50_000, 150_000],
                ..Series::default()
            };
            sent.push(Column::RttUs, vec![Some(rtt_us), Some(rtt_us + 300)]);
            let flow = FlowResult {
                received: Some(received),
                series: Some(sent),
                ..FlowResult::default()
            };
            let seen = Seen::of(&flow, packet, idle_us + without_queue_us(Some(0.6))).unwrap();
            seen.part([0, 200_000]).unwrap()
        };
        assert!(!of(32_232).full && !of(33_000).full);
        let waits = of(41_767);
        assert!(waits.full && (waits.rate_bps / 41e6 - 1.0).abs() < 0.01);
    }
}
