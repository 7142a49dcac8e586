//! Size of packets of a layer on the wire of the bottleneck.

use analysis::view::View;
use model::{net::Layer, wire::Wire};

/// The packets of the measured layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Headers {
    layer: Layer,
    /// IP packets of the layer, bytes, the largest; absent = unknown.
    mtu: Option<u32>,
    wire: Wire,
}

impl Headers {
    pub(super) fn of(view: &View<'_>) -> Self {
        Self {
            layer: view.layer,
            mtu: view.mtu_bytes(),
            wire: view.wire(),
        }
    }

    /// MTU of the links below, where the layer has it.
    pub(super) fn link_mtu(&self) -> Option<u32> {
        match self.layer {
            Layer::Underlay => self.mtu,
            Layer::Tunnel => None,
        }
    }

    /// Bytes of an IP packet of this layer as the bottleneck counts them.
    pub(super) fn on_wire(&self, packet: f64) -> f64 {
        self.wire.bytes(packet)
    }

    /// A rate of full IP packets of this layer as the bottleneck counts it.
    pub(super) fn rate_on_wire(&self, packets_bps: f64) -> f64 {
        self.wire.rate(packets_bps)
    }
}
