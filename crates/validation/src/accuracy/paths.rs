//! Random paths over the range that `measure` should support.

use model::{
    cell::{Buffer, Cell},
    path::{Limit, Line, Loss, Nanos, Parameter, Path, PathError, Trial, Tunnel, Underlay},
    plan::Plan,
    units::{Bytes, Rate, Seed, Share},
};
use stats::Random;

/// Plan measured on each path.
pub const PLAN: &str = r#"
name = "accuracy"
repeats = { min = 1, max = 1 }
[[step]]
kind = "pmtu"
duration_s = 5
[[step]]
kind = "idle"
duration_s = 3
[[step]]
kind = "udp_sweep"
direction = "down"
from_bps = 500_000
to_bps = 2_000_000_000
duration_s = 4
[[step]]
kind = "udp_sweep"
direction = "up"
from_bps = 500_000
to_bps = 2_000_000_000
duration_s = 4
[[step]]
kind = "tcp"
direction = "down"
flows = 1
cc = ["cubic"]
warmup_s = 2
duration_s = 6
repeat = true
"#;

/// The plan.
///
/// # Errors
/// It is not a valid plan; that would be a bug.
pub fn plan() -> Result<Plan, ::measure::plans::PlanError> {
    ::measure::plans::parse(PLAN)
}

/// A value between two, evenly on the scale of logarithms.
fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    let share = random.below(1 << 30) as f64 / f64::from(1 << 30);
    (low.ln() + share * (high / low).ln()).exp()
}

/// The cells of `count` paths: rate 1 Mbit/s to 1 Gbit/s, RTT 1 to 300 ms, loss 0 to 5 %, jitter,
/// reordering, buffers of 0.1 to 20 BDP (but at least 10 packets), MTU, with and without
/// WireGuard.
///
/// # Errors
/// The lab cannot make a path; that would be a bug.
pub fn cells(count: usize, seed: Seed) -> Result<Vec<Cell>, PathError> {
    let mut random = Random::new(seed.0);
    (0..count)
        .map(|number| cell(number, &Draw::new(&mut random)))
        .collect()
}

/// The random values of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Draw {
    rate_kbit: f64,
    rtt_ms: f64,
    buffer_bytes: f64,
    loss_percent: f64,
    jitter_ms: f64,
    reorder_percent: f64,
    mtu_bytes: u32,
}

impl Draw {
    fn new(random: &mut Random) -> Self {
        let rate_kbit = between(random, 1e3, 1e6).round();
        let rtt_ms = between(random, 1.0, 300.0);
        let bdp = rate_kbit * rtt_ms / 8.0;
        let buffer_bytes = (bdp * between(random, 0.1, 20.0)).clamp(15_140.0, 64e6);
        let one_of = |random: &mut Random, n: usize| random.below(n) == 0;
        let loss_percent = match one_of(random, 3) {
            true => 0.0,
            false => between(random, 0.01, 5.0),
        };
        let jitter_ms = match one_of(random, 4) {
            true => rtt_ms * between(random, 0.005, 0.1),
            false => 0.0,
        };
        let reorder_percent = match one_of(random, 6) {
            true => between(random, 0.05, 1.0),
            false => 0.0,
        };
        Self {
            rate_kbit,
            rtt_ms,
            buffer_bytes,
            loss_percent,
            jitter_ms,
            reorder_percent,
            mtu_bytes: [1500, 1500, 1400, 1280][random.below(4)],
        }
    }
}

/// The cell of a path: those of odd numbers have a tunnel.
fn cell(number: usize, draw: &Draw) -> Result<Cell, PathError> {
    let mut path = Path::named(&format!("path-{number:03}"));
    let rtt_ns = micros(draw.rtt_ms) * 1000;
    let buffer = Bytes(draw.buffer_bytes.round_ties_even() as u64);
    let line = |delay_ns: u64| Line {
        rate_bps: given(Limit::At(Rate::from_bps(draw.rate_kbit as u64 * 1000))),
        buffer: given(Buffer::Bytes(buffer)),
        delay_ns: given(Nanos(delay_ns)),
        jitter_ns: given(Nanos(micros(draw.jitter_ms) * 1000)),
        loss: Some(Loss::Random {
            share: Parameter::given(share(draw.loss_percent)),
        }),
        reorder: given(share(draw.reorder_percent)),
        ..Line::default()
    };
    path.underlay = Underlay {
        down: line(rtt_ns / 2),
        up: line(rtt_ns - rtt_ns / 2),
        mtu_bytes: given(draw.mtu_bytes),
        ip: None,
    };
    if number % 2 == 1 {
        path.tunnel = Some(Tunnel {
            mtu_bytes: given(draw.mtu_bytes - 80),
            ..Tunnel::default()
        });
    }
    path.cell(&Trial {
        seed: Seed(1000 + number as u64),
        ..Trial::default()
    })
}

#[expect(clippy::unnecessary_wraps, reason = "the type of every field")]
pub(super) fn given<T>(value: T) -> Option<Parameter<T>> {
    Some(Parameter::given(value))
}

/// A span in whole microseconds.
fn micros(ms: f64) -> u64 {
    (ms * 1000.0).round_ties_even() as u64
}

/// Percent with four decimals as a share, the float nearest to that decimal.
pub(super) fn share(percent: f64) -> Share {
    let share = (percent * 1e4).round_ties_even() / 1e6;
    Share::new(share).unwrap_or(Share::ZERO)
}

#[cfg(test)]
mod tests;
