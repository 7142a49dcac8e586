//! The rate of the near segment: a run of its own between the near end and the third point.

use std::{net::SocketAddr, sync::atomic::Ordering};

use analysis::{summary::spread, view::View};
use model::{
    net::{Direction, Layer, LoadDirection},
    plan::{Measurement, OF_HOST, Plan, Repeats, Step},
    run::SegmentRate,
};

use super::{Third, Way};
use crate::{
    far::FarError,
    plans,
    run::{Start, Target, measure},
};

/// TCP with one flow each way, three times: about twenty seconds.
fn plan() -> Plan {
    let load = |direction| Step {
        measurement: Measurement::Tcp {
            direction,
            flows: 1,
            cc: vec![OF_HOST.to_owned()],
            warmup_s: 0.5,
        },
        duration_s: 2.5,
        repeat: true,
    };
    Plan {
        name: "third".to_owned(),
        repeats: Repeats {
            min: 3,
            max: 3,
            width: None,
        },
        steps: [LoadDirection::Down, LoadDirection::Up].map(load).to_vec(),
        ..plans::quick()
    }
}

/// Measures the segment, if that is asked for.
pub(crate) fn rates(third: &Third, start: &Start<'_>) -> Result<Vec<SegmentRate>, FarError> {
    let Way::Agent(port, key) = &third.way else {
        return Ok(Vec::new());
    };
    if !third.load || start.cancel.load(Ordering::Relaxed) {
        return Ok(Vec::new());
    }
    let start = Start {
        control: SocketAddr::new(third.address, *port),
        key,
        plan: &plan(),
        seed: start.seed,
        targets: &[Target {
            layer: Layer::Underlay,
            far: third.address,
        }],
        unreached: Vec::new(),
        third: None,
        slot: false,
        program: start.program,
        id: start.id.clone(),
        started_us: start.started_us,
        lab: start.lab,
        cancel: start.cancel,
    };
    let run = measure(start, &mut |_| {})?;
    // Also where a processor limits it: that is the limit of these two hosts.
    let view = View::new(&run);
    let rate = |direction| {
        let load = view.as_ref()?.direction(direction).default_load()?;
        Some(SegmentRate {
            direction,
            goodput_bps: spread(&load.goodputs, [0.0, f64::INFINITY])?,
        })
    };
    let directions = [Direction::Down, Direction::Up].into_iter();
    Ok(directions.filter_map(rate).collect())
}
