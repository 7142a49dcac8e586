//! Devices by their names.

use sys::{Netlink, link};

use crate::error::HostError;

/// Number of `ENODEV`, the error for an unknown device name.
const NO_DEVICE: i32 = 19;

/// Index of a device; `None` if there is none of this name.
pub(super) fn index(nl: &mut Netlink, name: &str) -> Result<Option<u32>, HostError> {
    match link::index(nl, name) {
        Ok(index) => Ok(Some(index)),
        Err(error) if error.errno == NO_DEVICE => Ok(None),
        Err(error) => Err(error.into()),
    }
}
