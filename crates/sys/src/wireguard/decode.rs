//! Decoder of messages of the wireguard family.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::time::Duration;

use crate::bytes;
use crate::netlink::{Attr, Attrs, GENLMSG_LEN};

use super::attribute::{
    WGALLOWEDIP_A_CIDR_MASK, WGALLOWEDIP_A_IPADDR, WGDEVICE_A_FWMARK, WGDEVICE_A_LISTEN_PORT,
    WGDEVICE_A_PEERS, WGDEVICE_A_PUBLIC_KEY, WGPEER_A_ALLOWEDIPS, WGPEER_A_ENDPOINT,
    WGPEER_A_LAST_HANDSHAKE_TIME, WGPEER_A_PERSISTENT_KEEPALIVE_INTERVAL, WGPEER_A_PUBLIC_KEY,
    WGPEER_A_RX_BYTES, WGPEER_A_TX_BYTES,
};
use super::device::{DeviceState, PeerState};

/// Reads one part of a device's dump.
pub(crate) fn device(payload: &[u8]) -> DeviceState {
    let mut state = DeviceState::default();
    for attr in Attrs::after(payload, GENLMSG_LEN) {
        match attr.kind {
            WGDEVICE_A_PUBLIC_KEY => state.public_key = attr.payload.try_into().ok(),
            WGDEVICE_A_LISTEN_PORT => state.listen_port = attr.u16().unwrap_or_default(),
            WGDEVICE_A_FWMARK => state.fwmark = attr.u32().unwrap_or_default(),
            WGDEVICE_A_PEERS => state.peers.extend(attr.nested().map(peer)),
            _ => {}
        }
    }
    state
}

/// Joins the parts of a dump: only the first contains the device's settings, and a peer whose
/// allowed addresses do not fit continues in the next part under the same key.
pub(crate) fn join(parts: Vec<DeviceState>) -> DeviceState {
    let mut parts = parts.into_iter();
    let mut whole = parts.next().unwrap_or_default();
    for peer in parts.flat_map(|part| part.peers) {
        match whole.peers.last_mut() {
            Some(last) if last.public_key == peer.public_key => {
                last.allowed_ips.extend(peer.allowed_ips);
            }
            _ => whole.peers.push(peer),
        }
    }
    whole
}

fn peer(attr: Attr<'_>) -> PeerState {
    let mut state = PeerState::default();
    for attr in attr.nested() {
        match attr.kind {
            WGPEER_A_PUBLIC_KEY => state.public_key = attr.payload.try_into().unwrap_or_default(),
            WGPEER_A_ENDPOINT => state.endpoint = endpoint(attr.payload),
            WGPEER_A_LAST_HANDSHAKE_TIME => state.last_handshake = handshake(attr.payload),
            WGPEER_A_RX_BYTES => state.rx_bytes = attr.u64().unwrap_or_default(),
            WGPEER_A_TX_BYTES => state.tx_bytes = attr.u64().unwrap_or_default(),
            WGPEER_A_PERSISTENT_KEEPALIVE_INTERVAL => {
                state.keepalive_s = attr.u16().unwrap_or_default();
            }
            WGPEER_A_ALLOWEDIPS => state
                .allowed_ips
                .extend(attr.nested().filter_map(allowed_ip)),
            _ => {}
        }
    }
    state
}

fn allowed_ip(attr: Attr<'_>) -> Option<(IpAddr, u8)> {
    let attrs = attr.nested();
    Some((
        attrs.get(WGALLOWEDIP_A_IPADDR)?.ip()?,
        attrs.get(WGALLOWEDIP_A_CIDR_MASK)?.u8()?,
    ))
}

/// `struct __kernel_timespec`: seconds and nanoseconds, 64 bits each; all zero before the first
/// handshake.
fn handshake(time: &[u8]) -> Option<Duration> {
    let nanos = u32::try_from(bytes::u64_at(time, 8)?).ok()?;
    let time = Duration::from_secs(bytes::u64_at(time, 0)?)
        .checked_add(Duration::from_nanos(nanos.into()))?;
    (!time.is_zero()).then_some(time)
}

fn endpoint(sockaddr: &[u8]) -> Option<SocketAddr> {
    let port = u16::from_be_bytes(bytes::array(sockaddr, 2)?);
    match i32::from(bytes::u16_at(sockaddr, 0)?) {
        libc::AF_INET => {
            let ip = Ipv4Addr::from(bytes::array::<4>(sockaddr, 4)?);
            Some(SocketAddrV4::new(ip, port).into())
        }
        libc::AF_INET6 => {
            let flow = u32::from_be_bytes(bytes::array(sockaddr, 4)?);
            let ip = Ipv6Addr::from(bytes::array::<16>(sockaddr, 8)?);
            Some(SocketAddrV6::new(ip, port, flow, bytes::u32_at(sockaddr, 24)?).into())
        }
        _ => None,
    }
}
