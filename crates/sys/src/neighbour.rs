//! Lookups in neighbour tables and bridge forwarding tables.
//!
//! Numbers are from include/uapi/linux/{neighbour,rtnetlink}.h, Linux 7.2.

use std::net::IpAddr;

use crate::bytes;
use crate::link::Mac;
use crate::netlink::{Attrs, Message, Netlink, NetlinkError};

const RTM_GETNEIGH: u16 = 30;
const NDA_DST: u16 = 1;
const NDA_LLADDR: u16 = 2;
const NDA_MASTER: u16 = 9;
/// Size of `struct ndmsg`.
const NDMSG_LEN: usize = 12;

/// An entry of the neighbour tables.
pub(crate) struct Entry {
    link: u32,
    master: Option<u32>,
    address: Option<IpAddr>,
    mac: Option<Mac>,
}

/// The hardware address of a neighbour on a link, if known to the kernel.
///
/// # Errors
/// The socket failed.
pub fn mac(nl: &mut Netlink, link: u32, address: IpAddr) -> Result<Option<Mac>, NetlinkError> {
    let family = if address.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    };
    let entries = list(nl, family as u8, "list neighbours")?;
    let found = entries
        .iter()
        .find(|e| e.link == link && e.address == Some(address));
    Ok(found.and_then(|e| e.mac))
}

/// The port through which a bridge reaches a hardware address, if learned.
///
/// # Errors
/// The socket failed.
pub fn bridge_port(nl: &mut Netlink, bridge: u32, mac: Mac) -> Result<Option<u32>, NetlinkError> {
    let entries = list(nl, libc::AF_BRIDGE as u8, "list addresses of bridges")?;
    let found = entries
        .iter()
        .find(|e| e.master == Some(bridge) && e.mac == Some(mac));
    Ok(found.map(|e| e.link).filter(|&port| port != bridge))
}

fn list(nl: &mut Netlink, family: u8, op: &str) -> Result<Vec<Entry>, NetlinkError> {
    let mut m = Message::new(RTM_GETNEIGH, 0);
    let mut header = [0; NDMSG_LEN];
    header[0] = family;
    m.raw(&header);
    nl.dump(&mut m, op, parse)
}

pub(crate) fn parse(payload: &[u8]) -> Option<Entry> {
    let attrs = Attrs::after(payload, NDMSG_LEN);
    Some(Entry {
        link: bytes::u32_at(payload, 4)?,
        master: attrs.get(NDA_MASTER).and_then(|a| a.u32()),
        address: attrs.get(NDA_DST).and_then(|a| a.ip()),
        mac: attrs
            .get(NDA_LLADDR)
            .and_then(|a| a.payload.try_into().ok()),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::link::{self, NewLink};
    use crate::testutil::netns;

    proptest! {
        #[test]
        fn any_bytes_are_parsed_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = parse(&bytes);
        }
    }

    #[test]
    fn a_neighbour_that_was_added_is_found() {
        let Some(ns) = netns() else { return };
        let mut nl = ns.route().unwrap();
        link::create_veth(&mut nl, &NewLink::named("a0"), &NewLink::named("a1")).unwrap();
        let index = link::index(&mut nl, "a0").unwrap();
        let address = "10.1.2.1".parse().unwrap();
        link::add_neighbour(&mut nl, index, address, [2, 0, 0, 0, 0, 9]).unwrap();
        assert_eq!(mac(&mut nl, index, address), Ok(Some([2, 0, 0, 0, 0, 9])));
        assert_eq!(mac(&mut nl, index + 1, address), Ok(None));
        assert_eq!(bridge_port(&mut nl, index, [2, 0, 0, 0, 0, 9]), Ok(None));
    }
}
