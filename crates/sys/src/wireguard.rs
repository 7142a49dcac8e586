//! Configuration of kernel WireGuard over generic netlink (include/uapi/linux/wireguard.h,
//! drivers/net/wireguard/netlink.c, Linux 7.2). The link itself is made by
//! [`crate::link::create_wireguard`].

mod attribute;
pub(crate) mod decode;
mod device;
mod encode;

use crate::netlink::{Netlink, NetlinkError};

pub use device::{Device, DeviceState, Key, Peer, PeerState};

const WG_CMD_GET_DEVICE: u8 = 0;

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
