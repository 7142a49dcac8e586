//! The capacity of a path, and the share of it that a load uses. Both are rates of IP packets;
//! payload is compared with payload.

use super::{DirectionView, Load};

impl DirectionView<'_> {
    /// Returns the path's capacity for one flow, bit/s of IP packets: the maximum delivered by UDP
    /// or by a TCP load with as few flows. UDP alone may be limited, or its search may have ended
    /// early. `None` without a sweep, and where neither was limited by the path.
    pub fn flow_capacity_bps(&self) -> Option<f64> {
        let sweep = self.sweep()?;
        let is_reached = sweep.above.is_some() || !self.is_limited_by_processors();
        let most = self.carried_by_tcp_bps().fold(sweep.capacity_bps, f64::max);
        is_reached.then_some(most)
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
        let mss = load.mss_bytes();
        mss / (mss + f64::from(self.view.family.tcp_headers()))
    }

    /// Returns the path's capacity for one flow as payload in packets of a load's size, bit/s.
    pub fn payload_capacity_bps(&self, load: &Load) -> Option<f64> {
        Some(self.flow_capacity_bps()? * self.payload_share(load))
    }

    /// Returns the share of the path's capacity that a load's packets use; `None` without a sweep.
    pub fn utilization(&self, load: &Load) -> Option<f64> {
        let carries = self.flow_capacity_bps().filter(|c| *c > 0.0)?;
        Some(self.packets_bps(load) / carries)
    }

    /// Ratio of a load's packets to the packets of UDP at the path's capacity for UDP; `None`
    /// without a sweep.
    pub fn over_udp(&self, load: &Load) -> Option<f64> {
        let udp = self.sweep()?.capacity_bps;
        (udp > 0.0).then(|| self.packets_bps(load) / udp)
    }
}
