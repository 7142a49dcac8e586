//! Offloads of a link, by the `SIOCETHTOOL` ioctl: where a queue counts packets, packets must not be glued together.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

/// `SIOCETHTOOL` (include/uapi/linux/sockios.h, Linux 7.2).
const SIOCETHTOOL: u32 = 0x8946;
const IFNAMSIZ: usize = 16;

/// A segmentation offload. The numbers are those of `ETHTOOL_G*` (include/uapi/linux/ethtool.h, Linux 7.2); the command
/// that sets is the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offload {
    /// TCP segmentation by the device.
    Tso = 0x1e,
    /// Segmentation by the kernel just before the device.
    Gso = 0x23,
    /// Received segments glued together by the kernel.
    Gro = 0x2b,
}

/// Which offloads are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offloads {
    /// TCP segmentation by the device.
    pub tso: bool,
    /// Segmentation by the kernel just before the device.
    pub gso: bool,
    /// Received segments glued together by the kernel.
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
    /// What was attempted.
    pub op: String,
    /// Name of the link.
    pub link: String,
    /// Why it failed.
    #[source]
    pub error: io::Error,
}

/// `struct ethtool_value` (include/uapi/linux/ethtool.h).
#[repr(C)]
struct EthtoolValue {
    cmd: u32,
    data: u32,
}

/// `struct ifreq` (include/uapi/linux/if.h) with a pointer in its union, which is 24 bytes on 64-bit machines.
#[repr(C)]
struct Ifreq {
    name: [u8; IFNAMSIZ],
    data: *mut EthtoolValue,
    rest: [u8; 16],
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

/// Switches one offload of a link in the calling thread's network namespace.
///
/// # Errors
/// No such link, not root, or the driver cannot switch it.
pub fn set_offload(link: &str, offload: Offload, on: bool) -> Result<(), EthtoolError> {
    let verb = if on { "on" } else { "off" };
    command(link, offload as u32 + 1, u32::from(on))
        .map(|_| ())
        .map_err(|error| failed(format!("switch {verb} {offload:?}"), link, error))
}

/// Switches all offloads of a link to a state.
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

fn command(link: &str, cmd: u32, data: u32) -> io::Result<u32> {
    if link.len() >= IFNAMSIZ {
        return Err(io::Error::from_raw_os_error(libc::ENODEV));
    }
    let flags = SocketFlags::CLOEXEC;
    let fd: OwnedFd = socket_with(AddressFamily::INET, SocketType::DGRAM, flags, None)?;
    let mut name = [0; IFNAMSIZ];
    name[..link.len()].copy_from_slice(link.as_bytes());
    let mut value = EthtoolValue { cmd, data };
    let mut request = Ifreq {
        name,
        data: &raw mut value,
        rest: [0; 16],
    };
    // SAFETY: `request` has the layout of struct ifreq, its name ends with a NUL, and it points to a struct
    // ethtool_value; both outlive the call, and for these commands the kernel writes nothing beyond them.
    let rc = unsafe { libc::ioctl(fd.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) };
    if rc == 0 {
        Ok(value.data)
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
#[path = "ethtool_tests.rs"]
mod tests;
