//! Steps of a plan, each a type in a separate file.
//!
//! A step's type holds the request of the plan. It measures with its own services of the far end
//! ([`crate::far::load`]), returns the results of both ends as one type, and converts it to
//! samples. So a sample cannot contain parameters or outcomes of another step.

mod idle;
mod loaded;
mod pmtu;
mod probes;
mod quic;
mod requests;
mod sized;
mod sizes;
mod step;
mod sweep;
pub(crate) mod tcp;
mod udp;

use model::plan::Measurement;

pub(crate) use step::{AnyStep, Cost, Step};
use step::{Blank, Measure};

/// The type of the plan's request.
pub(crate) fn of(measurement: &Measurement) -> Box<dyn AnyStep> {
    match measurement.clone() {
        Measurement::Idle => Box::new(idle::Idle),
        Measurement::UdpSweep {
            direction,
            from_bps,
            to_bps,
        } => Box::new(sweep::Sweep {
            direction,
            from_bps,
            to_bps,
        }),
        Measurement::Udp {
            direction,
            rate_bps,
            payload,
        } => Box::new(udp::Udp {
            direction,
            rate_bps,
            payload,
        }),
        Measurement::Tcp {
            direction,
            flows,
            cc,
            warmup_s,
        } => Box::new(tcp::Tcp {
            direction,
            flows,
            cc,
            warmup_s,
        }),
        Measurement::Pmtu => Box::new(pmtu::Pmtu),
        Measurement::Sizes => Box::new(sizes::Sizes),
        Measurement::Short { bytes } => Box::new(requests::Short { bytes }),
        Measurement::Http { bytes } => Box::new(requests::Http { bytes }),
        Measurement::Quic {
            direction,
            warmup_s,
        } => Box::new(quic::Quic {
            direction,
            warmup_s,
        }),
    }
}
