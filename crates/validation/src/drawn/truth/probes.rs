//! Cells that measure a path with and without faults.

use std::time::Duration;

use model::{
    cell::{Cell, Traffic, TrafficKind},
    net::Direction,
    row::Row,
    units::Seed,
    wire::payload_share,
};

use crate::drawn::fault::{self, Fault};

/// Seeds of each path. Two, so that an effect by chance has to occur twice.
const SEEDS: u64 = 2;
/// Shortest and longest time measured, s; and in round trips.
const MEASURED: (f64, f64, f64) = (4.0, 60.0, 30.0);
/// The same of the warm-up, which is past the initial slow start.
const WARMUP: (f64, f64, f64) = (1.0, 25.0, 15.0);
/// Time in which the ends find the MTU of a tunnel between them, s.
const FINDS_MTU: f64 = 8.0;
/// Packets of the warm-up and of the measured time on a slow line: the overshoot of slow start into
/// a queue of 100 packets, and what is retransmitted after it, are a hundred each.
const PACKETS: (f64, f64) = (400.0, 1000.0);
/// Bits that a cell carries at most, unless its shortest times need more.
const MAX_BITS: f64 = 1.5e9;

/// A cell of a trial: the load's direction, the removed faults, another congestion control than
/// that of the sender, the seed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Probe {
    direction: Direction,
    without: Vec<Fault>,
    cc: Option<String>,
    seed: u64,
}

/// Figures read from a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Goodput of one flow, bit/s.
    pub goodput_bps: f64,
    /// Median RTT of the probes under load less the propagation delay, µs.
    pub added_us: f64,
}

impl Probe {
    /// Cells for all seeds.
    pub(super) fn each_seed(direction: Direction, without: &[Fault]) -> Vec<Self> {
        let of = |seed| Self {
            direction,
            without: without.to_vec(),
            cc: None,
            seed,
        };
        (1..=SEEDS).map(of).collect()
    }

    /// Cells for all seeds with this congestion control, and all faults.
    pub(in crate::drawn) fn each_with(direction: Direction, cc: &str) -> Vec<Self> {
        let mut probes = Self::each_seed(direction, &[]);
        for probe in &mut probes {
            probe.cc = Some(cc.to_owned());
        }
        probes
    }

    /// Its cell. The seeds differ from that of the Run, and are the same with and without a fault.
    pub(in crate::drawn) fn cell(&self, of: &Cell) -> Cell {
        let mut cell = of.clone();
        for fault in &self.without {
            fault.remove(&mut cell);
        }
        cell.seed = Seed(of.seed.0 + self.seed);
        cell.idle = Duration::from_millis(200);
        // Both from the path with all its faults: compared cells must have the same length.
        (cell.warmup, cell.duration) = times(of, self.direction);
        cell.traffic = Traffic {
            kind: TrafficKind::Tcp,
            directions: vec![self.direction],
            flows: 1,
            cc: self.cc.clone(),
            ..cell.traffic
        };
        cell
    }
}

/// Warm-up and measured time on a path.
fn times(cell: &Cell, direction: Direction) -> (Duration, Duration) {
    let rtt = cell.path.rtt().as_secs_f64();
    let bps = cell
        .path
        .line(direction)
        .rate
        .map_or(1e9, |r| r.bps() as f64);
    let packet = f64::from(cell.path.mtu) * 8.0 / bps;
    let time = |(low, high, trips): (f64, f64, f64), packets: f64| {
        (rtt * trips).max(packet * packets).clamp(low, high)
    };
    let warmup = match fault::is_tunnel_between(cell) {
        // The first packets are too long for it, and their replacements may be lost, too: with
        // timeouts of 1, 2 and 4 s.
        true => time(WARMUP, PACKETS.0).max(FINDS_MTU),
        false => time(WARMUP, PACKETS.0),
    };
    let measured = time(MEASURED, PACKETS.1);
    // A fast line needs less time for as many packets, but not fewer round trips.
    let share = (MAX_BITS / bps / (warmup + measured)).min(1.0);
    let least = (rtt * MEASURED.2 / 2.0).max(1.0);
    // Whole steps of the series, so that both times are points of its grid.
    let step = cell.sample.as_secs_f64();
    let seconds = |s: f64, least: f64| {
        let steps = ((s * share).max(least).min(s) / step).round();
        cell.sample * steps as u32
    };
    (seconds(warmup, rtt * WARMUP.2), seconds(measured, least))
}

/// Most that a direction's line carries, bit/s of payload. More is what had arrived before the
/// measured time, behind a packet that was lost.
fn line_bps(cell: &Cell, direction: Direction) -> f64 {
    let rate = cell.path.line(direction).rate;
    let headers = cell.path.ip.tcp_headers();
    let payload = f64::from(cell.path.mtu.saturating_sub(headers));
    rate.map_or(f64::INFINITY, |rate| {
        rate.bps() as f64 * payload_share(payload, headers)
    })
}

impl Figures {
    /// By the rows of a cell; `None` if they are invalid.
    pub fn of(cell: &Cell, rows: &[Row]) -> Option<Self> {
        let row = rows.iter().find(|r| r.cross.is_none() && r.valid)?;
        let base = cell.path.rtt().as_secs_f64() * 1e6;
        // If no probe was answered, all waited for longer than the cell ran.
        let loaded = row.probe_p50_ms.map_or(base, |ms| ms * 1e3);
        Some(Self {
            goodput_bps: (row.goodput_mbps? * 1e6).min(line_bps(cell, row.direction)),
            added_us: analysis::figures::added_us(loaded, base),
        })
    }

    /// Share of the goodput of `better` that this lacks; below 0 if it has more.
    pub(in crate::drawn) fn lost_against(&self, better: &Self) -> f64 {
        1.0 - self.goodput_bps / better.goodput_bps.max(1.0)
    }
}
