//! The capacity of a path, and the share of it that a load uses. Both are rates of IP packets;
//! payload is compared with payload.

use model::wire::payload_share;

use super::{DirectionView, Load, Sweep};

/// Ratio of TCP to UDP above which only UDP was limited. A little more remained of a queue that was
/// full before the time that counts.
const MORE: f64 = 1.08;

/// Capacity of a direction for any number of flows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Capacity {
    /// Bit/s of IP packets.
    pub bps: f64,
    /// True if no UDP load exceeded it, so that it may be higher.
    pub is_least: bool,
}

impl DirectionView<'_> {
    /// Returns the path's capacity for one flow, bit/s of IP packets: that for UDP, or the maximum
    /// of a TCP load with as few flows where that shows that UDP alone was limited, or its search
    /// ended early. `None` without a sweep, and where neither was limited by the path.
    pub fn flow_capacity_bps(&self) -> Option<f64> {
        let sweep = self.sweep()?;
        let is_reached = sweep.above.is_some() || !self.is_limited_by_processors();
        let tcp_bps = self.carried_by_tcp_bps().fold(0.0, f64::max);
        is_reached.then(|| capacity_bps(&sweep, tcp_bps))
    }

    /// Returns the path's capacity for any number of flows, by the rule of
    /// [`Self::flow_capacity_bps`], or without a sweep the maximum of all TCP loads.
    pub fn line_capacity(&self) -> Option<Capacity> {
        let loads = self.loads();
        let tcp_bps = loads.iter().map(|load| self.packets_bps(load));
        let tcp_bps = tcp_bps.reduce(f64::max);
        Some(match self.sweep() {
            Some(sweep) => Capacity {
                bps: capacity_bps(&sweep, tcp_bps.unwrap_or(0.0)),
                is_least: sweep.above.is_none(),
            },
            None => Capacity {
                bps: tcp_bps?,
                is_least: true,
            },
        })
    }

    /// Returns true if every TCP load met a busy processor: its rate is then one of the hosts, and
    /// no sample of it counts.
    pub fn is_limited_by_processors(&self) -> bool {
        let samples = self.tcp_samples();
        !samples.is_empty() && samples.iter().all(|sample| !sample.valid)
    }

    /// Returns the minimum capacity of the path, bit/s of IP packets: [`Self::flow_capacity_bps`],
    /// or without a sweep the maximum delivered by a TCP load with the fewest flows.
    pub fn carried_bps(&self) -> Option<f64> {
        let by_tcp = || self.carried_by_tcp_bps().reduce(f64::max);
        self.flow_capacity_bps().or_else(by_tcp)
    }

    /// Rates of the IP packets of the loads with the fewest flows, bit/s.
    pub(super) fn carried_by_tcp_bps(&self) -> impl Iterator<Item = f64> {
        let loads = self.single_loads().into_iter();
        loads.map(|load| self.packets_bps(&load))
    }

    /// Rate of a load's IP packets, bit/s: that of its payload, with the headers of full packets
    /// ([`model::net::IpVersion::tcp_headers`]).
    pub fn packets_bps(&self, load: &Load) -> f64 {
        load.goodput_bps / self.payload_share(load)
    }

    /// Share of a load's full packets that is payload.
    pub(super) fn payload_share(&self, load: &Load) -> f64 {
        payload_share(load.mss_bytes(), self.view.family.tcp_headers())
    }

    /// Returns the path's capacity for one flow as payload in packets of a load's size, bit/s.
    pub fn payload_capacity_bps(&self, load: &Load) -> Option<f64> {
        Some(self.flow_capacity_bps()? * self.payload_share(load))
    }

    /// Returns the share of the path's capacity that a load's packets use, at most 1; `None`
    /// without a sweep.
    pub fn utilization(&self, load: &Load) -> Option<f64> {
        let carries = self.flow_capacity_bps().filter(|c| *c > 0.0)?;
        Some((self.packets_bps(load) / carries).min(1.0))
    }

    /// Ratio of a load's packets to the packets of UDP at the path's capacity for UDP; `None`
    /// without a sweep.
    pub fn over_udp(&self, load: &Load) -> Option<f64> {
        let udp = self.sweep()?.capacity_bps;
        (udp > 0.0).then(|| self.packets_bps(load) / udp)
    }
}

/// The capacity for UDP, or what TCP got through where UDP was not limited by the path.
fn capacity_bps(sweep: &Sweep, tcp_bps: f64) -> f64 {
    let udp_bps = sweep.capacity_bps;
    match sweep.above.is_none() || tcp_bps > MORE * udp_bps {
        true => udp_bps.max(tcp_bps),
        false => udp_bps,
    }
}
