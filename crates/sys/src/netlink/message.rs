//! Builder of netlink requests: one encoder for route, traffic control and generic netlink.

use std::net::IpAddr;

use super::attr::{HEADER_LEN, NLA_F_NESTED, align};

/// Size of `struct nlmsghdr` (include/uapi/linux/netlink.h, Linux 7.2).
pub(crate) const NLMSG_HDRLEN: usize = 16;
/// Set in every request (`NLM_F_REQUEST`).
pub const NLM_F_REQUEST: u16 = 0x1;
/// Requests an acknowledgement (`NLM_F_ACK`).
pub const NLM_F_ACK: u16 = 0x4;
/// Requests the notification caused by the request (`NLM_F_ECHO`).
pub const NLM_F_ECHO: u16 = 0x8;
/// Requests all objects (`NLM_F_ROOT | NLM_F_MATCH`).
pub const NLM_F_DUMP: u16 = 0x300;
/// Replaces an existing object (`NLM_F_REPLACE`).
pub const NLM_F_REPLACE: u16 = 0x100;
/// Fails if the object exists (`NLM_F_EXCL`).
pub const NLM_F_EXCL: u16 = 0x200;
/// Creates the object if it does not exist (`NLM_F_CREATE`).
pub const NLM_F_CREATE: u16 = 0x400;

/// A request under construction: netlink header, family header, attributes.
#[derive(Clone, Debug)]
pub struct Message {
    buf: Vec<u8>,
    overflow: bool,
}

impl Message {
    /// Starts a request of message type `kind`; `NLM_F_REQUEST` is always set.
    pub fn new(kind: u16, flags: u16) -> Self {
        let mut buf = vec![0; NLMSG_HDRLEN];
        buf[4..6].copy_from_slice(&kind.to_ne_bytes());
        buf[6..8].copy_from_slice(&(flags | NLM_F_REQUEST).to_ne_bytes());
        Message {
            buf,
            overflow: false,
        }
    }

    /// Appends raw bytes, padded to 4: the family header, or a C struct inside a nest.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.buf.extend_from_slice(bytes);
        self.buf.resize(align(self.buf.len()), 0);
        self
    }

    /// Appends an attribute.
    pub fn attr(&mut self, kind: u16, payload: &[u8]) -> &mut Self {
        let start = self.open(kind);
        self.buf.extend_from_slice(payload);
        self.close(start)
    }

    /// Appends an attribute without payload.
    pub fn flag(&mut self, kind: u16) -> &mut Self {
        self.attr(kind, &[])
    }

    /// Appends a `u8`.
    pub fn u8(&mut self, kind: u16, value: u8) -> &mut Self {
        self.attr(kind, &[value])
    }

    /// Appends a `u16` in host byte order.
    pub fn u16(&mut self, kind: u16, value: u16) -> &mut Self {
        self.attr(kind, &value.to_ne_bytes())
    }

    /// Appends a `u32` in host byte order.
    pub fn u32(&mut self, kind: u16, value: u32) -> &mut Self {
        self.attr(kind, &value.to_ne_bytes())
    }

    /// Appends a `u64` in host byte order.
    pub fn u64(&mut self, kind: u16, value: u64) -> &mut Self {
        self.attr(kind, &value.to_ne_bytes())
    }

    /// Appends a `u8` if present; an absent value means the kernel's default.
    pub fn opt_u8(&mut self, kind: u16, value: Option<u8>) -> &mut Self {
        if let Some(value) = value {
            self.u8(kind, value);
        }
        self
    }

    /// Appends a `u32` if present; an absent value means the kernel's default.
    pub fn opt_u32(&mut self, kind: u16, value: Option<u32>) -> &mut Self {
        if let Some(value) = value {
            self.u32(kind, value);
        }
        self
    }

    /// Appends a boolean as a `u32` if present.
    pub fn opt_bool32(&mut self, kind: u16, value: Option<bool>) -> &mut Self {
        self.opt_u32(kind, value.map(u32::from))
    }

    /// Appends text with its terminating NUL.
    pub fn str(&mut self, kind: u16, text: &str) -> &mut Self {
        let start = self.open(kind);
        self.buf.extend_from_slice(text.as_bytes());
        self.buf.push(0);
        self.close(start)
    }

    /// Appends an address: 4 or 16 bytes.
    pub fn ip(&mut self, kind: u16, address: IpAddr) -> &mut Self {
        match address {
            IpAddr::V4(a) => self.attr(kind, &a.octets()),
            IpAddr::V6(a) => self.attr(kind, &a.octets()),
        }
    }

    /// Appends a nest without `NLA_F_NESTED`, as in route netlink and most of traffic control.
    pub fn nest(&mut self, kind: u16, fill: impl FnOnce(&mut Self)) -> &mut Self {
        let start = self.open(kind);
        fill(self);
        self.close(start)
    }

    /// Appends a nest with `NLA_F_NESTED`, as required by generic netlink and the strictly
    /// validated parts of the kernel.
    pub fn nest_flagged(&mut self, kind: u16, fill: impl FnOnce(&mut Self)) -> &mut Self {
        self.nest(kind | NLA_F_NESTED, fill)
    }

    /// The complete message with its length and the sequence number `seq`; `None` if an attribute
    /// exceeds its 16-bit length.
    pub fn finish(&mut self, seq: u32) -> Option<&[u8]> {
        if self.overflow {
            return None;
        }
        let len = u32::try_from(self.buf.len()).ok()?;
        self.buf[0..4].copy_from_slice(&len.to_ne_bytes());
        self.buf[8..12].copy_from_slice(&seq.to_ne_bytes());
        Some(&self.buf)
    }

    /// The payload after the netlink header.
    pub fn payload(&self) -> &[u8] {
        &self.buf[NLMSG_HDRLEN..]
    }

    pub(crate) fn add_flags(&mut self, flags: u16) {
        let old = u16::from_ne_bytes([self.buf[6], self.buf[7]]);
        self.buf[6..8].copy_from_slice(&(old | flags).to_ne_bytes());
    }

    fn open(&mut self, kind: u16) -> usize {
        let start = self.buf.len();
        self.buf.extend_from_slice(&[0, 0]);
        self.buf.extend_from_slice(&kind.to_ne_bytes());
        start
    }

    fn close(&mut self, start: usize) -> &mut Self {
        debug_assert!(self.buf.len() >= start + HEADER_LEN);
        match u16::try_from(self.buf.len() - start) {
            Ok(len) => self.buf[start..start + 2].copy_from_slice(&len.to_ne_bytes()),
            Err(_) => self.overflow = true,
        }
        self.buf.resize(align(self.buf.len()), 0);
        self
    }
}
