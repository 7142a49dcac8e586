//! Keys of samples from steps of a plan.

use model::{
    net::Direction,
    plan::{Toward, What},
    run::{Key, LayerAddress, StepKind},
};

/// The key of a step on a layer; of a load in both directions, that of one direction.
pub(crate) fn key(
    what: &What,
    layer: &LayerAddress,
    cc: Option<&str>,
    direction: Option<Direction>,
) -> Key {
    let mut key = Key {
        step: kind(what),
        layer: layer.layer,
        family: layer.family,
        direction,
        opposed: false,
        flows: None,
        cc: cc.map(str::to_owned),
        rate_bps: None,
        bytes: None,
    };
    match what {
        What::Tcp {
            direction, flows, ..
        } => {
            key.flows = Some(*flows);
            key.opposed = *direction == Toward::Both;
        }
        What::Udp { rate_bps, .. } => key.rate_bps = Some(*rate_bps),
        What::Short { bytes } | What::Http { bytes } => key.bytes = Some(*bytes),
        What::Idle | What::UdpSweep { .. } | What::Pmtu | What::Sizes | What::Quic { .. } => {}
    }
    key
}

/// Directions that a step yields samples of; none = one sample without a direction.
pub(crate) fn directions(what: &What) -> Vec<Option<Direction>> {
    match what {
        What::UdpSweep { direction, .. }
        | What::Udp { direction, .. }
        | What::Quic { direction, .. } => vec![Some(*direction)],
        What::Tcp { direction, .. } => direction.directions().iter().map(|d| Some(*d)).collect(),
        What::Idle | What::Pmtu | What::Sizes | What::Short { .. } | What::Http { .. } => {
            vec![None]
        }
    }
}

pub(crate) fn kind(what: &What) -> StepKind {
    match what {
        What::Idle => StepKind::Idle,
        What::UdpSweep { .. } => StepKind::UdpSweep,
        What::Udp { .. } => StepKind::Udp,
        What::Tcp { .. } => StepKind::Tcp,
        What::Pmtu => StepKind::Pmtu,
        What::Sizes => StepKind::Sizes,
        What::Short { .. } => StepKind::Short,
        What::Http { .. } => StepKind::Http,
        What::Quic { .. } => StepKind::Quic,
    }
}
