//! Decoder of netlink attributes (include/uapi/linux/netlink.h, Linux 7.2: `struct nlattr`).
//!
//! The parser accepts any bytes: it stops at the first attribute that does not fit, and getters
//! return `None` for a payload that is too short.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::bytes;

/// Flag of an attribute with nested attributes (`NLA_F_NESTED`).
pub const NLA_F_NESTED: u16 = 1 << 15;
/// Mask of an attribute's type without flags (`NLA_TYPE_MASK`).
const NLA_TYPE_MASK: u16 = 0x3fff;
/// Size of `struct nlattr`.
pub(crate) const HEADER_LEN: usize = 4;

/// Rounds a length up to the alignment of netlink (`NLA_ALIGNTO`, `NLMSG_ALIGNTO`: 4).
pub(crate) const fn align(len: usize) -> usize {
    len.saturating_add(3) & !3
}

/// An attribute: its type without flags, and its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attr<'a> {
    /// Attribute type, flags masked off.
    pub kind: u16,
    /// Payload without padding.
    pub payload: &'a [u8],
}

impl<'a> Attr<'a> {
    /// The payload as a `u8`.
    pub fn u8(&self) -> Option<u8> {
        bytes::u8_at(self.payload, 0)
    }

    /// The payload as a `u16` in host byte order.
    pub fn u16(&self) -> Option<u16> {
        bytes::u16_at(self.payload, 0)
    }

    /// The payload as a `u32` in host byte order.
    pub fn u32(&self) -> Option<u32> {
        bytes::u32_at(self.payload, 0)
    }

    /// The payload as a `u64` in host byte order.
    pub fn u64(&self) -> Option<u64> {
        bytes::u64_at(self.payload, 0)
    }

    /// The payload as text up to the first NUL, if it is UTF-8.
    pub fn str(&self) -> Option<&'a str> {
        let text = self.payload.split(|&b| b == 0).next()?;
        std::str::from_utf8(text).ok()
    }

    /// The payload as an address: 4 bytes are IPv4, 16 are IPv6.
    pub fn ip(&self) -> Option<IpAddr> {
        match self.payload.len() {
            4 => bytes::array::<4>(self.payload, 0).map(|b| Ipv4Addr::from(b).into()),
            16 => bytes::array::<16>(self.payload, 0).map(|b| Ipv6Addr::from(b).into()),
            _ => None,
        }
    }

    /// The attributes inside this one.
    pub fn nested(&self) -> Attrs<'a> {
        Attrs::new(self.payload)
    }
}

/// A sequence of attributes.
#[derive(Clone, Copy, Debug)]
pub struct Attrs<'a> {
    rest: &'a [u8],
}

impl<'a> Attrs<'a> {
    /// Reads attributes from `bytes`, which starts at the first attribute's header.
    pub fn new(bytes: &'a [u8]) -> Self {
        Attrs { rest: bytes }
    }

    /// Reads the attributes of a message payload that starts with a family header of `header_len`
    /// bytes.
    pub fn after(payload: &'a [u8], header_len: usize) -> Self {
        Attrs::new(payload.get(align(header_len)..).unwrap_or(&[]))
    }

    /// The first attribute of a type.
    pub fn get(self, kind: u16) -> Option<Attr<'a>> {
        self.into_iter().find(|a| a.kind == kind)
    }
}

impl<'a> Attrs<'a> {
    /// Each attribute as its type without flags and its bytes with header and flags, without
    /// padding: to be sent back unchanged.
    pub fn whole(self) -> impl Iterator<Item = (u16, &'a [u8])> {
        let mut rest = self.rest;
        std::iter::from_fn(move || {
            let mut attrs = Attrs::new(rest);
            let attr = attrs.next()?;
            let bytes = rest.get(..HEADER_LEN + attr.payload.len())?;
            rest = attrs.rest;
            Some((attr.kind, bytes))
        })
    }
}

impl<'a> Iterator for Attrs<'a> {
    type Item = Attr<'a>;

    fn next(&mut self) -> Option<Attr<'a>> {
        let len = usize::from(bytes::u16_at(self.rest, 0)?);
        let kind = bytes::u16_at(self.rest, 2)? & NLA_TYPE_MASK;
        let payload = self.rest.get(HEADER_LEN..len)?;
        self.rest = self.rest.get(align(len)..).unwrap_or(&[]);
        Some(Attr { kind, payload })
    }
}
