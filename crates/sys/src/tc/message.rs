//! Header and attributes of messages about traffic control.

use super::handle::Handle;

pub(super) const RTM_NEWQDISC: u16 = 36;
pub(super) const RTM_GETQDISC: u16 = 38;
pub(super) const RTM_NEWTCLASS: u16 = 40;
pub(super) const RTM_GETTCLASS: u16 = 42;
pub(super) const RTM_NEWTFILTER: u16 = 44;
pub(super) const RTM_GETTFILTER: u16 = 46;

pub(super) const TCA_KIND: u16 = 1;
pub(super) const TCA_OPTIONS: u16 = 2;
pub(super) const TCA_STATS2: u16 = 7;

/// Size of `struct tcmsg` (include/uapi/linux/rtnetlink.h).
pub(super) const TCMSG_LEN: usize = 20;

/// `struct tcmsg`: family, pads, index, handle, parent, info.
pub(super) fn tcmsg(ifindex: u32, handle: Handle, parent: Handle, info: u32) -> [u8; TCMSG_LEN] {
    let mut header = [0; TCMSG_LEN];
    header[4..8].copy_from_slice(&ifindex.to_ne_bytes());
    header[8..12].copy_from_slice(&handle.raw().to_ne_bytes());
    header[12..16].copy_from_slice(&parent.raw().to_ne_bytes());
    header[16..20].copy_from_slice(&info.to_ne_bytes());
    header
}
