//! Tunnels: their kind, their peer, and the path of their own packets.

use std::{
    net::IpAddr,
    time::{SystemTime, UNIX_EPOCH},
};

use model::{
    facts::{DeviceKind, ProcessFacts, Product, TunnelFacts, TunnelKind, TunnelPath},
    text,
};
use sys::{
    Netlink,
    link::Link,
    procfs,
    route::Query,
    wireguard::{DeviceState, PeerState, WireGuard},
};

use super::{
    device,
    notes::Notes,
    product::{self, NETBIRD, TAILSCALE},
    status::{Status, closest, contains, longest, short_key},
    uapi,
};

/// Prefixes of the peers' addresses: IPv4 of both products (RFC 6598), IPv6 of Tailscale.
const SHARED: ([u8; 4], u8) = ([100, 64, 0, 0], 10);
const TAILSCALE_6: ([u16; 8], u8) = ([0xfd7a, 0x115c, 0xa1e0, 0, 0, 0, 0, 0], 48);

/// The tunnel that packets to an address enter by one of these links, and the destination of its
/// own packets, if it is known. `None` if there is no tunnel.
pub(super) fn facts(
    links: &[Link],
    toward: IpAddr,
    notes: &mut Notes,
) -> Option<(TunnelFacts, Option<Query>)> {
    let kind = |link: &&Link| device::kind(link, false);
    let link = links.iter().find(|l| {
        let kind = kind(l);
        matches!(
            kind,
            DeviceKind::Wireguard | DeviceKind::Tun | DeviceKind::PlainTunnel
        )
    });
    let Some(link) = link else {
        let tunnel = netstack(links, toward, notes)?;
        let next = next(&tunnel);
        return Some((tunnel, next));
    };
    let mut tunnel = match kind(&link) {
        DeviceKind::Wireguard => in_kernel(link, toward, notes),
        DeviceKind::Tun => in_process(link, toward, notes),
        _ => TunnelFacts {
            kind: TunnelKind::Plain,
            ..TunnelFacts::default()
        },
    };
    tunnel.device = Some(link.name.clone());
    tunnel.mtu = Some(link.mtu);
    if let Some(status) = status(&tunnel, &link.name, toward, notes) {
        merge(&mut tunnel, status);
    }
    let next = next(&tunnel);
    Some((tunnel, next))
}

fn now_s() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |d| d.as_secs())
}

fn in_kernel(link: &Link, toward: IpAddr, notes: &mut Notes) -> TunnelFacts {
    let mut tunnel = TunnelFacts {
        kind: TunnelKind::KernelWireguard,
        ..TunnelFacts::default()
    };
    let state = Netlink::generic()
        .and_then(WireGuard::new)
        .and_then(|mut wireguard| wireguard.get(link.index));
    if let Some(state) = notes.keep(state, |error| {
        text!(
            "cannot read the WireGuard state of {device}: {error}",
            device = &link.name,
            error = error.cause()
        )
    }) {
        read_state(&mut tunnel, &state, toward);
    }
    tunnel
}

/// A tun device: by the process that holds it.
fn in_process(link: &Link, toward: IpAddr, notes: &mut Notes) -> TunnelFacts {
    let holder = procfs::tun_holders(&link.name).into_iter().next();
    let answer = uapi::socket(&link.name).and_then(|s| uapi::query(s).ok());
    let program = holder.as_ref().map(|h| h.program.as_str());
    let mut tunnel = TunnelFacts {
        kind: by_program(program, answer.is_some()),
        product: product(program),
        process: holder.as_ref().map(|h| ProcessFacts {
            pid: h.pid,
            name: h.program.clone(),
        }),
        ..TunnelFacts::default()
    };
    if holder.is_none() {
        notes.add(text!(
            "cannot find the process of the tun device {device}: it belongs to another user (run as root) or another container",
            device = &link.name
        ));
    }
    if let Some(state) = answer.and_then(|a| uapi::parse(&a, now_s())) {
        read_state(&mut tunnel, &state, toward);
    }
    tunnel
}

/// The implementation, by the name of the program, and by whether it has WireGuard's control
/// socket.
fn by_program(program: Option<&str>, wireguard: bool) -> TunnelKind {
    let Some(program) = program else {
        return TunnelKind::Unknown;
    };
    match program {
        "wireguard-go" | "wireguard" | "tailscaled" | "netbird" => TunnelKind::WireguardGo,
        p if p.starts_with("boringtun") => TunnelKind::Boringtun,
        p if p.starts_with("openvpn") => TunnelKind::Openvpn,
        // wireguard-go is also used as a library, which the socket indicates; BoringTun has such a
        // socket, too.
        _ if wireguard => TunnelKind::Unknown,
        _ => TunnelKind::OtherTun,
    }
}

fn product(program: Option<&str>) -> Product {
    let of = |client: &&product::Client| program == Some(client.daemon);
    let found = [&NETBIRD, &TAILSCALE].into_iter().find(of);
    found.map_or(Product::None, |client| client.product)
}

/// The peer whose allowed addresses contain the destination most closely.
fn chosen(state: &DeviceState, toward: IpAddr) -> Option<&PeerState> {
    let len_of = |peer: &&PeerState| longest(peer.allowed_ips.iter().copied(), toward);
    closest(&state.peers, len_of)
}

fn read_state(tunnel: &mut TunnelFacts, state: &DeviceState, toward: IpAddr) {
    tunnel.listen_port = Some(state.listen_port).filter(|&p| p != 0);
    tunnel.fwmark = Some(state.fwmark).filter(|&m| m != 0);
    let Some(peer) = chosen(state, toward) else {
        return;
    };
    tunnel.peer_key = Some(short_key(&peer.public_key));
    tunnel.keepalive_s = Some(peer.keepalive_s);
    let handshake = peer.last_handshake.map(|t| t.as_secs());
    tunnel.handshake_age_s = handshake.map(|t| now_s().saturating_sub(t));
    // An endpoint on this host is a proxy of the product, not the far end.
    tunnel.endpoint = peer.endpoint.filter(|e| !e.ip().is_loopback());
    tunnel.path = match (peer.endpoint, handshake) {
        (Some(endpoint), Some(_)) if !endpoint.ip().is_loopback() => Some(TunnelPath::Direct),
        (_, None) => Some(TunnelPath::Idle),
        _ => None,
    };
}

/// The product's status, if a product is detected.
fn status(tunnel: &TunnelFacts, device: &str, toward: IpAddr, notes: &mut Notes) -> Option<Status> {
    let found = [NETBIRD, TAILSCALE].into_iter().find(|client| {
        tunnel.product == client.product
            || (tunnel.process.is_none()
                && device.starts_with(client.device)
                && client.is_running())
    });
    found?.status(toward, notes)
}

/// Adds a product's status. The kernel has endpoints and handshakes; the product has relays.
fn merge(tunnel: &mut TunnelFacts, status: Status) {
    tunnel.product = status.product;
    tunnel.version = status.version;
    if tunnel.process.is_none() {
        tunnel.process = daemon(status.product);
    }
    let Some(peer) = status.peer else { return };
    if peer.path.is_some() {
        tunnel.path = peer.path;
    }
    tunnel.relay = peer.relay;
    tunnel.relay_transport = peer.relay_transport;
    tunnel.endpoint = match peer.path {
        Some(TunnelPath::Relayed) => None,
        _ => tunnel.endpoint.or(peer.endpoint),
    };
    let age = peer.handshake_s.map(|t| now_s().saturating_sub(t));
    tunnel.handshake_age_s = tunnel.handshake_age_s.or(age);
    tunnel.peer_key = tunnel.peer_key.take().or(peer.key);
}

/// The product's own process.
fn daemon(product: Product) -> Option<ProcessFacts> {
    let name = product::client(product)?.daemon;
    let pid = *procfs::with_program(name).first()?;
    Some(ProcessFacts {
        pid,
        name: name.to_owned(),
    })
}

/// A tunnel without a device: a product runs here whose network has the address, and its process
/// contains the network stack.
fn netstack(links: &[Link], toward: IpAddr, notes: &mut Notes) -> Option<TunnelFacts> {
    let four = contains(IpAddr::from(SHARED.0), SHARED.1, toward);
    let six = contains(IpAddr::from(TAILSCALE_6.0), TAILSCALE_6.1, toward);
    if !(four || six) || links.iter().any(|l| l.name == "lo") {
        return None;
    }
    let status = [TAILSCALE, NETBIRD].into_iter().find_map(|client| {
        let status = client
            .is_running()
            .then(|| client.status(toward, notes))??;
        (status.peer.is_some() && status.has_device != Some(true)).then_some(status)
    })?;
    let mut tunnel = TunnelFacts {
        kind: TunnelKind::Netstack,
        ..TunnelFacts::default()
    };
    merge(&mut tunnel, status);
    Some(tunnel)
}

/// The destination of the tunnel's own packets.
fn next(tunnel: &TunnelFacts) -> Option<Query> {
    let to = match tunnel.path {
        Some(TunnelPath::Relayed) => tunnel.relay.as_deref().and_then(relay_address),
        _ => tunnel.endpoint.map(|e| e.ip()),
    }?;
    let of_product = product::client(tunnel.product).map(|client| client.mark);
    Some(Query {
        to,
        mark: tunnel.fwmark.or(of_product),
        link: None,
    })
}

/// The address in `rels://192.0.2.1:443` or `192.0.2.1:40000:vni:1`; names are not resolved, since
/// that would cause traffic.
fn relay_address(relay: &str) -> Option<IpAddr> {
    let host = relay.split_once("://").map_or(relay, |(_, host)| host);
    if let Some(inside) = host.strip_prefix('[') {
        return inside.split_once(']')?.0.parse().ok();
    }
    host.split(':').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(key: u8, allowed: &[&str]) -> PeerState {
        let prefix = |text: &&str| super::super::status::prefix(text).unwrap();
        PeerState {
            public_key: [key; 32],
            endpoint: Some("192.0.2.7:51820".parse().unwrap()),
            last_handshake: Some(std::time::Duration::from_secs(now_s() - 30)),
            keepalive_s: 25,
            allowed_ips: allowed.iter().map(prefix).collect(),
            ..PeerState::default()
        }
    }

    #[test]
    fn the_peer_with_the_closest_prefix_is_chosen() {
        let state = DeviceState {
            listen_port: 51820,
            peers: vec![
                peer(1, &["0.0.0.0/0"]),
                peer(2, &["10.9.0.0/24", "fd00::/64"]),
            ],
            ..DeviceState::default()
        };
        let key = |to: &str| chosen(&state, to.parse().unwrap()).map(|p| p.public_key[0]);
        assert_eq!(key("10.9.0.5"), Some(2));
        assert_eq!(key("10.8.0.5"), Some(1));
        assert_eq!(key("fd01::1"), None);
        let mut tunnel = TunnelFacts::default();
        read_state(&mut tunnel, &state, "10.9.0.5".parse().unwrap());
        assert_eq!(tunnel.path, Some(TunnelPath::Direct));
        assert!(
            tunnel
                .handshake_age_s
                .is_some_and(|age| (30..90).contains(&age))
        );
        let wanted = Query::to("192.0.2.7".parse().unwrap());
        assert_eq!(next(&tunnel), Some(wanted));
    }

    /// NetBird's kernel device has its peers at a proxy on this host while they are relayed.
    #[test]
    fn an_endpoint_on_this_host_is_not_an_endpoint() {
        let mut relayed = peer(1, &["100.90.0.0/16"]);
        relayed.endpoint = Some("127.0.0.1:40000".parse().unwrap());
        let state = DeviceState {
            peers: vec![relayed],
            ..DeviceState::default()
        };
        let mut tunnel = TunnelFacts::default();
        read_state(&mut tunnel, &state, "100.90.1.1".parse().unwrap());
        assert_eq!(
            (tunnel.path, tunnel.endpoint, next(&tunnel)),
            (None, None, None)
        );
    }

    #[test]
    fn packets_of_a_relayed_tunnel_go_to_the_relay() {
        let tunnel = |relay: &str| TunnelFacts {
            product: Product::Netbird,
            path: Some(TunnelPath::Relayed),
            relay: Some(relay.to_owned()),
            ..TunnelFacts::default()
        };
        let query = next(&tunnel("rels://192.0.2.1:443")).unwrap();
        assert_eq!(
            (query.to, query.mark),
            ("192.0.2.1".parse().unwrap(), Some(NETBIRD.mark))
        );
        assert!(next(&tunnel("rels://[2001:db8::1]:443")).is_some());
        assert_eq!(next(&tunnel("rels://relay.example.net:443")), None);
    }

    /// Facts of the tunnel of a real client (`tests/documents`), whose device has the peer at
    /// `endpoint`.
    fn merged(status: Option<Status>, endpoint: Option<&str>) -> TunnelFacts {
        let mut tunnel = TunnelFacts {
            endpoint: endpoint.map(|e| e.parse().unwrap()),
            ..TunnelFacts::default()
        };
        merge(&mut tunnel, status.unwrap());
        tunnel
    }

    /// NetBird names its relay by address, Tailscale by the name of a region.
    #[test]
    fn packets_of_real_clients_go_to_the_peer_or_to_the_relay() {
        let netbird = |document: &str, endpoint: Option<&str>| {
            let peer = "100.113.245.249".parse().unwrap();
            merged(super::super::netbird::parse(document, peer), endpoint)
        };
        let tailscale = |document: &str| {
            let peer = "100.64.0.2".parse().unwrap();
            merged(super::super::tailscale::parse(document, peer), None)
        };
        let to = |tunnel: &TunnelFacts| next(tunnel).map(|q| q.to.to_string());
        let idle = netbird(
            include_str!("../../tests/documents/netbird-idle.json"),
            None,
        );
        assert_eq!((idle.path, to(&idle)), (Some(TunnelPath::Idle), None));
        assert_eq!(idle.handshake_age_s, None);
        let direct = netbird(
            include_str!("../../tests/documents/netbird-direct.json"),
            None,
        );
        assert_eq!(to(&direct).as_deref(), Some("10.77.2.2"));
        // The device still has the direct address while packets pass the relay.
        let relayed = netbird(
            include_str!("../../tests/documents/netbird-relayed.json"),
            Some("10.77.2.2:51820"),
        );
        assert_eq!(relayed.endpoint, None);
        assert_eq!(to(&relayed).as_deref(), Some("10.77.1.1"));
        let direct = tailscale(include_str!("../../tests/documents/tailscale-direct.json"));
        assert_eq!(to(&direct).as_deref(), Some("10.77.2.2"));
        let relayed = tailscale(include_str!("../../tests/documents/tailscale-relayed.json"));
        assert_eq!(
            (relayed.path, relayed.endpoint, to(&relayed)),
            (Some(TunnelPath::Relayed), None, None)
        );
    }

    #[test]
    fn programs_by_name() {
        assert_eq!(
            by_program(Some("boringtun-cli"), true),
            TunnelKind::Boringtun
        );
        assert_eq!(by_program(Some("openvpn"), false), TunnelKind::Openvpn);
        assert_eq!(by_program(Some("tincd"), false), TunnelKind::OtherTun);
        assert_eq!(by_program(None, true), TunnelKind::Unknown);
    }
}
