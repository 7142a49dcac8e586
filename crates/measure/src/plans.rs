//! Built-in plans, and plans from files.

mod error;
mod file;

use model::{
    net::{Direction, Layer, LoadDirection},
    plan::{Measurement, OF_HOST, Plan, Preset, Repeats, Step},
};

pub use error::{PlanError, PlanFileError, StepError};
pub use file::{parse, read};

/// Highest rate a sweep tries, bit/s of payload.
const SWEEP_TO: u64 = 2_000_000_000;
/// The first rate of a sweep, bit/s of payload.
const SWEEP_FROM: u64 = 500_000;

/// About a minute: few repeats of each step.
pub fn quick() -> Plan {
    let mut steps = vec![
        step(Measurement::Pmtu, 3.0),
        step(Measurement::Idle, 2.0),
        step(sweep(Direction::Down), 1.5),
        step(sweep(Direction::Up), 1.5),
    ];
    for direction in [LoadDirection::Down, LoadDirection::Up] {
        steps.push(repeated(tcp(direction, 1, 0.5), 2.5));
    }
    Plan {
        repeats: Repeats {
            min: 3,
            max: 3,
            width: None,
        },
        ..plan(Preset::Quick.name(), steps)
    }
}

/// A turn of a proof: a flow in each direction of one layer, with the congestion control that its
/// host has for the address there. Other layers would be measured without the change, if it is of
/// the tunnel's route.
pub fn turns(layer: Layer) -> Plan {
    let mut steps = vec![step(Measurement::Idle, 1.0)];
    for direction in [LoadDirection::Down, LoadDirection::Up] {
        let load = Measurement::Tcp {
            direction,
            flows: 1,
            cc: vec![OF_HOST.to_owned()],
            warmup_s: 2.0,
        };
        steps.push(step(load, 8.0));
    }
    Plan {
        layers: vec![layer],
        repeats: Repeats {
            min: 1,
            max: 1,
            width: None,
        },
        ..plan("turns", steps)
    }
}

/// The least: an idle path for a second. Its run has the facts of both hosts.
pub fn facts() -> Plan {
    let repeats = Repeats {
        min: 1,
        max: 1,
        width: None,
    };
    Plan {
        repeats,
        ..plan("facts", vec![step(Measurement::Idle, 1.0)])
    }
}

/// The default plan.
pub fn default() -> Plan {
    let mut steps = before(4.0);
    for direction in [LoadDirection::Down, LoadDirection::Up] {
        steps.push(repeated(tcp(direction, 1, 2.0), 8.0));
        steps.push(repeated(tcp(direction, 8, 2.0), 8.0));
    }
    steps.push(repeated(tcp(LoadDirection::Both, 1, 2.0), 8.0));
    steps.push(repeated(Measurement::Idle, 2.0));
    steps.push(repeated(Measurement::Short { bytes: 100_000 }, 3.0));
    steps.push(repeated(Measurement::Http { bytes: 1_000_000 }, 3.0));
    steps.push(repeated(
        Measurement::Quic {
            direction: Direction::Down,
            warmup_s: 2.0,
        },
        6.0,
    ));
    plan(Preset::Default.name(), steps)
}

/// Longer and more often, for narrow intervals.
pub fn thorough() -> Plan {
    let mut steps = before(8.0);
    for direction in [LoadDirection::Down, LoadDirection::Up] {
        for flows in [1, 4, 16] {
            steps.push(repeated(tcp(direction, flows, 3.0), 15.0));
        }
    }
    steps.push(repeated(tcp(LoadDirection::Both, 1, 3.0), 15.0));
    steps.push(repeated(tcp(LoadDirection::Both, 8, 3.0), 15.0));
    steps.push(repeated(Measurement::Idle, 5.0));
    for bytes in [10_000, 100_000, 1_000_000] {
        steps.push(repeated(Measurement::Short { bytes }, 4.0));
    }
    steps.push(repeated(Measurement::Http { bytes: 1_000_000 }, 5.0));
    for direction in [Direction::Down, Direction::Up] {
        let warmup_s = 3.0;
        steps.push(repeated(
            Measurement::Quic {
                direction,
                warmup_s,
            },
            10.0,
        ));
    }
    Plan {
        repeats: Repeats {
            min: 8,
            max: 20,
            width: Some(0.02),
        },
        ..plan(Preset::Thorough.name(), steps)
    }
}

fn before(seconds: f64) -> Vec<Step> {
    vec![
        step(Measurement::Pmtu, 5.0),
        step(Measurement::Idle, seconds),
        step(Measurement::Sizes, 3.0),
        step(sweep(Direction::Down), seconds),
        step(sweep(Direction::Up), seconds),
    ]
}

fn plan(name: &str, steps: Vec<Step>) -> Plan {
    Plan {
        adapt: true,
        ..Plan::of(name, steps)
    }
}

fn step(measurement: Measurement, duration_s: f64) -> Step {
    Step {
        measurement,
        duration_s,
        repeat: false,
    }
}

fn repeated(measurement: Measurement, duration_s: f64) -> Step {
    Step {
        measurement,
        duration_s,
        repeat: true,
    }
}

fn sweep(direction: Direction) -> Measurement {
    Measurement::UdpSweep {
        direction,
        from_bps: SWEEP_FROM,
        to_bps: SWEEP_TO,
    }
}

fn tcp(direction: LoadDirection, flows: u32, warmup_s: f64) -> Measurement {
    Measurement::Tcp {
        direction,
        flows,
        cc: Vec::new(),
        warmup_s,
    }
}
