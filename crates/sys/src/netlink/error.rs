//! Errors of netlink exchanges.

use std::fmt;
use std::io;

/// A failed request: the operation, the error number, and the kernel's message, if any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetlinkError {
    /// The operation and its object, such as `add qdisc netem to link 3`.
    pub op: String,
    /// Error number, positive.
    pub errno: i32,
    /// Text of the extended acknowledgement (`NLMSGERR_ATTR_MSG`).
    pub kernel_message: Option<String>,
}

impl NetlinkError {
    /// An error without a message of the kernel.
    pub fn new(op: impl fmt::Display, errno: i32) -> Self {
        NetlinkError {
            op: op.to_string(),
            errno,
            kernel_message: None,
        }
    }

    pub(crate) fn from_io(op: impl fmt::Display, error: &io::Error) -> Self {
        Self::new(op, errno_of(error).unwrap_or(libc::EIO))
    }

    /// A malformed reply.
    pub(crate) fn malformed(op: impl fmt::Display) -> Self {
        Self::new(op, libc::EBADMSG)
    }

    /// The error as an `io::Error`, without the text.
    pub fn io(&self) -> io::Error {
        io::Error::from_raw_os_error(self.errno)
    }
}

/// The error number of an error or its cause.
fn errno_of(error: &io::Error) -> Option<i32> {
    if let Some(errno) = error.raw_os_error() {
        return Some(errno);
    }
    let cause = error.get_ref()?.source()?.downcast_ref::<io::Error>()?;
    cause.raw_os_error()
}

impl fmt::Display for NetlinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {}: {}", self.op, self.io())?;
        if let Some(text) = &self.kernel_message {
            write!(f, "; the kernel reports: {text}")?;
        }
        if self.errno == libc::EPERM {
            write!(
                f,
                "; this needs root or CAP_NET_ADMIN in the network namespace"
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for NetlinkError {}
