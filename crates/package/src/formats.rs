//! Both formats of OpenWrt's packages.

use crate::{
    Epoch, PackageError, apk,
    deb::Package,
    ipk,
    openwrt::{Router, architectures},
};

/// The packages of a program in both formats, for all architectures of its processor.
///
/// # Errors
/// One cannot be packed.
pub fn packages(router: &Router, epoch: Epoch) -> Result<Vec<Package>, PackageError> {
    let mut all = Vec::new();
    for architecture in architectures(router.machine) {
        all.push(ipk::package(router, architecture, epoch)?);
        all.push(apk::package(router, architecture, epoch)?);
    }
    Ok(all)
}
