//! Modelled cost of a plan in the lab, the same on any machine.

use model::{
    net::{Direction, Layer},
    plan::{LoadDirection, Measurement, Plan, Step},
};

/// Processor time for each bit that crosses a path, s: 2.4 s of a processor for 10 s at 1 Gbit/s
/// (docs/benchmarks.md).
const A_BIT_S: f64 = 2.4e-10;
/// The same through WireGuard, which encrypts and decrypts each of them.
const A_BIT_IN_TUNNEL_S: f64 = 8.6e-10;
/// Processor time to boot a guest and read its result, s.
const BOOT_S: f64 = 0.6;
/// Processor time for each second of virtual time: probes, counters, samples of the queues.
const A_SECOND_S: f64 = 0.013;
/// Processor time for each second of each flow: both ends sample it every 10 ms.
const A_FLOW_SECOND_S: f64 = 0.015;
/// Time of a flood of UDP beyond the requested duration, s.
const SWEEP_MORE_S: f64 = 2.0;

/// Processors for which a budget of time is counted, on any machine.
pub(crate) const PROCESSORS: f64 = 2.0;

/// Time that runs take on [`PROCESSORS`], s; cached ones take none.
pub(crate) fn elapsed_s(processor_s: f64) -> f64 {
    (processor_s / PROCESSORS).ceil()
}

/// The same for the reader.
pub(crate) fn minutes(processor_s: f64) -> String {
    format!("{:.0} min", (elapsed_s(processor_s) / 60.0).ceil())
}

/// Processor time of a plan on a path of these rates, bit/s, in s.
pub(crate) fn processor_s(plan: &Plan, rate_bps: &dyn Fn(Direction) -> f64) -> f64 {
    let layers = plan.layers.iter().map(|layer| {
        let bit_s = match layer {
            Layer::Underlay => A_BIT_S,
            Layer::Tunnel => A_BIT_IN_TUNNEL_S,
        };
        let steps = plan.steps.iter().map(|s| {
            bits(s, rate_bps) * bit_s + step_s(s) * A_SECOND_S + flow_s(s) * A_FLOW_SECOND_S
        });
        steps.sum::<f64>()
    });
    BOOT_S + layers.sum::<f64>()
}

/// Virtual time of a plan, s.
pub(crate) fn virtual_s(plan: &Plan) -> f64 {
    plan.layers.len() as f64 * plan.steps.iter().map(step_s).sum::<f64>()
}

/// Bits that a step sends, both directions together.
fn bits(step: &Step, rate: &dyn Fn(Direction) -> f64) -> f64 {
    let each = |toward: &LoadDirection| -> f64 {
        toward
            .directions()
            .iter()
            .map(|d: &Direction| rate(*d))
            .sum()
    };
    match &step.measurement {
        Measurement::Tcp { direction, cc, .. } => {
            each(direction) * step.duration_s * cc.len().max(1) as f64
        }
        Measurement::UdpSweep { direction, .. } => {
            rate(*direction) * (2.0 * step.duration_s + SWEEP_MORE_S)
        }
        _ => 0.0,
    }
}

/// Seconds of all flows of a step together.
fn flow_s(step: &Step) -> f64 {
    let Measurement::Tcp {
        direction,
        flows,
        cc,
        ..
    } = &step.measurement
    else {
        return 0.0;
    };
    let loads = direction.directions().len() * cc.len().max(1);
    step.duration_s * f64::from(*flows) * loads as f64
}

/// Seconds that a step takes, the agreement on it and the emptying of queues included.
fn step_s(step: &Step) -> f64 {
    // Agreeing, and letting queues empty.
    const AROUND_S: f64 = 0.7;
    match &step.measurement {
        Measurement::Tcp { cc, .. } => (step.duration_s + AROUND_S) * cc.len().max(1) as f64,
        Measurement::UdpSweep { .. } => 2.0 * step.duration_s + SWEEP_MORE_S + AROUND_S,
        _ => step.duration_s + AROUND_S,
    }
}
