//! Blocking netlink sockets, encoder of messages and decoder of attributes.
//!
//! A socket belongs to the network namespace in which it was opened; the calls of [`crate::link`]
//! and [`crate::tc`] act in the namespace of the socket they are given.

mod attr;
mod error;
mod family;
mod message;
mod reply;
mod socket;

pub use attr::{Attr, Attrs, NLA_F_NESTED};
pub(crate) use attr::{HEADER_LEN, align};
pub use error::NetlinkError;
pub(crate) use family::GENLMSG_LEN;
pub use message::{
    Message, NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_ECHO, NLM_F_EXCL, NLM_F_REPLACE,
    NLM_F_REQUEST,
};
pub use reply::{Replies, Reply};
pub use socket::Netlink;
pub(crate) use socket::Spare;

#[cfg(test)]
mod tests;
