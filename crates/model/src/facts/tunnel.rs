//! Facts about tunnels.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

/// Facts of one tunnel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TunnelFacts {
    /// Name of its device; absent if it has none, as with a userspace network stack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Implementation of the data path.
    pub kind: TunnelKind,
    /// Product that manages it.
    pub product: Product,
    /// The product's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Direct or relayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<TunnelPath>,
    /// Name or address of the relay, if relayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relay: Option<String>,
    /// Transport to the relay, such as `ws` or `quic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relay_transport: Option<String>,
    /// Current endpoint of the outer packets; its family is that of the underlay. Absent while
    /// relayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<SocketAddr>,
    /// Local UDP port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listen_port: Option<u16>,
    /// Keepalive interval, seconds; 0 = off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keepalive_s: Option<u16>,
    /// Age of the last handshake, seconds. WireGuard repeats it every two minutes while data flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake_age_s: Option<u64>,
    /// MTU inside the tunnel, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u32>,
    /// First characters of the peer's public key (base64), to distinguish peers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_key: Option<String>,
    /// Firewall mark of the outer packets, which may select another route.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fwmark: Option<u32>,
    /// The process that forwards the packets, or manages the tunnel if the kernel forwards them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessFacts>,
}

/// Implementation of a tunnel's data path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TunnelKind {
    /// The kernel's WireGuard.
    KernelWireguard,
    /// wireguard-go or a program built on it (Tailscale, NetBird in userspace mode).
    WireguardGo,
    /// BoringTun or a program built on it.
    Boringtun,
    /// A userspace TCP/IP stack: the host's congestion control and buffers do not apply.
    Netstack,
    /// OpenVPN.
    Openvpn,
    /// Another process on a tun device.
    OtherTun,
    /// An unencrypted kernel tunnel, such as GRE.
    Plain,
    /// Unknown.
    #[default]
    Unknown,
}

impl TunnelKind {
    /// Returns whether packets pass through user space; `None` if unknown.
    pub fn is_userspace(self) -> Option<bool> {
        match self {
            Self::KernelWireguard | Self::Plain => Some(false),
            Self::Unknown => None,
            _ => Some(true),
        }
    }
}

/// Product that manages a tunnel.
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

/// State of the connection to the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TunnelPath {
    /// Directly to the peer.
    Direct,
    /// Through a relay, possibly over TCP.
    Relayed,
    /// Not connected.
    Idle,
}

/// A process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessFacts {
    /// Process id.
    pub pid: u32,
    /// Name of its program without the folder.
    pub name: String,
}
