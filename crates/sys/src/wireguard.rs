//! Configuration of kernel WireGuard over generic netlink (include/uapi/linux/wireguard.h,
//! drivers/net/wireguard/netlink.c, Linux 7.2). The link itself is made by
//! [`crate::link::create_wireguard`].

pub(crate) mod decode;
mod encode;

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::netlink::{GENLMSG_LEN, Netlink, NetlinkError};

const WG_CMD_GET_DEVICE: u8 = 0;
const WG_CMD_SET_DEVICE: u8 = 1;
const WGDEVICE_A_IFINDEX: u16 = 1;
const WGDEVICE_A_PRIVATE_KEY: u16 = 3;
const WGDEVICE_A_PUBLIC_KEY: u16 = 4;
const WGDEVICE_A_FLAGS: u16 = 5;
const WGDEVICE_A_LISTEN_PORT: u16 = 6;
const WGDEVICE_A_FWMARK: u16 = 7;
const WGDEVICE_A_PEERS: u16 = 8;
const WGPEER_A_PUBLIC_KEY: u16 = 1;
const WGPEER_A_PRESHARED_KEY: u16 = 2;
const WGPEER_A_FLAGS: u16 = 3;
const WGPEER_A_ENDPOINT: u16 = 4;
const WGPEER_A_PERSISTENT_KEEPALIVE_INTERVAL: u16 = 5;
const WGPEER_A_LAST_HANDSHAKE_TIME: u16 = 6;
const WGPEER_A_RX_BYTES: u16 = 7;
const WGPEER_A_TX_BYTES: u16 = 8;
const WGPEER_A_ALLOWEDIPS: u16 = 9;
const WGALLOWEDIP_A_FAMILY: u16 = 1;
const WGALLOWEDIP_A_IPADDR: u16 = 2;
const WGALLOWEDIP_A_CIDR_MASK: u16 = 3;
const WGDEVICE_F_REPLACE_PEERS: u32 = 1;
const WGPEER_F_REPLACE_ALLOWEDIPS: u32 = 2;

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

/// A generic netlink socket with the number of the wireguard family.
#[derive(Debug)]
pub struct WireGuard {
    nl: Netlink,
    family: u16,
}

impl WireGuard {
    /// Resolves the family; the socket decides the network namespace (see
    /// [`crate::Netns::generic`]).
    ///
    /// # Errors
    /// The kernel has no wireguard, or its module is not loaded (making a link loads it).
    pub fn new(mut nl: Netlink) -> Result<WireGuard, NetlinkError> {
        let family = nl.family("wireguard")?;
        Ok(WireGuard { nl, family })
    }

    /// Sets keys, port and peers of a device, split into several messages if needed.
    ///
    /// # Errors
    /// No such device, or a value is rejected.
    pub fn set(&mut self, ifindex: u32, device: &Device) -> Result<(), NetlinkError> {
        for mut m in encode::set_messages(self.family, ifindex, device) {
            self.nl
                .request(&mut m, format_args!("set up the wireguard link {ifindex}"))?;
        }
        Ok(())
    }

    /// Reads a device with its peers.
    ///
    /// # Errors
    /// No such device.
    pub fn get(&mut self, ifindex: u32) -> Result<DeviceState, NetlinkError> {
        let mut m = encode::header(self.family, WG_CMD_GET_DEVICE, ifindex);
        let op = format_args!("read the wireguard link {ifindex}");
        let parts = self
            .nl
            .dump(&mut m, op, |payload| Some(decode::device(payload)))?;
        Ok(decode::join(parts))
    }
}

#[cfg(test)]
mod tests;
