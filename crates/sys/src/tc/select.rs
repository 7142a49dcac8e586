//! Filters that choose a class for datagrams to a port (net/sched/cls_u32.c, Linux 7.2).

use std::net::IpAddr;

use super::filter::info;
use super::handle::Handle;
use super::message::{RTM_NEWTFILTER, TCA_KIND, TCA_OPTIONS, tcmsg};
use crate::netlink::{Message, NLM_F_CREATE, NLM_F_EXCL, Netlink, NetlinkError};

const TCA_U32_CLASSID: u16 = 1;
const TCA_U32_SEL: u16 = 5;
/// The packet is classified if all keys match (`TC_U32_TERMINAL`).
const TERMINAL: u8 = 1;
/// `IPPROTO_UDP`.
const UDP: u32 = 17;

/// Sends datagrams to a UDP port into a class. Only the family of an address is used: packets of
/// the other family must not match, because a key compares the bytes at its offset regardless of
/// the protocol. IPv4 options are not expected, and only the first fragment of a datagram has a
/// port.
///
/// # Errors
/// There is no such queue discipline or class, or the kernel lacks u32.
pub fn add_udp_port(
    nl: &mut Netlink,
    ifindex: u32,
    parent: Handle,
    (family, port): (IpAddr, u16),
    class: Handle,
) -> Result<(), NetlinkError> {
    let mut m = Message::new(RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL);
    m.raw(&tcmsg(ifindex, Handle::NONE, parent, info(1)))
        .str(TCA_KIND, "u32");
    m.nest(TCA_OPTIONS, |m| {
        m.u32(TCA_U32_CLASSID, class.raw());
        m.attr(TCA_U32_SEL, &selector(family, port));
    });
    let op = format_args!("add a filter of UDP port {port} to {parent} of link {ifindex}");
    nl.request(&mut m, op)
}

/// `struct tc_u32_sel` with two keys: the protocol, and the port behind a header without options.
fn selector(family: IpAddr, port: u16) -> Vec<u8> {
    // RFC 791: the protocol is the second byte of the third word. RFC 8200: the next header is the
    // third byte of the second word.
    let (protocol, ports) = match family {
        IpAddr::V4(_) => (key(0x00ff_0000, UDP << 16, 8), 20),
        IpAddr::V6(_) => (key(0x0000_ff00, UDP << 8, 4), 40),
    };
    let keys = [protocol, key(0x0000_ffff, u32::from(port), ports)].concat();
    // Flags, shift of an offset, number of keys, padding; then an offset mask, an offset, its
    // distance, and the mask of a hash, all unused.
    [&[TERMINAL, 0, 2, 0][..], &[0; 12], &keys].concat()
}

/// `struct tc_u32_key`: mask and value in network byte order, offset, and mask of a variable one.
fn key(mask: u32, value: u32, offset: i32) -> Vec<u8> {
    let [mask, value] = [mask, value].map(u32::to_be_bytes);
    [mask, value, offset.to_ne_bytes(), [0; 4]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `struct tc_u32_sel` has 16 bytes and `struct tc_u32_key` 16 (include/uapi/linux/pkt_cls.h).
    #[test]
    fn a_selector_of_two_keys_has_48_bytes() {
        let any = IpAddr::from([0, 0, 0, 0]);
        let bytes = selector(any, 51820);
        assert_eq!(bytes.len(), 48);
        assert_eq!(bytes[16..24], [0, 0xff, 0, 0, 0, 17, 0, 0]);
        assert_eq!(bytes[32..40], [0, 0, 0xff, 0xff, 0, 0, 0xca, 0x6c]);
        assert_eq!(bytes[40..44], 20i32.to_ne_bytes());
    }
}
