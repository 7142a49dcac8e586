//! Addresses of the testbed: link k is 10.0.k.0/24 or fd00:k::/64, the tunnel is network 99.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use model::net::{IpVersion, Side};

/// Network number of the tunnel.
pub(crate) const TUNNEL: u8 = 99;

/// Number of the host at one end of a network; its near end is towards the path's near end.
fn number_of(side: Side) -> u8 {
    match side {
        Side::Near => 1,
        Side::Far => 2,
    }
}

/// The address of the host at `side` of network `number`.
pub(crate) fn host(ip: IpVersion, number: u8, side: Side) -> IpAddr {
    match ip {
        IpVersion::V4 => Ipv4Addr::new(10, 0, number, number_of(side)).into(),
        IpVersion::V6 => {
            let host = u16::from(number_of(side));
            Ipv6Addr::new(0xfd00, u16::from(number), 0, 0, 0, 0, 0, host).into()
        }
    }
}

/// Network `number` with its prefix length.
pub(crate) fn network(ip: IpVersion, number: u8) -> (IpAddr, u8) {
    match ip {
        IpVersion::V4 => (Ipv4Addr::new(10, 0, number, 0).into(), 24),
        IpVersion::V6 => (
            Ipv6Addr::new(0xfd00, u16::from(number), 0, 0, 0, 0, 0, 0).into(),
            64,
        ),
    }
}

/// Length of the network part of an address.
pub(crate) fn prefix(ip: IpVersion) -> u8 {
    match ip {
        IpVersion::V4 => 24,
        IpVersion::V6 => 64,
    }
}

/// A hardware address that depends on the place alone, so that runs do not differ by it.
pub(crate) fn mac(number: u8, side: Side) -> [u8; 6] {
    [0x02, 0, 0, 0, number, number_of(side)]
}
