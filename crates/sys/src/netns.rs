//! Network namespaces referenced only by a file descriptor: when the last process that holds it
//! ends, the kernel removes the namespace with all its links. Nothing is written under /run/netns.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::link;
use crate::netlink::{Netlink, NetlinkError, Spare};

/// The calling thread's network namespace; `thread-self` since namespaces belong to threads.
const OWN_NETNS: &str = "/proc/thread-self/ns/net";

thread_local! {
    /// The namespace the calling thread is in, if that is known.
    static HERE: RefCell<Option<OwnedFd>> = const { RefCell::new(None) };
}

/// Forgets in which namespace the calling thread is: it has changed by other means.
pub(crate) fn forget_here() {
    HERE.set(None);
}

/// A network namespace.
#[derive(Debug)]
pub struct Netns {
    fd: OwnedFd,
    /// Sockets opened in it that nothing uses at the moment.
    spare: Arc<Spare>,
}

impl Netns {
    /// Creates a new network namespace; the calling thread remains in its namespace. The new `lo`
    /// is down.
    ///
    /// # Errors
    /// `EPERM` without CAP_SYS_ADMIN; /proc not mounted. If the thread could not return to its
    /// original namespace, the error states it, and the thread must not continue.
    pub fn create() -> io::Result<Netns> {
        let home = here()?;
        // SAFETY: takes no pointers; only the calling thread's network namespace changes.
        if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
            return Err(annotate(
                "make a network namespace",
                io::Error::last_os_error(),
            ));
        }
        let made = open_own();
        enter(home.as_fd()).map_err(|e| annotate("return to the own network namespace", e))?;
        HERE.set(Some(home));
        Ok(Netns::of(made?))
    }

    /// The network namespace of the calling thread.
    ///
    /// # Errors
    /// /proc is not mounted.
    pub fn current() -> io::Result<Netns> {
        Ok(Netns::of(open_own()?))
    }

    fn of(fd: OwnedFd) -> Netns {
        let spare = Arc::default();
        Netns { fd, spare }
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
        forget_here();
        enter(self.fd())
    }

    /// Calls `f` with the calling thread inside the namespace, and returns to the original one,
    /// also if `f` panics. Sockets opened and threads started by `f` remain in the namespace.
    ///
    /// # Errors
    /// The namespace cannot be entered or left.
    pub fn run<R>(&self, f: impl FnOnce() -> R) -> io::Result<R> {
        let home = Restore(Some(here()?));
        enter(self.fd()).map_err(|e| annotate("enter a network namespace", e))?;
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
        if let Some(nl) = self.spare.take() {
            return Ok(nl);
        }
        let opened = self.run(|| Netlink::route().map(|nl| nl.kept_by(&self.spare)));
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
        link::set_up(&mut self.route()?, LOOPBACK)
    }
}

/// Index of `lo` in each namespace (`LOOPBACK_IFINDEX`, include/net/flow.h, Linux 7.2).
const LOOPBACK: u32 = 1;

/// The namespace the calling thread is in; its own one, so that holding it keeps no other alive.
fn here() -> io::Result<OwnedFd> {
    HERE.take().map_or_else(open_own, Ok)
}

fn open_own() -> io::Result<OwnedFd> {
    openat(
        CWD,
        OWN_NETNS,
        OFlags::RDONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )
    .map_err(|e| annotate(&format!("open {OWN_NETNS}"), e.into()))
}

fn enter(namespace: BorrowedFd<'_>) -> io::Result<()> {
    let kind = Some(LinkNameSpaceType::Network);
    Ok(move_into_link_name_space(namespace, kind)?)
}

/// Returns the thread to its namespace on drop, also after a panic.
struct Restore(Option<OwnedFd>);

impl Restore {
    fn take(mut self) -> io::Result<()> {
        let Some(home) = self.0.take() else {
            return Ok(());
        };
        enter(home.as_fd())?;
        HERE.set(Some(home));
        Ok(())
    }
}

impl Drop for Restore {
    fn drop(&mut self) {
        if let Some(home) = self.0.take() {
            // Already unwinding: the error cannot be reported.
            let entered = enter(home.as_fd());
            HERE.set(entered.is_ok().then_some(home));
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
