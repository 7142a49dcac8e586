//! Devices by their names and indexes.

use sys::{Netlink, NetlinkError, link};

use crate::error::HostError;

/// Number of `ENODEV`, the error for an unknown device.
const NO_DEVICE: i32 = 19;

/// Index of a device; `None` if there is none of this name.
pub(super) fn index(nl: &mut Netlink, name: &str) -> Result<Option<u32>, HostError> {
    if_any(link::index(nl, name))
}

/// Name of a device; `None` if there is none of this index.
pub(super) fn name(nl: &mut Netlink, index: u32) -> Result<Option<String>, HostError> {
    if_any(link::show(nl, index).map(|link| link.name))
}

fn if_any<T>(found: Result<T, NetlinkError>) -> Result<Option<T>, HostError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.errno == NO_DEVICE => Ok(None),
        Err(error) => Err(error.into()),
    }
}
