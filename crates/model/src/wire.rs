//! Packets and rates of a layer as the kernel's queues count them: the one conversion between IP
//! packets and the bytes of a queue.

use crate::{
    cell::{Cell, ETHERNET_HEADER, default},
    net::{IpVersion, Layer},
    path::Path,
    units::Rate,
};

/// Bytes of the UDP header, WireGuard's own header and its tag, around a padded inner packet
/// (drivers/net/wireguard/messages.h, Linux 6.12).
const WIREGUARD: u32 = 8 + 16 + 16;
/// WireGuard pads packets to a multiple of this (drivers/net/wireguard/send.c,
/// `calculate_skb_padding`, Linux 6.12).
const PADDING: f64 = 16.0;

/// Bytes that WireGuard adds to an inner packet that needs no padding.
pub const fn wireguard_headers(outer: IpVersion) -> u32 {
    WIREGUARD + outer.header_bytes()
}

/// Share of an IP packet that is payload: the ratio of a rate of payload to that of its IP packets.
pub fn payload_share(payload: f64, headers: u32) -> f64 {
    payload / (payload + f64::from(headers))
}

/// Encapsulation of a layer's IP packets in the bottleneck's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    mtu: u32,
    outer: Option<IpVersion>,
}

impl Wire {
    /// Packets of the path itself, with the MTU of its links.
    pub const fn underlay(mtu: u32) -> Self {
        Self { mtu, outer: None }
    }

    /// Packets in WireGuard, with the MTU of its device and the address family of the path.
    pub const fn wireguard(mtu: u32, outer: IpVersion) -> Self {
        Self {
            mtu,
            outer: Some(outer),
        }
    }

    /// Bytes that a queue counts for an IP packet of this many bytes.
    pub fn bytes(self, packet: f64) -> f64 {
        self.underlay_bytes(packet) + ETHERNET_HEADER as f64
    }

    /// Bytes of the IP packet of the underlay that carries an IP packet of this many bytes.
    fn underlay_bytes(self, packet: f64) -> f64 {
        match self.outer {
            None => packet,
            Some(outer) => {
                // A packet is not padded beyond the MTU of the device.
                let padded = (packet / PADDING).ceil() * PADDING;
                padded.min(f64::from(self.mtu).max(packet)) + f64::from(wireguard_headers(outer))
            }
        }
    }

    /// The rate that a queue counts for full IP packets of `ip_bps`.
    pub fn rate(self, ip_bps: f64) -> f64 {
        ip_bps * self.bytes(f64::from(self.mtu)) / f64::from(self.mtu)
    }

    /// The rate of the underlay's IP packets that carry full IP packets of `ip_bps`, as used by
    /// remedies.
    pub fn underlay_bps(self, ip_bps: f64) -> f64 {
        ip_bps * self.underlay_bytes(f64::from(self.mtu)) / f64::from(self.mtu)
    }

    /// The rate of IP packets of this many bytes that a queue of this rate sends, bit/s.
    pub fn packets_bps(self, rate: Rate, packet: f64) -> f64 {
        rate.bps() as f64 * packet / self.bytes(packet)
    }

    /// The rate of full IP packets that a queue of this rate sends, bit/s.
    pub fn ip_bps(self, rate: Rate) -> f64 {
        self.packets_bps(rate, f64::from(self.mtu))
    }

    /// The rate of TCP payload in full packets of a family that a queue of this rate sends, bit/s.
    pub fn tcp_payload_bps(self, rate: Rate, ip: IpVersion) -> f64 {
        let payload = f64::from(self.mtu.saturating_sub(ip.tcp_headers()));
        self.ip_bps(rate) * payload_share(payload, ip.tcp_headers())
    }
}

impl Cell {
    /// The packets of a layer; those of the path itself if there is no tunnel.
    pub fn wire(&self, layer: Layer) -> Wire {
        match (&self.tunnel, layer) {
            (Some(tunnel), Layer::Tunnel) => Wire::wireguard(tunnel.mtu, self.path.ip),
            _ => Wire::underlay(self.path.mtu),
        }
    }
}

impl Path {
    /// The packets of a layer; those of the path itself if there is no tunnel.
    pub fn wire(&self, layer: Layer) -> Wire {
        let underlay = &self.underlay;
        match (&self.tunnel, layer) {
            (Some(tunnel), Layer::Tunnel) => Wire::wireguard(
                tunnel
                    .mtu_bytes
                    .as_ref()
                    .map_or(default::TUNNEL_MTU, |p| p.value),
                underlay.ip.as_ref().map_or(IpVersion::V4, |p| p.value),
            ),
            _ => Wire::underlay(
                underlay
                    .mtu_bytes
                    .as_ref()
                    .map_or(default::MTU, |p| p.value),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Parameter;

    /// IEEE 802.3: 14 bytes before the packet. The WireGuard paper (Donenfeld 2017), section 5.4.6:
    /// type and reserved 4, receiver 4, counter 8, tag 16; with UDP 8 and IPv4 20 or IPv6 40.
    #[test]
    fn headers_are_those_of_the_standards() {
        assert_eq!(Wire::underlay(1500).bytes(1500.0), 1514.0);
        for (outer, headers) in [(IpVersion::V4, 60), (IpVersion::V6, 80)] {
            assert_eq!(wireguard_headers(outer), headers);
            let wire = Wire::wireguard(1420, outer);
            // 1420 is not a multiple of 16, but the device carries no more.
            assert_eq!(wire.bytes(1420.0), 1420.0 + f64::from(headers) + 14.0);
            assert_eq!(wire.bytes(1000.0), 1008.0 + f64::from(headers) + 14.0);
        }
    }

    /// A full Ethernet frame has 1448 of 1514 bytes of payload.
    #[test]
    fn payload_is_the_packet_less_headers() {
        let rate = Rate::from_bps(100_000_000);
        let of = Wire::underlay(1500).tcp_payload_bps(rate, IpVersion::V4);
        assert!((of - 1e8 * 1448.0 / 1514.0).abs() < 1.0, "{of}");
    }

    #[test]
    fn a_rate_there_and_back_is_the_same() {
        for wire in [
            Wire::underlay(1500),
            Wire::underlay(1280),
            Wire::wireguard(1420, IpVersion::V6),
        ] {
            let ip = wire.ip_bps(Rate::from_bps(100_000_000));
            assert!(ip < 100e6);
            assert!((wire.rate(ip) - 100e6).abs() < 1e-3, "{wire:?}");
        }
    }

    /// 1420 bytes in a tunnel are 1480 below it; without a tunnel a packet is itself.
    #[test]
    fn the_underlay_carries_a_tunnel_with_its_headers_and_itself_without() {
        let tunnel = Wire::wireguard(1420, IpVersion::V4);
        assert!((tunnel.underlay_bps(142e6) - 148e6).abs() < 1e-3);
        assert_eq!(Wire::underlay(1500).underlay_bps(1e8), 1e8);
    }

    /// A path has equal packet sizes as a Path and as a Cell.
    #[test]
    fn a_path_and_its_cell_agree() {
        let mut path = Path::named("p");
        path.underlay.mtu_bytes = Some(Parameter::given(1400));
        path.underlay.ip = Some(Parameter::given(IpVersion::V6));
        let cell = path.cell(&crate::path::Trial::default()).unwrap();
        for layer in [Layer::Underlay, Layer::Tunnel] {
            assert_eq!(path.wire(layer), cell.wire(layer));
        }
        assert_eq!(path.wire(Layer::Tunnel), Wire::underlay(1400));
    }
}
