//! Queues on the path: maximum round trips, with and without own load.

use model::run::{Sample, SweepStep};

use super::{DirectionView, Load, View};
use crate::{datagrams, figures::added_us, flows, models};

/// Up to this share of the path's BDP, a flow's own packets do not queue.
const HOLDS: f64 = 0.7;
/// Loss of a step from which a queue, if there is one, is full.
const FULL: f64 = 0.05;

/// Packets at the bottleneck without a queue: the one in transmission, and half of another.
const PACKETS: f64 = 1.5;
/// Increase that timers and scheduling of hosts explain, µs.
const TIMERS_US: f64 = 300.0;
/// Share of the idle variation by which a median varies.
const OF_MEDIANS: f64 = 0.3;
/// A load of at least this share of the path's capacity fills it.
const FILLED: f64 = 0.9;
/// A step of this many round trips shows the delay of its overload in the probes; in a shorter one
/// most probes are answered before the queue has grown.
const LASTS: f64 = 1.5;

/// Increases of the round trip by overload and by full loads, µs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rises {
    /// Probes during the smallest and the largest overload of UDP of sufficient length, medians.
    pub overload_us: Option<[f64; 2]>,
    /// Probes during TCP that fills the path, the highest 95th percentile.
    pub loaded_us: Option<f64>,
    /// Smoothed round trip of such TCP, the highest median.
    pub own_us: Option<f64>,
    /// Increases without a queue: of medians, and of 95th percentiles and maxima.
    pub chance_us: [f64; 2],
}

impl View<'_> {
    /// The smallest round trip of all samples of this layer, µs: that of the path without any
    /// queue, or with the shortest queue observed. With reordering, some packets took a shorter
    /// path, and it is the smallest median.
    pub fn floor_us(&self) -> Option<f64> {
        let overtaken = self.overtaken();
        let of = |s: &Sample| {
            let probes = s.probes.as_ref();
            if overtaken {
                let steps = s.sweep.iter().filter_map(|step| step.rtt_p50_us);
                let median = probes.and_then(|p| p.p50_us);
                return steps.chain(median).reduce(f64::min);
            }
            let tcp = s.tcp.iter().flat_map(|t| &t.flows);
            let tcp = tcp.filter_map(|f| f.min_rtt_us);
            tcp.chain(probes.and_then(|p| p.min_us)).reduce(f64::min)
        };
        self.samples().filter_map(of).reduce(f64::min)
    }

    /// Returns true if UDP or TCP saw reordered packets.
    fn overtaken(&self) -> bool {
        let by_udp = |s: &Sample| s.sweep.iter().any(|step| step.udp.reordered > 0);
        let by_tcp = |s: &Sample| {
            let flows = s.tcp.iter().flat_map(|t| &t.flows);
            flows.filter_map(|f| f.reord_seen).any(|n| n > 0)
        };
        self.samples().any(|s| by_udp(s) || by_tcp(s))
    }
}

impl DirectionView<'_> {
    /// Round trip beside UDP that fills no queue, µs: that without any queue, or the highest of the
    /// steps below the capacity, since dense traffic has more of a varying delay than probes.
    pub fn calm_us(&self) -> Option<f64> {
        let dense = self.sweep().and_then(|sweep| sweep.below_rtt_us);
        dense
            .into_iter()
            .chain(self.view.unqueued_us())
            .reduce(f64::max)
    }

    /// Returns the increase in round-trip time by UDP above the capacity, over [`Self::calm_us`],
    /// µs: the delay of the full queue of this direction, since datagrams fill no other.
    pub fn overload_rise_us(&self) -> Option<f64> {
        Some(added_us(self.overload_rtt_us()?, self.calm_us()?))
    }

    /// Round trip with this direction's queue full, µs: during UDP above the capacity, or the
    /// highest 95th percentile during TCP if no step of UDP reached it. A slower step that loses
    /// much may have met a queue that others fill for a moment, longer than this one ever is.
    pub fn full_us(&self) -> Option<f64> {
        let loads = self.loads();
        let beside = loads.iter().filter_map(|load| load.probe_p95_us);
        let udp = self.sweep().and_then(|sweep| sweep.above?.rtt_us);
        udp.or_else(|| beside.reduce(f64::max))
    }

    /// The highest round trip beside UDP above the capacity or with much loss, µs.
    fn overload_rtt_us(&self) -> Option<f64> {
        let sweep = self.sweep()?;
        // A queue that yields its rate to the heaviest sender overflows below its maximum rate.
        let full = sweep.steps.iter().filter(|s| s.udp.lost >= FULL);
        let full = full.filter_map(|s| s.rtt_p50_us);
        let above = sweep.above.and_then(|above| above.rtt_us);
        full.chain(above).reduce(f64::max)
    }

    /// Increases of the round trip that occur without a queue, µs: of medians, and of 95th
    /// percentiles and maxima.
    pub fn chance_us(&self) -> [f64; 2] {
        let packets = self.line_capacity().filter(|line| line.bps > 0.0);
        let packets_us = packets.map_or(0.0, |line| PACKETS * models::packet_us(line.bps));
        let varies = self.view.idle().and_then(|idle| idle.variation_us());
        let varies_us = varies.unwrap_or(0.0);
        [OF_MEDIANS * varies_us, varies_us].map(|us| us.max(packets_us).max(TIMERS_US))
    }

    /// The increases of the round trip that show this direction's queue.
    pub fn rises(&self) -> Option<Rises> {
        let base_us = self.view.unqueued_us()?;
        let loads = self.loads();
        let fills = |load: &&Load| self.utilization(load).is_some_and(|used| used >= FILLED);
        let highest = |of: fn(&Load) -> Option<f64>| {
            let rtts = loads.iter().filter(fills).filter_map(of);
            rtts.map(|us| added_us(us, base_us)).reduce(f64::max)
        };
        Some(Rises {
            overload_us: self.overload_rises_us(base_us),
            loaded_us: highest(|load| load.probe_p95_us.or(load.probe_p50_us)),
            own_us: highest(|load| load.rtt_p50_us),
            chance_us: self.chance_us(),
        })
    }

    fn overload_rises_us(&self, base_us: f64) -> Option<[f64; 2]> {
        let (overloads, calm_us) = (self.sweep()?.overloads(), self.calm_us()?);
        let lasts = |step: &&SweepStep| datagrams::span_s(&step.udp) * 1e6 >= LASTS * base_us;
        let rtts: Vec<f64> = overloads
            .iter()
            .filter(lasts)
            .filter_map(|step| step.rtt_p50_us)
            .collect();
        Some([*rtts.first()?, *rtts.last()?].map(|us| added_us(us, calm_us)))
    }

    /// Returns a load's data in flight over the path's BDP: above 1, the excess waits in a queue.
    /// On a path whose delay varies by chance the BDP is that of the median. `None` without a
    /// sweep.
    pub fn pipe_share(&self, load: &Load) -> Option<f64> {
        let rtt = self.view.unqueued_us()?;
        let holds = self.flow_capacity_bps()? * rtt;
        (holds > 0.0).then_some(self.packets_bps(load) * load.rtt_us()? / holds)
    }

    /// Standing delay beside a load in a queue that it does not fill itself, µs: the smallest round
    /// trip of the probes above that of the Run, in a repeat with too little in flight to queue; 0
    /// in another. The median over the repeats; `None` without a sweep or probes.
    pub fn standing_us(&self, load: &Load) -> Option<f64> {
        let floor = self.view.floor_us()?;
        let holds = HOLDS * self.payload_capacity_bps(load)? * floor;
        let of = |s: &Sample| {
            let (tcp, probes) = (s.tcp.as_ref()?, s.probes.as_ref()?);
            let rtt = flows::median(&tcp.flows, |f| f.rtt_p50_us).or(probes.p50_us)?;
            let below = tcp.goodput_bps * rtt < holds;
            Some(if below { probes.min_us? - floor } else { 0.0 })
        };
        let values: Vec<f64> = self.samples_of(load).into_iter().filter_map(of).collect();
        stats::median(&values)
    }

    /// Share of the reverse direction's capacity that the acknowledgements of a load take: one of
    /// 80 bytes with its link header for every second segment (RFC 9293 section 3.8.6.3).
    pub fn acknowledgements_share(&self, load: &Load) -> Option<f64> {
        const BITS: f64 = 80.0 * 8.0;
        let back = self.reverse().sweep()?.capacity_bps;
        let each_s = load.goodput_bps / 8.0 / load.mss_bytes() / 2.0;
        (back > 0.0).then(|| each_s * BITS / back)
    }
}

/// A step of a sweep with a full queue although the path carries more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overflow {
    /// Its rate, bit/s of payload.
    pub rate_bps: f64,
    /// Share of its datagrams that was lost.
    pub lost: f64,
    /// Round trip beside it, µs.
    pub rtt_us: f64,
}

/// Minimum share and number of a step's datagrams that show an overflow, not single losses.
const OVERFLOW: (f64, u64) = (0.01, 3);
/// Variation of the spacing of datagrams, as a share of the time of a full packet at the
/// bottleneck, below which no queue on their path is filled by others: packets of others would be
/// between them.
const EVEN: f64 = 0.1;
/// A full queue that delays by less cannot be distinguished from chance, µs.
const SLIGHT_US: f64 = 2_000.0;

impl DirectionView<'_> {
    /// Variation of the spacing of datagrams below the capacity, RFC 3550's jitter estimate in
    /// times of a packet at the capacity; `None` if that was not measured.
    pub fn spacing_packets(&self) -> Option<f64> {
        let sweep = self.sweep()?;
        let packet_us = models::packet_us(sweep.capacity_bps);
        let below = sweep.steps.iter().filter(|s| sweep.leaves_room(&s.udp));
        let jitters: Vec<f64> = below.filter_map(|s| s.udp.jitter_us).collect();
        Some(stats::median(&jitters)? / packet_us)
    }

    /// Returns whether datagrams below the capacity arrive as evenly as they were sent: then the
    /// delay of round trips arises in the other direction. `None` if that was not measured.
    pub fn arrives_evenly(&self) -> Option<bool> {
        Some(self.spacing_packets()? < EVEN)
    }

    /// The slowest step well below the capacity that loses datagrams in a full queue: a queue that
    /// others fill, or that yields its rate to the heaviest sender.
    pub fn overflow_below(&self) -> Option<Overflow> {
        let sweep = self.sweep()?;
        if self.arrives_evenly() == Some(true) {
            return None;
        }
        // Of the steps below the capacity, too, since one of them may have a full queue.
        let room = sweep.steps.iter().filter(|s| sweep.leaves_room(&s.udp));
        let calm = room.filter_map(|s| s.rtt_p50_us).reduce(f64::min)?;
        let full = self.overload_rtt_us()?;
        let packets_us = 2.0 * models::packet_us(sweep.capacity_bps);
        if full - calm < packets_us.max(SLIGHT_US) {
            return None;
        }
        let chance_us = self.view.usual_by_chance_us();
        let overflows = |s: &SweepStep| {
            let udp = &s.udp;
            let lost = udp.sent.saturating_sub(udp.received);
            let rtt_us = s.rtt_p50_us?;
            let below = sweep.leaves_room(udp);
            let loses = udp.lost >= OVERFLOW.0 && lost >= OVERFLOW.1;
            let waits = rtt_us - calm > 0.5 * (full - calm) && rtt_us > chance_us;
            (below && loses && waits).then_some(Overflow {
                rate_bps: udp.sent_bps,
                lost: udp.lost,
                rtt_us,
            })
        };
        let found = sweep.steps.iter().filter_map(overflows);
        found.min_by(|a, b| a.rate_bps.total_cmp(&b.rate_bps))
    }
}
