//! Packets of the measured layer as a queue of the path counts them.

use model::{
    cell::default,
    net::{IpVersion, Layer},
    wire::Wire,
};

use super::View;

impl View<'_> {
    /// Bytes of the largest IP packet: by the PMTU search, else by TCP's segments.
    pub fn mtu_bytes(&self) -> Option<u32> {
        let found = self.pmtu().and_then(|p| Some(p.up?.min(p.down?)));
        found.or_else(|| {
            let tcp = self.tcp_samples().into_iter();
            let flows = tcp.filter_map(|s| s.tcp.as_ref()).flat_map(|t| &t.flows);
            let mss = flows.filter_map(|f| f.mss).max()?;
            Some(mss + self.family.tcp_headers())
        })
    }

    /// Returns the encapsulation of the layer's packets where they wait in a queue of the underlay.
    /// A tunnel counts as WireGuard; where its path was not measured, over IPv4.
    pub fn wire(&self) -> Wire {
        let largest = self.mtu_bytes().unwrap_or(default::MTU);
        match self.layer {
            Layer::Underlay => Wire::underlay(largest),
            Layer::Tunnel => {
                let outer = self.underlay().map_or(IpVersion::V4, |below| below.family);
                Wire::wireguard(largest, outer)
            }
        }
    }
}
