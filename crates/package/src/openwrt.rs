//! Contents of a package for OpenWrt, in any format.

use std::{fs, path::Path};

use crate::{
    PackageError, VERSION, contents,
    elf::{Elf, Machine},
    tree::Tree,
};

/// OpenWrt's architecture names for the processors on which a program runs; their packages differ
/// in this name only. 32-bit ARM and RISC-V could be built in the same way, MIPS lacks a finished
/// standard library of Rust.
pub fn architectures(machine: Machine) -> &'static [&'static str] {
    match machine {
        Machine::X86_64 => &["x86_64"],
        Machine::Aarch64 => &[
            "aarch64_cortex-a53",
            "aarch64_cortex-a72",
            "aarch64_cortex-a76",
            "aarch64_generic",
        ],
    }
}

/// The file that a person edits.
pub const CONFIG: &str = "etc/config/pathtwin";

/// The version with that of the packaging.
pub fn version() -> String {
    format!("{VERSION}-r1")
}

/// Description in one line.
pub const SUMMARY: &str = "finds out why TCP is slow on a network path";

/// Maintainer of packages for OpenWrt.
pub const MAINTAINER: &str = "pathtwin maintainers";

/// A static program with its init script.
#[derive(Debug)]
pub struct Router {
    /// Its processor.
    pub machine: Machine,
    /// Its files.
    pub tree: Tree,
    /// After it was installed, and before it is removed.
    pub scripts: Scripts,
}

/// Scripts that the router's package manager runs.
#[derive(Clone, Debug)]
pub struct Scripts {
    /// After it was installed.
    pub installed: Vec<u8>,
    /// Before it is removed.
    pub removed: Vec<u8>,
}

/// The contents of the packages of a program.
///
/// # Errors
/// The program or a file of the checkout cannot be read, or the program needs libraries.
pub fn router(checkout: &Path, program: &Path) -> Result<Router, PackageError> {
    let elf = Elf::read(program)?;
    if !elf.libraries().is_empty() {
        return Err(PackageError::Program {
            path: program.to_owned(),
            why: "not static: the libraries of OpenWrt are others; run: make agent",
        });
    }
    let own = |file: &str| contents::source(checkout, &format!("packaging/openwrt/{file}"));
    let mut tree = Tree::default();
    let bytes = fs::read(program).map_err(PackageError::file("read", program))?;
    tree.program("usr/bin/pathtwin", bytes);
    tree.program("etc/init.d/pathtwin", own("pathtwin.init")?);
    tree.file(CONFIG, own("pathtwin.config")?);
    tree.file("lib/upgrade/keep.d/pathtwin", own("pathtwin.keep")?);
    Ok(Router {
        machine: elf.machine,
        tree,
        scripts: Scripts {
            installed: own("postinst")?,
            removed: own("prerm")?,
        },
    })
}
