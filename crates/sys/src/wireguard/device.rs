//! Settings and state of WireGuard devices.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

/// A Curve25519 key.
pub type Key = [u8; 32];

/// Settings of a device. All peers are replaced by those given.
#[derive(Clone, Default)]
pub struct Device {
    /// Own private key; absent = unchanged.
    pub private_key: Option<Key>,
    /// UDP port; absent = unchanged, 0 = chosen by the kernel.
    pub listen_port: Option<u16>,
    /// Mark of the outer packets; absent = unchanged.
    pub fwmark: Option<u32>,
    /// Peers.
    pub peers: Vec<Peer>,
}

/// A peer of a device.
#[derive(Clone)]
pub struct Peer {
    /// Its public key.
    pub public_key: Key,
    /// Preshared key.
    pub preshared_key: Option<Key>,
    /// Its endpoint; absent = learned from its packets.
    pub endpoint: Option<SocketAddr>,
    /// Allowed addresses, with prefix lengths.
    pub allowed_ips: Vec<(IpAddr, u8)>,
    /// Keepalive interval, seconds; 0 or absent = off.
    pub keepalive_s: Option<u16>,
}

/// State and counters of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceState {
    /// Own public key, if it has a private one.
    pub public_key: Option<Key>,
    /// UDP port.
    pub listen_port: u16,
    /// Mark of the outer packets; 0 = none.
    pub fwmark: u32,
    /// Peers.
    pub peers: Vec<PeerState>,
}

/// State and counters of a peer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeerState {
    /// Its public key.
    pub public_key: Key,
    /// Last endpoint.
    pub endpoint: Option<SocketAddr>,
    /// Time of the last handshake since 1970; absent = none yet.
    pub last_handshake: Option<Duration>,
    /// Bytes received from it, of the outer packets' payload.
    pub rx_bytes: u64,
    /// Bytes sent to it, of the outer packets' payload.
    pub tx_bytes: u64,
    /// Keepalive interval, seconds; 0 = off.
    pub keepalive_s: u16,
    /// Allowed addresses, with prefix lengths.
    pub allowed_ips: Vec<(IpAddr, u8)>,
}
