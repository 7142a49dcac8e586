//! Tunnels on a path.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

/// Facts of one tunnel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TunnelFacts {
    /// Name of its device; absent if it has none, as a userspace network stack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// What moves the packets.
    pub kind: TunnelKind,
    /// What manages it.
    pub product: Product,
    /// The product's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether packets go straight to the peer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<TunnelPath>,
    /// Name or address of the relay, if relayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relay: Option<String>,
    /// Transport to the relay, such as `ws` or `quic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relay_transport: Option<String>,
    /// Where the outer packets go now; its family is the family of the underlay. Absent while
    /// relayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<SocketAddr>,
    /// UDP port of this end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listen_port: Option<u16>,
    /// Seconds between keepalives; 0 = none are sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keepalive_s: Option<u16>,
    /// Age of the last handshake, seconds. WireGuard makes one every two minutes while data flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake_age_s: Option<u64>,
    /// MTU inside the tunnel, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u32>,
    /// First characters of the peer's public key in base64, enough to tell peers apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_key: Option<String>,
    /// Mark that the outer packets carry, which may choose another route.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fwmark: Option<u32>,
    /// The process that moves the packets, or manages the tunnel if the kernel moves them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessFacts>,
}

/// What moves the packets of a tunnel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TunnelKind {
    /// The kernel's WireGuard.
    KernelWireguard,
    /// wireguard-go or a program built on it (Tailscale, NetBird in userspace mode).
    WireguardGo,
    /// BoringTun or a program built on it.
    Boringtun,
    /// A TCP/IP stack in a process: the host's congestion control and buffers do not apply.
    Netstack,
    /// OpenVPN.
    Openvpn,
    /// A process on a tun device that is none of these.
    OtherTun,
    /// A tunnel without encryption that the kernel makes, such as GRE.
    Plain,
    /// Not known.
    #[default]
    Unknown,
}

impl TunnelKind {
    /// Whether packets pass through a process.
    pub fn is_userspace(self) -> Option<bool> {
        match self {
            Self::KernelWireguard | Self::Plain => Some(false),
            Self::Unknown => None,
            _ => Some(true),
        }
    }
}

/// What manages a tunnel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Product {
    /// NetBird.
    Netbird,
    /// Tailscale.
    Tailscale,
    /// Neither.
    #[default]
    None,
}

/// The way to the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TunnelPath {
    /// Straight to the peer.
    Direct,
    /// Through a relay, which may put the packets into TCP.
    Relayed,
    /// No connection to the peer stands.
    Idle,
}

/// A process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessFacts {
    /// Its number.
    pub pid: u32,
    /// Name of its program without the folder.
    pub name: String,
}
