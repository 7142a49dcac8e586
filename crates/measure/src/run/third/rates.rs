//! Rate of the near segment: a separate run between the near end and the third point.

use analysis::{summary::spread, view::View};
use model::{
    net::{Direction, LoadDirection},
    plan::{Measurement, OF_HOST, Plan, Repeats, Step},
    run::{Run, SegmentRate},
};

use crate::plans;

/// TCP with one flow each way, three times: about twenty seconds.
pub(crate) fn plan() -> Plan {
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

/// The rates of a run of that plan.
pub(crate) fn of(run: &Run) -> Vec<SegmentRate> {
    // Also if a processor limits it: it is the rate of these two hosts.
    let view = View::new(run);
    let rate = |direction| {
        let load = view.as_ref()?.direction(direction).default_load()?;
        Some(SegmentRate {
            direction,
            goodput_bps: spread(&load.goodputs, [0.0, f64::INFINITY])?,
        })
    };
    let directions = [Direction::Down, Direction::Up].into_iter();
    directions.filter_map(rate).collect()
}
