//! Header and attributes of messages about links.

pub(super) const IFLA_ADDRESS: u16 = 1;
pub(super) const IFLA_IFNAME: u16 = 3;
pub(super) const IFLA_MTU: u16 = 4;
pub(super) const IFLA_TXQLEN: u16 = 13;
pub(super) const IFLA_LINKINFO: u16 = 18;
pub(super) const IFLA_NUM_TX_QUEUES: u16 = 31;
pub(super) const IFLA_NUM_RX_QUEUES: u16 = 32;

pub(super) const IFLA_INFO_KIND: u16 = 1;

/// `IFF_UP` (include/uapi/linux/if.h).
pub(super) const IFF_UP: u32 = 1;
/// Size of `struct ifinfomsg` (include/uapi/linux/rtnetlink.h).
pub(super) const IFINFOMSG_LEN: usize = 16;

/// `struct ifinfomsg`: family, pad, type, index, flags, change.
pub(super) fn ifinfomsg(index: u32, flags: u32, mask: u32) -> [u8; IFINFOMSG_LEN] {
    let mut header = [0; IFINFOMSG_LEN];
    header[4..8].copy_from_slice(&index.to_ne_bytes());
    header[8..12].copy_from_slice(&flags.to_ne_bytes());
    header[12..16].copy_from_slice(&mask.to_ne_bytes());
    header
}
