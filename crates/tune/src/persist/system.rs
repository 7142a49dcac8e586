//! The system that sets a host up.

use std::path::Path;

use crate::error::PersistError;

/// System that configures a host at boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// systemd: a service for each device, bound to it.
    Systemd,
    /// ifupdown of Debian without systemd.
    Ifupdown,
    /// procd and hotplug of OpenWrt.
    OpenWrt,
}

impl System {
    /// The system below a root.
    ///
    /// # Errors
    /// It is one whose files are made by other means, or an unknown one.
    pub fn of(root: &Path) -> Result<Self, PersistError> {
        let has = |path: &str| root.join(path).exists();
        if has("etc/NIXOS") {
            return Err(PersistError::Managed("NixOS"));
        }
        if has("etc/openwrt_release") {
            Ok(Self::OpenWrt)
        } else if has("etc/systemd/system") {
            Ok(Self::Systemd)
        } else if has("etc/network/if-up.d") {
            Ok(Self::Ifupdown)
        } else {
            Err(PersistError::UnknownSystem)
        }
    }
}
