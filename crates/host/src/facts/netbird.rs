//! Parser of `netbird status --json` (client/status/status.go of NetBird 0.78: `OutputOverview`).

use std::net::IpAddr;

use model::facts::{Product, TunnelPath};
use serde_json::Value;

use super::status::{PeerStatus, Status, closest, list, longest, prefixes, seconds, text};

/// Parses the document, with the peer that has an address or routes it. `None` if it is another
/// document.
pub fn parse(json: &str, toward: IpAddr) -> Option<Status> {
    let document: Value = serde_json::from_str(json).ok()?;
    let peers = document.get("peers")?;
    let relays = document.get("relays").unwrap_or(&Value::Null);
    let found = closest(list(peers, "details"), |p| prefix_len(p, toward));
    Some(Status {
        product: Product::Netbird,
        version: text(&document, "daemonVersion").map(str::to_owned),
        // The document shows whether the interface is the kernel's, not whether there is one.
        has_device: (document.get("usesKernelInterface")? == true).then_some(true),
        peer: found.map(|p| peer(p, relays)),
    })
}

/// Length of the longest prefix of a peer that contains an address.
fn prefix_len(peer: &Value, address: IpAddr) -> Option<u8> {
    let own = ["netbirdIp", "netbirdIpv6"].map(|name| peer.get(name));
    let own = own.into_iter().flatten().filter(|ip| !is_network(ip));
    longest(prefixes(own.chain(list(peer, "networks"))), address)
}

/// Older versions report a peer's address with the prefix length of the whole network.
fn is_network(ip: &Value) -> bool {
    ip.as_str()
        .and_then(|ip| ip.split_once('/'))
        .is_some_and(|(_, len)| len != "32" && len != "128")
}

fn peer(peer: &Value, relays: &Value) -> PeerStatus {
    let path = match peer.get("connectionType").and_then(Value::as_str) {
        Some("P2P") => Some(TunnelPath::Direct),
        Some("Relayed") => Some(TunnelPath::Relayed),
        Some("-" | "") => Some(TunnelPath::Idle),
        _ => None,
    };
    // The relay is named even while packets go directly.
    let relay = text(peer, "relayAddress").filter(|_| path == Some(TunnelPath::Relayed));
    let remote = peer.get("iceCandidateEndpoint");
    let endpoint = remote.and_then(|e| text(e, "remote")?.parse().ok());
    PeerStatus {
        path,
        relay: relay.map(str::to_owned),
        relay_transport: relay.and_then(|r| transport(relays, r)),
        endpoint: endpoint.filter(|_| path == Some(TunnelPath::Direct)),
        handshake_s: text(peer, "lastWireguardHandshake").and_then(seconds),
        key: text(peer, "publicKey").map(|k| k.chars().take(8).collect()),
    }
}

/// The transport to a relay, which newer versions show.
fn transport(relays: &Value, relay: &str) -> Option<String> {
    let of = |r: &&Value| text(r, "uri") == Some(relay);
    let details = list(relays, "details").iter().find(of)?;
    text(details, "transport").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// In the form of version 0.78, with addresses for documentation.
    const DOCUMENT: &str = include_str!("../../tests/documents/netbird.json");

    /// As one client printed them: before the first packet to its peer, with a direct connection,
    /// and with all UDP between the two dropped, so that it passes a relay by WebSocket. The peer
    /// is 10.77.2.2, relay and coordination server are 10.77.1.1.
    const REAL: [&str; 3] = [
        include_str!("../../tests/documents/netbird-idle.json"),
        include_str!("../../tests/documents/netbird-direct.json"),
        include_str!("../../tests/documents/netbird-relayed.json"),
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
        let status = of("100.90.133.102");
        assert_eq!(status.product, Product::Netbird);
        assert_eq!(status.version.as_deref(), Some("0.78.2"));
        assert_eq!(status.has_device, Some(true));
        let wanted = PeerStatus {
            path: Some(TunnelPath::Direct),
            relay: None,
            relay_transport: None,
            endpoint: Some("198.51.100.4:51820".parse().unwrap()),
            handshake_s: Some(1_789_034_396),
            key: Some("XNhXaQnN".to_owned()),
        };
        assert_eq!(status.peer, Some(wanted));
    }

    #[test]
    fn a_relayed_peer_by_a_network_behind_it() {
        let peer = of("10.10.100.77").peer.unwrap();
        assert_eq!(peer.path, Some(TunnelPath::Relayed));
        let relay = "rels://relay.example.net:443";
        assert_eq!(peer.relay.as_deref(), Some(relay));
        assert_eq!(peer.relay_transport.as_deref(), Some("quic"));
        assert_eq!(
            (peer.endpoint, peer.handshake_s),
            (None, Some(1_789_034_410))
        );
        assert_eq!(of("fd00:4e42::3").peer.unwrap(), peer);
    }

    #[test]
    fn an_idle_peer_and_none() {
        let idle = of("100.90.109.208").peer.unwrap();
        assert_eq!(idle.path, Some(TunnelPath::Idle));
        assert_eq!(idle.handshake_s, None);
        assert_eq!(of("192.0.2.1").peer, None);
    }

    #[test]
    fn a_real_client_that_is_idle_direct_and_relayed() {
        let idle = PeerStatus {
            path: Some(TunnelPath::Idle),
            key: Some("z+6vMKZy".to_owned()),
            ..PeerStatus::default()
        };
        let direct = PeerStatus {
            path: Some(TunnelPath::Direct),
            endpoint: Some("10.77.2.2:51820".parse().unwrap()),
            handshake_s: Some(1_795_311_427),
            ..idle.clone()
        };
        let relayed = PeerStatus {
            path: Some(TunnelPath::Relayed),
            relay: Some("rel://10.77.1.1:8080".to_owned()),
            relay_transport: Some("ws".to_owned()),
            handshake_s: Some(1_795_311_445),
            ..idle.clone()
        };
        for (document, peer) in REAL.into_iter().zip([idle, direct, relayed]) {
            let wanted = Status {
                product: Product::Netbird,
                version: Some("development".to_owned()),
                has_device: None,
                peer: Some(peer),
            };
            for own in ["100.113.245.249", "fd03:fcc6:4a2b:5931:eddc:10b:a716:6a37"] {
                assert_eq!(parse(document, own.parse().unwrap()), Some(wanted.clone()));
            }
            // Its own address, and an address of the network that no peer has.
            for other in ["100.113.61.113", "100.113.1.1"] {
                let status = parse(document, other.parse().unwrap()).unwrap();
                assert_eq!(status.peer, None, "{other}");
            }
        }
    }
}
