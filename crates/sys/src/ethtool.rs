//! Driver settings of links, by the `SIOCETHTOOL` ioctl and ethtool netlink. Mainly offloads:
//! segments must not be aggregated if a queue counts packets.

pub(crate) mod amounts;
mod ioctl;
pub(crate) mod query;

use std::io;

use crate::bytes;

pub use amounts::Ethtool;
pub use query::{
    ChannelCounts, Feature, LinkMode, Rings, channels, driver, feature_states, features, link_mode,
    rings, set_features, statistic_names, statistics,
};

/// A segmentation offload. The numbers are those of `ETHTOOL_G*` (include/uapi/linux/ethtool.h,
/// Linux 7.2); the command to set it is the next number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offload {
    /// TCP segmentation by the device.
    Tso = 0x1e,
    /// Segmentation by the kernel just before the device.
    Gso = 0x23,
    /// Aggregation of received segments by the kernel.
    Gro = 0x2b,
}

/// State of the offloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offloads {
    /// TCP segmentation by the device.
    pub tso: bool,
    /// Segmentation by the kernel just before the device.
    pub gso: bool,
    /// Aggregation of received segments by the kernel.
    pub gro: bool,
}

impl Offloads {
    /// All off.
    pub const OFF: Offloads = Offloads {
        tso: false,
        gso: false,
        gro: false,
    };
}

/// An ethtool request that failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {op} of link {link}: {error}")]
pub struct EthtoolError {
    /// The action.
    pub op: String,
    /// Name of the link.
    pub link: String,
    /// The I/O error.
    #[source]
    pub error: io::Error,
}

/// Reads the offloads of a link in the calling thread's network namespace.
///
/// # Errors
/// No such link.
pub fn offloads(link: &str) -> Result<Offloads, EthtoolError> {
    let get = |offload: Offload| {
        command(link, offload as u32, 0)
            .map(|value| value != 0)
            .map_err(|error| failed(format!("read {offload:?}"), link, error))
    };
    Ok(Offloads {
        tso: get(Offload::Tso)?,
        gso: get(Offload::Gso)?,
        gro: get(Offload::Gro)?,
    })
}

/// Turns one offload of a link on or off, in the calling thread's network namespace.
///
/// # Errors
/// No such link, not root, or the driver cannot switch it.
pub fn set_offload(link: &str, offload: Offload, on: bool) -> Result<(), EthtoolError> {
    let verb = if on { "on" } else { "off" };
    command(link, offload as u32 + 1, u32::from(on))
        .map(|_| ())
        .map_err(|error| failed(format!("switch {verb} {offload:?}"), link, error))
}

/// Sets all offloads of a link.
///
/// # Errors
/// As [`set_offload`].
pub fn set_offloads(link: &str, wanted: Offloads) -> Result<(), EthtoolError> {
    set_offload(link, Offload::Tso, wanted.tso)?;
    set_offload(link, Offload::Gso, wanted.gso)?;
    set_offload(link, Offload::Gro, wanted.gro)
}

fn failed(op: String, link: &str, error: io::Error) -> EthtoolError {
    EthtoolError {
        op,
        link: link.to_owned(),
        error,
    }
}

/// `struct ethtool_value` (include/uapi/linux/ethtool.h): the command and a number.
fn command(link: &str, cmd: u32, data: u32) -> io::Result<u32> {
    let value = ioctl::exchange(link, &[cmd, data], 8)?;
    bytes::u32_at(&value, 4).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

#[cfg(test)]
mod tests;
