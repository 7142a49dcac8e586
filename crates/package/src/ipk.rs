//! Packages of opkg, for OpenWrt up to 24.10: an archive of two archives, all compressed by gzip
//! (scripts/ipkg-build of OpenWrt 24.10).

use crate::{
    Epoch, PackageError,
    deb::Package,
    openwrt::{self, Router},
    tar,
    tree::{Node, Tree},
};

/// Packs a program for one of OpenWrt's architectures.
///
/// # Errors
/// It cannot be packed.
pub fn package(router: &Router, architecture: &str, epoch: Epoch) -> Result<Package, PackageError> {
    let version = openwrt::version();
    let bytes = |node: &Node| match node {
        Node::File { bytes, .. } => bytes.len(),
        Node::Folder { .. } | Node::Link { .. } => 0,
    };
    let size: usize = router.tree.iter().map(|(_, node)| bytes(node)).sum();
    let mut control = Tree::default();
    control.file(
        "control",
        format!(
            "Package: pathtwin\nVersion: {version}\nDepends: libc\nLicense: MIT OR Apache-2.0\n\
             Section: net\nMaintainer: {}\nArchitecture: {architecture}\nInstalled-Size: {size}\n\
             Description: {}\n",
            openwrt::MAINTAINER,
            openwrt::SUMMARY,
        ),
    );
    control.file("conffiles", format!("/{}\n", openwrt::CONFIG));
    control.program("postinst", router.scripts.installed.clone());
    control.program("prerm", router.scripts.removed.clone());
    let packed = |tree: &Tree| tar::gzip(&tar::archive(tree, true, epoch)?);
    // In this order, which readers of the first member rely on.
    let parts = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("data.tar.gz", packed(&router.tree)?),
        ("control.tar.gz", packed(&control)?),
    ];
    Ok(Package {
        name: format!("pathtwin_{version}_{architecture}.ipk"),
        bytes: tar::gzip(&tar::members(&parts, epoch)?)?,
    })
}
