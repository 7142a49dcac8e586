//! The first process of a guest.

use std::path::Path;

use crate::{engine::Engine, job::work};

/// Mount point of the cell's folder.
const FOLDER: &str = "/cell";

/// Prepares the guest and does its job.
pub(crate) fn run() -> anyhow::Result<()> {
    sys::boot::mount("proc", "/proc", "")?;
    // Files of the host as far as the kernel's command line confines them: the cell's folder.
    sys::boot::mount("hostfs", FOLDER, "/")?;
    // For all namespaces together, so not the testbed's to set: at its default a guest with little
    // memory falls into TCP memory pressure, in pages (net/ipv4/tcp.c, tcp_init_mem).
    sys::sysctl::write("net.ipv4.tcp_mem", "4194304 4194304 4194304")?;
    work(Engine {
        folder: Path::new(FOLDER),
        guest: true,
    })
}
