//! Truth of a lab path, by its spec and its queues, compared with measurements.

use analysis::{figures::value, models};
use model::{
    cell::{Cell, Line, Loss},
    job::QueueTruth,
    net::{Direction, Layer},
    path::average_of_states,
    run::{Column, FigureKind, Sample, StepKind},
    wire::wireguard_headers,
};

use lab::measure::Measured;

/// Compared quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quantity {
    /// Capacity of the path.
    Capacity,
    /// Round trip without load, on paths without jitter.
    BaseRtt,
    /// Round trip without load, on paths with jitter.
    BaseRttJitter,
    /// Round trip under TCP.
    LoadedRtt,
    /// Share lost.
    Loss,
    /// Share overtaken.
    Reordering,
    /// Path MTU.
    Pmtu,
}

/// A comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The quantity.
    pub quantity: Quantity,
    /// Name of the path.
    pub path: String,
    /// Layer it was measured on.
    pub layer: Layer,
    /// Direction, if it has one.
    pub direction: Option<Direction>,
    /// The truth, in the unit of the quantity: bit/s, µs, share, bytes.
    pub truth: f64,
    /// The measured value; absent if it was not measured.
    pub measured: Option<f64>,
    /// The stated 95 % interval, if there is one.
    pub interval: Option<[f64; 2]>,
}

impl Compared {
    /// Measured less true.
    pub fn error(&self) -> Option<f64> {
        Some(self.measured? - self.truth)
    }

    /// The error as a share of the truth.
    pub fn relative(&self) -> Option<f64> {
        (self.truth != 0.0).then_some(self.error()? / self.truth)
    }

    /// Returns true if the stated interval contains the truth.
    pub fn covered(&self) -> Option<bool> {
        let [low, high] = self.interval?;
        Some(low <= self.truth && self.truth <= high)
    }
}

/// All comparisons of a run.
pub fn compare(cell: &Cell, measured: &Measured) -> Vec<Compared> {
    let mut all = Vec::new();
    for sample in measured.run.samples.iter().filter(|s| s.valid) {
        let make = |quantity, direction, truth, measured, interval| Compared {
            quantity,
            path: cell.name.clone(),
            layer: sample.key.layer,
            direction,
            truth,
            measured,
            interval,
        };
        match (sample.key.step, sample.key.direction) {
            (StepKind::Pmtu, _) => {
                let found = sample.pmtu.as_ref();
                let truth = f64::from(mtu(cell, sample.key.layer));
                for (direction, value) in [
                    (Direction::Up, found.and_then(|p| p.up)),
                    (Direction::Down, found.and_then(|p| p.down)),
                ] {
                    let value = value.map(f64::from);
                    all.push(make(Quantity::Pmtu, Some(direction), truth, value, None));
                }
            }
            (StepKind::Idle, _) => {
                let value = value(sample, FigureKind::RttP50);
                let jitter = !cell.path.down.jitter.is_zero();
                let quantity = if jitter {
                    Quantity::BaseRttJitter
                } else {
                    Quantity::BaseRtt
                };
                // A reordered packet skips the delay; the median does not mind.
                all.push(make(quantity, None, base_us(cell), value, None));
            }
            (StepKind::UdpSweep, Some(direction)) => {
                let line = cell.path.line(direction);
                if let Some(truth) = capacity_bps(cell, line, sample) {
                    let value = value(sample, FigureKind::Capacity);
                    all.push(make(
                        Quantity::Capacity,
                        Some(direction),
                        truth,
                        value,
                        None,
                    ));
                }
                let udp = sample.udp.as_ref();
                let interval = udp.and_then(|u| Some([u.lost_low?, u.lost_high?]));
                let lost = value(sample, FigureKind::UdpLost);
                all.push(make(
                    Quantity::Loss,
                    Some(direction),
                    loss(line),
                    lost,
                    interval,
                ));
                if let Some(truth) = reordered(line, sample) {
                    let value = value(sample, FigureKind::UdpReordered);
                    all.push(make(
                        Quantity::Reordering,
                        Some(direction),
                        truth,
                        value,
                        None,
                    ));
                }
            }
            (StepKind::Tcp, Some(direction)) => {
                let value = value(sample, FigureKind::RttP50);
                if let Some(truth) = loaded_us(cell, sample, &measured.truth)
                    && cell.path.down.jitter.is_zero()
                {
                    all.push(make(
                        Quantity::LoadedRtt,
                        Some(direction),
                        truth,
                        value,
                        None,
                    ));
                }
            }
            _ => {}
        }
    }
    all
}

fn mtu(cell: &Cell, layer: Layer) -> u32 {
    let around = wireguard_headers(cell.path.ip);
    match (&cell.tunnel, layer) {
        (Some(tunnel), Layer::Tunnel) => tunnel.mtu.min(cell.path.mtu - around),
        _ => cell.path.mtu,
    }
}

fn capacity_bps(cell: &Cell, line: &Line, sample: &Sample) -> Option<f64> {
    let packet = f64::from(mtu(cell, sample.key.layer));
    Some(cell.wire(sample.key.layer).packets_bps(line.rate?, packet))
}

/// Propagation in both directions. A single small packet finds the bottleneck's bucket of one
/// packet full, and passes it without delay.
fn base_us(cell: &Cell) -> f64 {
    cell.path.rtt().as_nanos() as f64 / 1e3
}

fn loss(line: &Line) -> f64 {
    match line.loss {
        Loss::None => 0.0,
        Loss::Random(p) => p.get(),
        Loss::GilbertElliott { p, r, bad, good } => {
            average_of_states([p.get(), r.get()], [bad.get(), good.get()])
        }
        Loss::Every(n) => 1.0 / f64::from(n.max(1)),
    }
}

/// Share that is overtaken where every packet skips the delay with a chance of p: it passes those
/// that are in the delay at that time, n, so each packet is passed by one of the n after it with
/// the chance 1 - (1-p)^n, unless it skips the delay itself. Without jitter only, which reorders
/// too.
fn reordered(line: &Line, sample: &Sample) -> Option<f64> {
    if !line.jitter.is_zero() {
        return line.reorder.is_zero().then_some(0.0);
    }
    let udp = sample.udp.as_ref()?;
    let per_second = udp.sent_bps / (f64::from(udp.payload) * 8.0);
    let in_delay = per_second * line.delay.as_secs_f64();
    let p = line.reorder.get();
    Some((1.0 - p) * (1.0 - (1.0 - p).powf(in_delay)))
}

/// Base round trip and, for each probe, the time that the queues then take to drain; the median
/// over the probes that count.
fn loaded_us(cell: &Cell, sample: &Sample, truth: &[QueueTruth]) -> Option<f64> {
    let zero = i64::try_from(sample.load_at_us?).ok()?;
    let window = sample.tcp.as_ref()?.window_us;
    let base = base_us(cell);
    let columns: Vec<(Vec<Option<u64>>, f64)> = truth
        .iter()
        .filter_map(|q| Some((q.series.column(Column::BacklogBytes)?, q.rate_bps? as f64)))
        .collect();
    let mut totals = Vec::new();
    let times = &truth.first()?.series.at_us;
    for (i, at) in times.iter().enumerate() {
        if (window[0]..window[1]).contains(&(at - zero)) {
            let waiting: f64 = columns
                .iter()
                .filter_map(|(column, rate)| {
                    let backlog = column.get(i).copied().flatten()? as f64;
                    Some(models::drain_s(backlog, *rate) * 1e6)
                })
                .sum();
            totals.push(base + waiting);
        }
    }
    stats::median(&totals)
}
