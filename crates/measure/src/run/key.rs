//! Keys of samples from steps of a plan.

use model::{
    net::Direction,
    plan::{LoadDirection, Measurement},
    run::{Key, LayerAddress, StepKind},
};

/// The key of a step on a layer; of a load in both directions, that of one direction.
pub(crate) fn key(
    measurement: &Measurement,
    layer: &LayerAddress,
    cc: Option<&str>,
    direction: Option<Direction>,
) -> Key {
    let mut key = Key {
        step: kind(measurement),
        layer: layer.layer,
        family: layer.family,
        direction,
        bidirectional: false,
        flows: None,
        cc: cc.map(str::to_owned),
        rate_bps: None,
        bytes: None,
    };
    match measurement {
        Measurement::Tcp {
            direction, flows, ..
        } => {
            key.flows = Some(*flows);
            key.bidirectional = *direction == LoadDirection::Both;
        }
        Measurement::Udp { rate_bps, .. } => key.rate_bps = Some(*rate_bps),
        Measurement::Short { bytes } | Measurement::Http { bytes } => key.bytes = Some(*bytes),
        Measurement::Idle
        | Measurement::UdpSweep { .. }
        | Measurement::Pmtu
        | Measurement::Sizes
        | Measurement::Quic { .. } => {}
    }
    key
}

/// Directions that a step yields samples of; none = one sample without a direction.
pub(crate) fn directions(measurement: &Measurement) -> Vec<Option<Direction>> {
    match measurement {
        Measurement::UdpSweep { direction, .. }
        | Measurement::Udp { direction, .. }
        | Measurement::Quic { direction, .. } => vec![Some(*direction)],
        Measurement::Tcp { direction, .. } => {
            direction.directions().iter().map(|d| Some(*d)).collect()
        }
        Measurement::Idle
        | Measurement::Pmtu
        | Measurement::Sizes
        | Measurement::Short { .. }
        | Measurement::Http { .. } => {
            vec![None]
        }
    }
}

pub(crate) fn kind(measurement: &Measurement) -> StepKind {
    match measurement {
        Measurement::Idle => StepKind::Idle,
        Measurement::UdpSweep { .. } => StepKind::UdpSweep,
        Measurement::Udp { .. } => StepKind::Udp,
        Measurement::Tcp { .. } => StepKind::Tcp,
        Measurement::Pmtu => StepKind::Pmtu,
        Measurement::Sizes => StepKind::Sizes,
        Measurement::Short { .. } => StepKind::Short,
        Measurement::Http { .. } => StepKind::Http,
        Measurement::Quic { .. } => StepKind::Quic,
    }
}
