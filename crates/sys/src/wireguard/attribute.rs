//! Attributes and flags of messages of the wireguard family.

pub(super) const WGDEVICE_A_IFINDEX: u16 = 1;
pub(super) const WGDEVICE_A_PRIVATE_KEY: u16 = 3;
pub(super) const WGDEVICE_A_PUBLIC_KEY: u16 = 4;
pub(super) const WGDEVICE_A_FLAGS: u16 = 5;
pub(super) const WGDEVICE_A_LISTEN_PORT: u16 = 6;
pub(super) const WGDEVICE_A_FWMARK: u16 = 7;
pub(super) const WGDEVICE_A_PEERS: u16 = 8;
pub(super) const WGPEER_A_PUBLIC_KEY: u16 = 1;
pub(super) const WGPEER_A_PRESHARED_KEY: u16 = 2;
pub(super) const WGPEER_A_FLAGS: u16 = 3;
pub(super) const WGPEER_A_ENDPOINT: u16 = 4;
pub(super) const WGPEER_A_PERSISTENT_KEEPALIVE_INTERVAL: u16 = 5;
pub(super) const WGPEER_A_LAST_HANDSHAKE_TIME: u16 = 6;
pub(super) const WGPEER_A_RX_BYTES: u16 = 7;
pub(super) const WGPEER_A_TX_BYTES: u16 = 8;
pub(super) const WGPEER_A_ALLOWEDIPS: u16 = 9;
pub(super) const WGALLOWEDIP_A_FAMILY: u16 = 1;
pub(super) const WGALLOWEDIP_A_IPADDR: u16 = 2;
pub(super) const WGALLOWEDIP_A_CIDR_MASK: u16 = 3;
pub(super) const WGDEVICE_F_REPLACE_PEERS: u32 = 1;
pub(super) const WGPEER_F_REPLACE_ALLOWEDIPS: u32 = 2;
