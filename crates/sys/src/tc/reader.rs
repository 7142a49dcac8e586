//! Frequent sampling of one queue discipline: one `sendto` and one `recvfrom` per sample, without
//! allocation.

use crate::netlink::{Message, NLM_F_ECHO, Netlink, NetlinkError};

use super::handle::Handle;
use super::message::{RTM_GETQDISC, tcmsg};
use super::stats::QdiscStats;

/// A socket, a request and a buffer for one queue discipline of one link.
#[derive(Debug)]
pub struct StatsReader {
    nl: Netlink,
    request: Message,
    ifindex: u32,
}

impl StatsReader {
    /// Samples the root queue discipline of a link in the socket's namespace.
    pub fn root(nl: Netlink, ifindex: u32) -> StatsReader {
        Self::new(nl, ifindex, Handle::NONE, Handle::ROOT)
    }

    /// Samples the queue discipline below a class.
    pub fn below(nl: Netlink, ifindex: u32, parent: Handle) -> StatsReader {
        Self::new(nl, ifindex, Handle::NONE, parent)
    }

    /// Samples the queue discipline with a handle below any parent; samples have no parent.
    pub fn of_handle(nl: Netlink, ifindex: u32, handle: Handle) -> StatsReader {
        Self::new(nl, ifindex, handle, Handle::NONE)
    }

    fn new(nl: Netlink, ifindex: u32, handle: Handle, parent: Handle) -> StatsReader {
        StatsReader {
            nl,
            request: request(ifindex, handle, parent),
            ifindex,
        }
    }

    /// Takes a sample.
    ///
    /// # Errors
    /// No such link or queue discipline; `EAGAIN` for one that the kernel hides, such as a default
    /// one.
    pub fn read(&mut self) -> Result<QdiscStats, NetlinkError> {
        let op = format_args!("sample a qdisc of link {}", self.ifindex);
        let found = self
            .nl
            .request_once(&mut self.request, op, QdiscStats::parse)?;
        found.ok_or_else(|| NetlinkError::new(op, libc::EBADMSG))
    }
}

fn request(ifindex: u32, handle: Handle, parent: Handle) -> Message {
    // Without it the reply is sent only to the multicast group (net/core/rtnetlink.c:
    // `rtnetlink_send`).
    let mut request = Message::new(RTM_GETQDISC, NLM_F_ECHO);
    request.raw(&tcmsg(ifindex, handle, parent, 0));
    request
}

/// A request for the state of the queue discipline with a handle, whose answer
/// [`QdiscStats::parse`] reads.
pub fn stats_request(ifindex: u32, handle: Handle) -> Message {
    request(ifindex, handle, Handle::NONE)
}
