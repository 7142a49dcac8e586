//! Parsers of kernel messages for a fuzz target, which are otherwise private.

use crate::{
    ethtool, link, neighbour,
    netlink::Replies,
    perf::Samples,
    route, tc,
    tcp_info::{BbrInfo, TcpInfo},
    timestamp, wireguard, wireless,
};

/// Parses bytes as each kind of message, attribute, record and control data of the kernel.
pub fn read_all(bytes: &[u8]) {
    let _ = TcpInfo::parse(bytes);
    let _ = BbrInfo::parse(bytes);
    Samples::default().add(bytes);
    let _ = timestamp::control::received(bytes);
    let _ = timestamp::control::transmitted(bytes);
    let _ = ethtool::query::read_link_mode(bytes);
    let name = ethtool::query::text(bytes, 12, 32);
    let _ = ethtool::query::read_features(vec![name], bytes);
    payload(bytes);
    for reply in Replies::new(bytes) {
        let _ = (reply.errno(), reply.kernel_message());
        payload(reply.payload);
    }
}

fn payload(bytes: &[u8]) {
    let _ = link::show::parse(bytes);
    let _ = tc::QdiscStats::parse(bytes);
    let _ = route::parse(bytes);
    if let Some(entry) = route::table::settable(bytes) {
        let _ = route::table::Entry::from_bytes(entry.with_congestion_control("bbr").bytes());
    }
    let _ = tc::tree::node(bytes);
    let _ = neighbour::parse(bytes);
    let _ = wireless::station(bytes);
    let _ = ethtool::amounts::read_rings(bytes);
    let _ = ethtool::amounts::read_channels(bytes);
    let part = wireguard::decode::device(bytes);
    let _ = wireguard::decode::join(vec![part.clone(), part]);
}
