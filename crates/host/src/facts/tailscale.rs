//! Parser of `tailscale status --json` (ipn/ipnstate of Tailscale 1.102: `Status`, `PeerStatus`).

use std::net::IpAddr;

use model::facts::{Product, TunnelPath};
use serde_json::Value;

use super::status::{
    PeerStatus, Status, closest, hex, list, longest, prefixes, seconds, short_key, text,
};

/// Parses the document, with the peer that has an address or routes it. `None` if it is another
/// document.
pub fn parse(json: &str, toward: IpAddr) -> Option<Status> {
    let document: Value = serde_json::from_str(json).ok()?;
    document.get("BackendState")?;
    let peers = document.get("Peer").and_then(Value::as_object);
    let peers = peers.into_iter().flat_map(|peers| peers.values());
    let found = closest(peers, |p| prefix_len(p, toward));
    Some(Status {
        product: Product::Tailscale,
        version: text(&document, "Version").map(str::to_owned),
        has_device: document.get("TUN").and_then(Value::as_bool),
        peer: found.map(peer),
    })
}

/// Length of the longest prefix of a peer that contains an address. The default route of an exit
/// node counts only while it is chosen.
fn prefix_len(peer: &Value, address: IpAddr) -> Option<u8> {
    let own = list(peer, "TailscaleIPs").iter();
    let routed = list(peer, "AllowedIPs").iter();
    let len = longest(prefixes(own.chain(routed)), address)?;
    let chosen = peer.get("ExitNode") == Some(&Value::Bool(true));
    (len > 0 || chosen).then_some(len)
}

fn peer(peer: &Value) -> PeerStatus {
    let endpoint = text(peer, "CurAddr").and_then(|a| a.parse().ok());
    let peer_relay = text(peer, "PeerRelay");
    let active = peer.get("Active").and_then(Value::as_bool);
    // The same conclusion as `tailscale status` (cmd/tailscale/cli/status.go).
    let path = match (active, endpoint.is_some(), peer_relay, text(peer, "Relay")) {
        (Some(false), ..) => Some(TunnelPath::Idle),
        (_, true, ..) => Some(TunnelPath::Direct),
        (Some(true), _, Some(_), _) | (Some(true), _, _, Some(_)) => Some(TunnelPath::Relayed),
        _ => None,
    };
    // The home relay is named even while packets go directly.
    let relayed = path == Some(TunnelPath::Relayed);
    let relay = peer_relay.or(text(peer, "Relay")).filter(|_| relayed);
    let transport = if peer_relay.is_some() { "udp" } else { "derp" };
    let key = text(peer, "PublicKey").and_then(|k| hex(k.strip_prefix("nodekey:")?));
    PeerStatus {
        path,
        relay: relay.map(str::to_owned),
        relay_transport: relayed.then(|| transport.to_owned()),
        endpoint,
        handshake_s: text(peer, "LastHandshake").and_then(seconds),
        key: key.map(|k| short_key(&k)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// In the form of version 1.102, with addresses for documentation.
    const DOCUMENT: &str = include_str!("../../tests/documents/tailscale.json");

    /// As one node printed them: with a direct connection, and with UDP to its peer's port dropped,
    /// so that it passes the DERP relay `test`. The peer is 10.77.2.2.
    const REAL: [&str; 2] = [
        include_str!("../../tests/documents/tailscale-direct.json"),
        include_str!("../../tests/documents/tailscale-relayed.json"),
    ];

    fn of(address: &str) -> Status {
        parse(DOCUMENT, address.parse().unwrap()).unwrap()
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_without_panic(text in "\\PC{0,200}", cut in 0..4000usize) {
            let to = IpAddr::from([100, 90, 1, 2]);
            let _ = parse(&text, to);
            let _ = parse(DOCUMENT.get(..cut).unwrap_or(DOCUMENT), to);
        }
    }

    #[test]
    fn a_peer_that_is_reached_directly() {
        let status = of("100.101.102.103");
        assert_eq!(
            (status.product, status.has_device),
            (Product::Tailscale, Some(true))
        );
        let peer = status.peer.unwrap();
        assert_eq!(peer.path, Some(TunnelPath::Direct));
        assert_eq!(peer.endpoint, Some("[2001:db8::7]:41641".parse().unwrap()));
        // The home relay is not in use.
        assert_eq!((peer.relay, peer.relay_transport), (None, None));
        assert_eq!(peer.key.as_deref(), Some("Zm9vYmFy"));
    }

    #[test]
    fn relays_of_both_kinds() {
        let derp = of("fd7a:115c:a1e0::2").peer.unwrap();
        assert_eq!(derp.path, Some(TunnelPath::Relayed));
        assert_eq!(derp.relay.as_deref(), Some("fra"));
        assert_eq!(derp.relay_transport.as_deref(), Some("derp"));
        let other = of("192.168.77.5").peer.unwrap();
        assert_eq!(other.relay.as_deref(), Some("203.0.113.9:40000:vni:1"));
        assert_eq!(other.relay_transport.as_deref(), Some("udp"));
    }

    /// A peer that offers the whole Internet is not the way to it unless chosen.
    #[test]
    fn an_exit_node_that_is_not_chosen_is_not_on_the_path() {
        assert_eq!(of("8.8.8.8").peer, None);
        let chosen = DOCUMENT.replace("\"ExitNode\": false", "\"ExitNode\": true");
        let status = parse(&chosen, "8.8.8.8".parse().unwrap()).unwrap();
        assert_eq!(status.peer.unwrap().path, Some(TunnelPath::Idle));
    }

    #[test]
    fn a_real_node_that_is_direct_and_relayed() {
        let direct = PeerStatus {
            path: Some(TunnelPath::Direct),
            endpoint: Some("10.77.2.2:41641".parse().unwrap()),
            handshake_s: Some(1_795_311_924),
            key: Some("tdgXgA5D".to_owned()),
            ..PeerStatus::default()
        };
        let relayed = PeerStatus {
            path: Some(TunnelPath::Relayed),
            relay: Some("test".to_owned()),
            relay_transport: Some("derp".to_owned()),
            endpoint: None,
            handshake_s: Some(1_795_311_697),
            ..direct.clone()
        };
        for (document, peer) in REAL.into_iter().zip([direct, relayed]) {
            let wanted = Status {
                product: Product::Tailscale,
                version: Some("1.102.5-ERR-BuildInfo".to_owned()),
                has_device: Some(true),
                peer: Some(peer),
            };
            for own in ["100.64.0.2", "fd7a:115c:a1e0:ab12:4843:cd96:6240:2"] {
                assert_eq!(parse(document, own.parse().unwrap()), Some(wanted.clone()));
            }
            // Its own address, and an address of the network that no peer has.
            for other in ["100.64.0.1", "100.64.0.3"] {
                let status = parse(document, other.parse().unwrap()).unwrap();
                assert_eq!(status.peer, None, "{other}");
            }
        }
    }
}
