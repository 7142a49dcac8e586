//! Size of packets of a layer on the wire of the bottleneck.

use analysis::view::View;
use model::{
    net::{IpVersion, Layer},
    wire::Wire,
};

/// MTU of a link of which nothing is known.
const USUAL_MTU: u32 = 1500;

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
        // The outer family is not measured where only the tunnel was.
        let outer = view.underlay().map_or(IpVersion::V4, |u| u.family);
        let mtu = mtu(view);
        let largest = mtu.unwrap_or(USUAL_MTU);
        Self {
            layer: view.layer,
            mtu,
            wire: match view.layer {
                Layer::Underlay => Wire::underlay(largest),
                Layer::Tunnel => Wire::wireguard(largest, outer),
            },
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

/// Bytes of the largest IP packet of a view: by the search for it, else by TCP's segments.
pub(super) fn mtu(view: &View<'_>) -> Option<u32> {
    let found = view.pmtu().and_then(|p| Some(p.up?.min(p.down?)));
    found.or_else(|| {
        let tcp = view
            .tcp_samples()
            .into_iter()
            .filter_map(|s| s.tcp.as_ref());
        let mss = tcp.flat_map(|t| &t.flows).filter_map(|f| f.mss).max()?;
        Some(mss + view.family.tcp_headers())
    })
}
