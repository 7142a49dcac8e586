//! What a packet of a layer is on the wire of the bottleneck.

use analysis::view::View;
use model::{
    cell::ETHERNET_HEADER,
    net::{IpVersion, Layer},
};

/// Bytes of the UDP header, WireGuard's own header and its tag, around a padded inner packet
/// (drivers/net/wireguard/messages.h, Linux 6.12).
const WIREGUARD: f64 = 8.0 + 16.0 + 16.0;
/// WireGuard pads to this (drivers/net/wireguard/send.c, `calculate_skb_padding`).
const PADDING: f64 = 16.0;
/// MTU of a link of which nothing is known.
const USUAL_MTU: f64 = 1500.0;

/// The headers around the packets of a layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Headers {
    layer: Layer,
    /// IP packets of the layer, bytes, the largest; absent = unknown.
    mtu: Option<u32>,
    /// The outer IP header of a tunnel.
    outer_ip: f64,
}

impl Headers {
    pub(super) fn of(view: &View<'_>) -> Self {
        // The outer family is not measured where only the tunnel was.
        let outer_ip = f64::from(
            view.underlay()
                .map_or(IpVersion::V4, |u| u.family)
                .header_bytes(),
        );
        Self {
            layer: view.layer,
            mtu: mtu(view),
            outer_ip,
        }
    }

    /// MTU of the links below, where the layer tells it.
    pub(super) fn link_mtu(&self) -> Option<u32> {
        match self.layer {
            Layer::Underlay => self.mtu,
            Layer::Tunnel => None,
        }
    }

    /// The largest packet, bytes.
    fn largest(&self) -> f64 {
        self.mtu.map_or(USUAL_MTU, f64::from)
    }

    /// Bytes of an IP packet of this layer as the bottleneck counts them.
    pub(super) fn on_wire(&self, packet: f64) -> f64 {
        let outer = match self.layer {
            Layer::Underlay => packet,
            Layer::Tunnel => {
                let padded = ((packet / PADDING).ceil() * PADDING).min(self.largest().max(packet));
                padded + WIREGUARD + self.outer_ip
            }
        };
        outer + ETHERNET_HEADER as f64
    }

    /// A rate of full IP packets of this layer as the bottleneck counts it.
    pub(super) fn rate_on_wire(&self, packets_bps: f64) -> f64 {
        packets_bps * self.on_wire(self.largest()) / self.largest()
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
