//! Errors of netlink exchanges.

use std::fmt;
use std::io;

use model::{
    text,
    text::{Text, Value},
};

/// A failed request: the operation, the error number, and the kernel's message, if any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetlinkError {
    /// The operation and its object, such as `add qdisc netem to link 3`: the name of a request,
    /// which is the same in every language.
    pub op: String,
    /// Error number, positive.
    pub errno: i32,
    /// Text of the extended acknowledgement (`NLMSGERR_ATTR_MSG`), in the kernel's wording.
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

impl NetlinkError {
    /// The request and its cause, for reports in any language.
    pub fn text(&self) -> Text {
        text!(
            "cannot {request}: {error}",
            request = &self.op,
            error = self.cause()
        )
    }

    /// Returns why the kernel refused the request.
    pub fn cause(&self) -> Value {
        let mut cause = Value::from(&self.io());
        if let Some(message) = &self.kernel_message {
            cause = Value::Text(text!(
                "{error}; the kernel reports: {message}",
                error = cause,
                message = message
            ));
        }
        if self.errno == libc::EPERM {
            cause = Value::Text(text!(
                "{error}; this needs root or CAP_NET_ADMIN in the network namespace",
                error = cause
            ));
        }
        cause
    }
}

impl fmt::Display for NetlinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

impl std::error::Error for NetlinkError {}
