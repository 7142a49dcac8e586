//! Network namespaces referenced only by a file descriptor: when the last process that holds it
//! ends, the kernel removes the namespace with all its links. Nothing is written under /run/netns.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::link;
use crate::netlink::{Netlink, NetlinkError};

/// The calling thread's network namespace; `thread-self` since namespaces belong to threads.
const OWN_NETNS: &str = "/proc/thread-self/ns/net";

/// A network namespace.
#[derive(Debug)]
pub struct Netns {
    fd: OwnedFd,
}

impl Netns {
    /// Creates a new network namespace; the calling thread remains in its namespace. The new `lo`
    /// is down.
    ///
    /// # Errors
    /// `EPERM` without CAP_SYS_ADMIN; /proc not mounted. If the thread could not return to its
    /// original namespace, the error states it, and the thread must not continue.
    pub fn create() -> io::Result<Netns> {
        let home = Netns::current()?;
        // SAFETY: takes no pointers; only the calling thread's network namespace changes.
        if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
            return Err(annotate(
                "make a network namespace",
                io::Error::last_os_error(),
            ));
        }
        let made = Netns::current();
        home.enter()
            .map_err(|e| annotate("return to the own network namespace", e))?;
        made
    }

    /// The network namespace of the calling thread.
    ///
    /// # Errors
    /// /proc is not mounted.
    pub fn current() -> io::Result<Netns> {
        let file = File::open(OWN_NETNS).map_err(|e| annotate(&format!("open {OWN_NETNS}"), e))?;
        Ok(Netns { fd: file.into() })
    }

    /// The number of the namespace, unique among all existing namespaces (namespaces(7)).
    ///
    /// # Errors
    /// The descriptor cannot be examined.
    pub fn number(&self) -> io::Result<u64> {
        Ok(rustix::fs::fstat(&self.fd)?.st_ino)
    }

    /// The number of the namespace of the host's first process.
    ///
    /// # Errors
    /// `EACCES` if this process may not trace that one.
    pub fn number_of_first() -> io::Result<u64> {
        let first = "/proc/1/ns/net";
        let file =
            rustix::fs::stat(first).map_err(|e| annotate(&format!("stat {first}"), e.into()))?;
        Ok(file.st_ino)
    }

    /// The descriptor that holds the namespace.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Moves the calling thread into the namespace permanently.
    ///
    /// # Errors
    /// `EPERM` without CAP_SYS_ADMIN.
    pub fn enter(&self) -> io::Result<()> {
        Ok(move_into_link_name_space(
            self.fd(),
            Some(LinkNameSpaceType::Network),
        )?)
    }

    /// Calls `f` with the calling thread inside the namespace, and returns to the original one,
    /// also if `f` panics. Sockets opened and threads started by `f` remain in the namespace.
    ///
    /// # Errors
    /// The namespace cannot be entered or left.
    pub fn run<R>(&self, f: impl FnOnce() -> R) -> io::Result<R> {
        let home = Restore(Some(Netns::current()?));
        self.enter()
            .map_err(|e| annotate("enter a network namespace", e))?;
        let result = f();
        home.take()
            .map_err(|e| annotate("return to the own network namespace", e))?;
        Ok(result)
    }

    /// Opens a route netlink socket inside the namespace.
    ///
    /// # Errors
    /// The namespace cannot be entered, or the socket cannot be created.
    pub fn route(&self) -> Result<Netlink, NetlinkError> {
        let opened = self.run(Netlink::route);
        opened.unwrap_or_else(|e| {
            Err(NetlinkError::from_io(
                "open a route netlink socket in a namespace",
                &e,
            ))
        })
    }

    /// Opens a generic netlink socket inside the namespace.
    ///
    /// # Errors
    /// The namespace cannot be entered, or the socket cannot be created.
    pub fn generic(&self) -> Result<Netlink, NetlinkError> {
        let opened = self.run(Netlink::generic);
        opened.unwrap_or_else(|e| {
            Err(NetlinkError::from_io(
                "open a generic netlink socket in a namespace",
                &e,
            ))
        })
    }

    /// Sets `lo` up, which also gives it its addresses.
    ///
    /// # Errors
    /// As [`Netns::route`].
    pub fn loopback_up(&self) -> Result<(), NetlinkError> {
        let mut nl = self.route()?;
        let lo = link::index(&mut nl, "lo")?;
        link::set_up(&mut nl, lo)
    }
}

/// Returns the thread to its namespace on drop, also after a panic.
struct Restore(Option<Netns>);

impl Restore {
    fn take(mut self) -> io::Result<()> {
        match self.0.take() {
            Some(home) => home.enter(),
            None => Ok(()),
        }
    }
}

impl Drop for Restore {
    fn drop(&mut self) {
        if let Some(home) = self.0.take() {
            // Already unwinding: the error cannot be reported.
            let _ = home.enter();
        }
    }
}

fn annotate(op: &str, error: io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        OpError {
            op: op.to_owned(),
            error,
        },
    )
}

/// Adds the operation to an error and keeps the error number accessible through `source`.
#[derive(Debug, thiserror::Error)]
#[error("cannot {op}: {error}")]
struct OpError {
    op: String,
    #[source]
    error: io::Error,
}

#[cfg(test)]
mod tests;
