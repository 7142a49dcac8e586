//! System calls of a guest's init process.

use std::{ffi::CString, io, path::Path};

use rustix::mount::{MountFlags, MountPropagationFlags};

/// Mounts a file system without a device.
///
/// # Errors
/// The kernel refused: `mount(2)`.
pub fn mount(kind: &str, at: &str, data: &str) -> io::Result<()> {
    let fault = |e: rustix::io::Errno| {
        io::Error::new(
            io::Error::from(e).kind(),
            format!("mount {kind} on {at}: {e}"),
        )
    };
    let data = CString::new(data).map_err(io::Error::from)?;
    rustix::mount::mount(kind, at, kind, MountFlags::empty(), data.as_c_str()).map_err(fault)
}

/// Mounts a file system of other owners: read-only, and without effect of set-user-ID bits. To an
/// ordinary user of a host, whose user namespace has no other owners, root's programs belong to the
/// overflow user 65534: `mount` would then run as that user in a guest, and be refused.
///
/// # Errors
/// The kernel refused: `mount(2)`.
pub fn mount_foreign(kind: &str, at: &str, data: &str) -> io::Result<()> {
    let data = CString::new(data).map_err(io::Error::from)?;
    let flags = MountFlags::RDONLY | MountFlags::NOSUID;
    rustix::mount::mount(kind, at, kind, flags, data.as_c_str())
        .map_err(|e| io::Error::other(format!("mount {kind} ({data:?}) on {at}: {e}")))
}

/// Bind mounts `from` at `to`.
///
/// # Errors
/// The kernel refused: `mount(2)`.
pub fn bind(from: &Path, to: &Path) -> io::Result<()> {
    rustix::mount::mount_bind(from, to)
        .map_err(|e| io::Error::other(format!("bind {} to {}: {e}", from.display(), to.display())))
}

/// Makes all mounts private to this mount namespace.
///
/// # Errors
/// The kernel refused: `mount(2)`.
pub fn make_mounts_private() -> io::Result<()> {
    rustix::mount::mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )?;
    Ok(())
}

/// Changes the root directory of this process.
///
/// # Errors
/// The directory is missing, or this process may not change its root: `chroot(2)`.
pub fn change_root(to: &Path) -> io::Result<()> {
    rustix::process::chroot(to)?;
    std::env::set_current_dir("/")
}

/// Powers off the machine. Returns only on failure.
pub fn power_off() {
    rustix::fs::sync();
    let _ = rustix::system::reboot(rustix::system::RebootCommand::PowerOff);
}

/// Returns true if this process is init.
pub fn is_init() -> bool {
    rustix::process::getpid().is_init()
}

/// Runs a child with `root` as its root directory, in `directory` there, or in `/` if that does not
/// exist.
///
/// # Errors
/// A path contains a zero byte.
pub fn inside(command: &mut std::process::Command, root: &Path, directory: &str) -> io::Result<()> {
    use std::os::unix::process::CommandExt;
    let text = |s: &Path| CString::new(s.as_os_str().as_encoded_bytes()).map_err(io::Error::from);
    let (root, directory) = (text(root)?, text(Path::new(directory))?);
    // SAFETY: between fork and exec only system calls without allocation are made.
    unsafe {
        command.pre_exec(move || {
            rustix::process::chroot(root.as_c_str())?;
            if rustix::process::chdir(directory.as_c_str()).is_err() {
                rustix::process::chdir(c"/")?;
            }
            Ok(())
        });
    }
    Ok(())
}

/// Syncs all file systems.
pub fn sync() {
    rustix::fs::sync();
}
