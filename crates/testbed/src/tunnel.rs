//! WireGuard between two hosts of the plan.

use std::net::SocketAddr;

use model::{
    cell::Tunnel,
    net::{IpVersion, Side},
};
use sys::{
    NetlinkError, Netns,
    link::{self, NewLink, Route},
    wireguard::{Device, Peer, WireGuard},
};

use crate::address::{self, TUNNEL};

/// Name of the tunnel device.
pub(crate) const DEVICE: &str = "wg0";
/// UDP port of both ends.
pub(crate) const PORT: u16 = 51820;

/// Keys of the lab's tunnels. They protect nothing, since both ends are in one kernel; fixed keys
/// make runs reproducible.
const CLIENT: Keys = Keys {
    private: hex("8031b177ab794c0018160c5ecc341317142f7144e148e36124c92f8643f8b77d"),
    public: hex("84dcc8e1974f1f969f61508935fd02bc52a7bd6029f16ea93373d4198a82845f"),
};
const SERVER: Keys = Keys {
    private: hex("d05f98a4619ac3498f4e0a761d130f2d82c8dbc765676321b6fa46bacabeb963"),
    public: hex("1ba71cb361c32962a7846307f752c8815c843155165167a684d31625dc7c9353"),
};

struct Keys {
    private: [u8; 32],
    public: [u8; 32],
}

/// Makes the device on one host and routes `networks` into it.
pub(crate) fn make(
    ns: &Netns,
    tunnel: &Tunnel,
    side: Side,
    outer: IpVersion,
    far_network: u8,
    networks: &[u8],
) -> Result<(), NetlinkError> {
    let mut nl = ns.route()?;
    let link = NewLink {
        mtu: Some(tunnel.mtu),
        ..NewLink::named(DEVICE)
    };
    link::create_wireguard(&mut nl, &link)?;
    let index = link::index(&mut nl, DEVICE)?;
    let (own, peer) = match side {
        Side::Near => (&CLIENT, &SERVER),
        Side::Far => (&SERVER, &CLIENT),
    };
    let any: std::net::IpAddr = match tunnel.ip {
        IpVersion::V4 => std::net::Ipv4Addr::UNSPECIFIED.into(),
        IpVersion::V6 => std::net::Ipv6Addr::UNSPECIFIED.into(),
    };
    let device = Device {
        private_key: Some(own.private),
        listen_port: Some(PORT),
        peers: vec![Peer {
            public_key: peer.public,
            preshared_key: None,
            endpoint: Some(SocketAddr::new(
                address::host(outer, far_network, side.other()),
                PORT,
            )),
            allowed_ips: vec![(any, 0)],
            keepalive_s: None,
        }],
        ..Device::default()
    };
    WireGuard::new(ns.generic()?)?.set(index, &device)?;
    let own = address::host(tunnel.ip, TUNNEL, side);
    link::add_address(&mut nl, index, own, address::prefix(tunnel.ip))?;
    link::set_up(&mut nl, index)?;
    for &network in networks {
        let route = Route {
            to: address::network(tunnel.ip, network),
            via: None,
            dev: Some(index),
            metric: None,
        };
        link::add_route(&mut nl, &route)?;
    }
    Ok(())
}

const fn hex(text: &str) -> [u8; 32] {
    let text = text.as_bytes();
    let mut bytes = [0; 32];
    let mut i = 0;
    while i < 32 {
        bytes[i] = digit(text[2 * i]) << 4 | digit(text[2 * i + 1]);
        i += 1;
    }
    bytes
}

const fn digit(c: u8) -> u8 {
    match c {
        b'0'..=b'9' => c - b'0',
        _ => c - b'a' + 10,
    }
}
