//! Replies: `struct inet_diag_msg` and its attributes (include/uapi/linux/inet_diag.h, Linux 7.2).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::bytes;
use crate::netlink::Attrs;
use crate::tcp_info::{BbrInfo, TcpInfo};

use super::request::{
    AF_INET, AF_INET6, INET_DIAG_BBRINFO, INET_DIAG_CONG, INET_DIAG_INFO, INET_DIAG_SKMEMINFO,
};
use super::{SocketMemory, TcpSocket};

/// Size of `struct inet_diag_msg`.
const MSG_LEN: usize = 72;
/// Offsets in it; ports and addresses are in network byte order.
const SPORT: usize = 4;
const DPORT: usize = 6;
const SRC: usize = 8;
const DST: usize = 24;
const IF: usize = 40;
const COOKIE: usize = 44;
const RQUEUE: usize = 56;
const WQUEUE: usize = 60;
const UID: usize = 64;
const INODE: usize = 68;

/// The bytes of `struct tcp_info` in the payload of one message, if it has any.
pub fn info(payload: &[u8]) -> Option<&[u8]> {
    Some(Attrs::after(payload, MSG_LEN).get(INET_DIAG_INFO)?.payload)
}

impl TcpSocket {
    /// Reads the payload of one message of a dump; `None` if it is cut off or of no family that is
    /// known. Any bytes are accepted.
    pub fn parse(payload: &[u8]) -> Option<TcpSocket> {
        let family = bytes::u8_at(payload, 0)?;
        let word = |offset| bytes::u32_at(payload, offset);
        let inode = word(INODE)?;
        let attrs = Attrs::after(payload, MSG_LEN);
        let attr = |kind| attrs.get(kind).map(|a| a.payload);
        Some(TcpSocket {
            cookie: u64::from(word(COOKIE + 4)?) << 32 | u64::from(word(COOKIE)?),
            state: bytes::u8_at(payload, 1)?,
            local: endpoint(payload, family, SRC, SPORT)?,
            remote: endpoint(payload, family, DST, DPORT)?,
            bound_to: Some(word(IF)?).filter(|&i| i != 0),
            uid: word(UID)?,
            inode: Some(inode).filter(|&i| i != 0),
            receive_queue_bytes: word(RQUEUE)?,
            send_queue_bytes: word(WQUEUE)?,
            congestion: attrs
                .get(INET_DIAG_CONG)
                .and_then(|a| a.str())
                .filter(|name| !name.is_empty())
                .map(str::to_owned),
            info: attr(INET_DIAG_INFO).and_then(TcpInfo::parse),
            bbr: attr(INET_DIAG_BBRINFO).and_then(BbrInfo::parse),
            memory: attr(INET_DIAG_SKMEMINFO).and_then(SocketMemory::parse),
        })
    }
}

impl SocketMemory {
    fn parse(bytes: &[u8]) -> Option<SocketMemory> {
        let word = |index: usize| bytes::u32_at(bytes, index * 4);
        Some(SocketMemory {
            receive_used_bytes: word(0)?,
            receive_limit_bytes: word(1)?,
            send_in_queues_bytes: word(2)?,
            send_limit_bytes: word(3)?,
            send_used_bytes: word(5)?,
            drops: word(8),
        })
    }
}

fn endpoint(payload: &[u8], family: u8, address: usize, port: usize) -> Option<SocketAddr> {
    let ip: IpAddr = match family {
        AF_INET => Ipv4Addr::from(bytes::array::<4>(payload, address)?).into(),
        // An IPv6 socket used for IPv4 has mapped addresses.
        AF_INET6 => {
            IpAddr::from(Ipv6Addr::from(bytes::array::<16>(payload, address)?)).to_canonical()
        }
        _ => return None,
    };
    let port = bytes::array(payload, port).map(u16::from_be_bytes)?;
    Some(SocketAddr::new(ip, port))
}
