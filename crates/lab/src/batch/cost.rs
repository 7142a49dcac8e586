//! Estimated processor time of a cell.
//!
//! It only decides which cells share a task, so a factor of two does no harm.

use model::{
    cell::{Cell, TrafficKind},
    net::Direction,
    units::Rate,
};

/// Boot, set-up and end of a guest, s (docs/benchmarks.md).
const START: f64 = 0.1;
/// A virtual second without load: samples, probes, timers, s.
const IDLE: f64 = 0.002;
/// A packet from sender to receiver, with its share of an ACK, s (docs/benchmarks.md).
const PACKET: f64 = 2.5e-6;
/// The same, encrypted and decrypted: relative to [`PACKET`].
const TUNNEL: f64 = 3.0;
/// Rate of a path without a bottleneck, bit/s.
const UNLIMITED: f64 = 10e9;

/// Estimated processor time of a cell, s.
pub fn estimate(cell: &Cell) -> f64 {
    let packets: f64 = [Direction::Down, Direction::Up]
        .map(|direction| packets_per_second(cell, direction))
        .iter()
        .sum();
    let factor = if cell.tunnel.is_some() { TUNNEL } else { 1.0 };
    let per_second = IDLE + packets * PACKET * factor;
    START + cell.length().as_secs_f64() * per_second
}

/// Packets of the load in one direction, at most the capacity of the bottleneck.
fn packets_per_second(cell: &Cell, direction: Direction) -> f64 {
    let line = cell.path.line(direction);
    let rate = line.rate.map_or(UNLIMITED, bps);
    let wanted: f64 = std::iter::once(&cell.traffic)
        .chain(&cell.cross)
        .filter(|traffic| traffic.directions.contains(&direction))
        .map(|traffic| match traffic.kind {
            TrafficKind::Udp { rate, .. } => bps(rate) * f64::from(traffic.flows),
            TrafficKind::Idle => 0.0,
            // Until the bottleneck is full.
            TrafficKind::Tcp | TrafficKind::Short { .. } => rate,
        })
        .sum();
    wanted.min(rate) / (f64::from(cell.path.mtu) * 8.0)
}

fn bps(rate: Rate) -> f64 {
    rate.bps() as f64
}

#[cfg(test)]
mod tests {
    use model::spec::Spec;

    use super::*;

    fn seconds(spec: &str) -> f64 {
        let cells = Spec::parse("spec", spec).unwrap().cells().unwrap();
        estimate(&cells[0])
    }

    const PATH: &str = "duration = \"10s\"\nwarmup = \"0s\"\n[path]\nrtt = \"10ms\"\n";

    /// docs/benchmarks.md: a virtual second of a flow at 100 Mbit/s costs about 20 ms on the image
    /// of the first release, and half of that on a faster one.
    #[test]
    fn a_flow_at_100_mbit_costs_about_the_measured_time() {
        let cost = seconds(&format!("{PATH}rate = \"100mbit\"\n"));
        assert!((0.1..=0.45).contains(&cost), "{cost}");
    }

    #[test]
    fn a_cell_costs_more_with_rate_length_tunnel_and_second_direction() {
        let base = seconds(&format!("{PATH}rate = \"100mbit\"\n"));
        let dear = [
            format!("{PATH}rate = \"1gbit\"\n"),
            format!("{PATH}rate = \"100mbit\"\n").replace("10s", "100s"),
            format!("{PATH}rate = \"100mbit\"\n[tunnel]\nkind = \"wireguard\"\n"),
            format!("{PATH}rate = \"100mbit\"\n[traffic]\ndirection = \"both\"\n"),
        ];
        for spec in dear {
            assert!(seconds(&spec) > 1.5 * base, "{spec}");
        }
        // Probes alone have nearly no cost.
        let idle = format!("{PATH}rate = \"100mbit\"\n[traffic]\nkind = \"idle\"\n");
        assert!(seconds(&idle) < 0.6 * base);
    }

    #[test]
    fn slow_datagrams_do_not_cost_a_full_bottleneck() {
        let udp = "[traffic]\nkind = \"udp\"\nrate = \"1mbit\"\n";
        let slow = seconds(&format!("{PATH}rate = \"1gbit\"\n{udp}"));
        assert!(slow < 0.2, "{slow}");
    }
}
