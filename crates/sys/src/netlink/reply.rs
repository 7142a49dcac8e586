//! Parser of received datagrams.

use crate::bytes;

use super::attr::{Attrs, align};
use super::message::NLMSG_HDRLEN;

/// Message type of an acknowledgement or error (`NLMSG_ERROR`, include/uapi/linux/netlink.h, Linux
/// 7.2).
pub(crate) const NLMSG_ERROR: u16 = 2;
/// Message type of the end of a dump (`NLMSG_DONE`).
pub(crate) const NLMSG_DONE: u16 = 3;
/// The dump was interrupted by a change (`NLM_F_DUMP_INTR`).
pub(crate) const NLM_F_DUMP_INTR: u16 = 0x10;
/// The acknowledgement does not repeat the request's body (`NLM_F_CAPPED`).
const NLM_F_CAPPED: u16 = 0x100;
/// The acknowledgement carries attributes (`NLM_F_ACK_TLVS`).
const NLM_F_ACK_TLVS: u16 = 0x200;
/// Attribute with the kernel's text (`NLMSGERR_ATTR_MSG`).
const NLMSGERR_ATTR_MSG: u16 = 1;

/// A message of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply<'a> {
    /// Message type.
    pub kind: u16,
    /// Header flags.
    pub flags: u16,
    /// Sequence number of the request it answers.
    pub seq: u32,
    /// Everything after the netlink header.
    pub payload: &'a [u8],
}

impl Reply<'_> {
    /// Returns true for an acknowledgement or an error.
    pub(crate) fn is_error(&self) -> bool {
        self.kind == NLMSG_ERROR
    }

    /// The error number of `NLMSG_ERROR` and `NLMSG_DONE`: 0 is success, otherwise positive.
    pub(crate) fn errno(&self) -> i32 {
        bytes::i32_at(self.payload, 0).map_or(0, i32::wrapping_neg)
    }

    /// The kernel's text in an acknowledgement.
    pub(crate) fn kernel_message(&self) -> Option<String> {
        if self.flags & NLM_F_ACK_TLVS == 0 {
            return None;
        }
        let text = Attrs::after(self.payload, self.ack_header_len()?).get(NLMSGERR_ATTR_MSG)?;
        text.str().map(str::to_owned)
    }

    /// `int error`, then for errors the request's header and, unless capped, its body; for
    /// `NLMSG_DONE` only the `int`.
    fn ack_header_len(&self) -> Option<usize> {
        if self.kind == NLMSG_DONE {
            return Some(4);
        }
        if self.flags & NLM_F_CAPPED != 0 || self.errno() == 0 {
            return Some(4 + NLMSG_HDRLEN);
        }
        let request = usize::try_from(bytes::u32_at(self.payload, 4)?).ok()?;
        request.checked_add(4)
    }
}

/// The messages of one datagram; stops at the first that does not fit.
#[derive(Clone, Copy, Debug)]
pub struct Replies<'a> {
    rest: &'a [u8],
}

impl<'a> Replies<'a> {
    /// Reads messages from a datagram.
    pub fn new(datagram: &'a [u8]) -> Self {
        Replies { rest: datagram }
    }
}

impl<'a> Iterator for Replies<'a> {
    type Item = Reply<'a>;

    fn next(&mut self) -> Option<Reply<'a>> {
        let len = usize::try_from(bytes::u32_at(self.rest, 0)?).ok()?;
        let reply = Reply {
            kind: bytes::u16_at(self.rest, 4)?,
            flags: bytes::u16_at(self.rest, 6)?,
            seq: bytes::u32_at(self.rest, 8)?,
            payload: self.rest.get(NLMSG_HDRLEN..len)?,
        };
        self.rest = self.rest.get(align(len)..).unwrap_or(&[]);
        Some(reply)
    }
}
