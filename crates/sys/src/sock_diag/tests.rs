#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::os::fd::AsFd;

use proptest::prelude::*;

use super::*;
use crate::netlink::Message;
use crate::tcp_info;
use crate::testutil::netns;

/// A message as the kernel writes it, from a socket.
fn payload(socket: &TcpSocket, attrs: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut m = Message::new(0, 0);
    let family = if socket.local.is_ipv4() { 2 } else { 10 };
    m.raw(&[family, socket.state, 0, 0]);
    let mut id = Vec::new();
    id.extend(socket.local.port().to_be_bytes());
    id.extend(socket.remote.port().to_be_bytes());
    for ip in [socket.local.ip(), socket.remote.ip()] {
        let mut bytes = match ip {
            IpAddr::V4(a) => a.octets().to_vec(),
            IpAddr::V6(a) => a.octets().to_vec(),
        };
        bytes.resize(16, 0);
        id.extend(bytes);
    }
    m.raw(&id).raw(&socket.bound_to.unwrap_or(0).to_ne_bytes());
    m.raw(&(socket.cookie as u32).to_ne_bytes());
    m.raw(&((socket.cookie >> 32) as u32).to_ne_bytes());
    let tail = [
        0,
        socket.receive_queue_bytes,
        socket.send_queue_bytes,
        socket.uid,
        socket.inode.unwrap_or(0),
    ];
    for word in tail {
        m.raw(&word.to_ne_bytes());
    }
    for (kind, bytes) in attrs {
        m.attr(*kind, bytes);
    }
    m.payload().to_vec()
}

fn endpoint() -> impl Strategy<Value = (IpAddr, IpAddr)> {
    prop_oneof![
        any::<(u32, u32)>().prop_map(|(a, b)| (Ipv4Addr::from(a).into(), Ipv4Addr::from(b).into())),
        any::<(u128, u128)>()
            .prop_map(|(a, b)| (Ipv6Addr::from(a).into(), Ipv6Addr::from(b).into())),
    ]
}

proptest! {
    #[test]
    fn any_bytes_are_parsed_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..500)) {
        let known = bytes.len() >= 72 && [2, 10].contains(&bytes[0]);
        prop_assert_eq!(TcpSocket::parse(&bytes).is_some(), known);
    }

    #[test]
    fn attributes_of_any_bytes_are_parsed_without_panic(
        attrs in proptest::collection::vec(
            (0u16..24, proptest::collection::vec(any::<u8>(), 0..300)), 0..8),
    ) {
        let mut bytes = vec![0; 72];
        bytes[0] = 2;
        let mut m = Message::new(0, 0);
        for (kind, payload) in &attrs {
            m.attr(*kind, payload);
        }
        bytes.extend(m.payload());
        let socket = TcpSocket::parse(&bytes).unwrap();
        let info = attrs.iter().find(|(kind, _)| *kind == 2);
        prop_assert_eq!(socket.info.is_some(), info.is_some_and(|(_, b)| b.len() >= 104));
    }

    #[test]
    fn the_kernels_output_is_parsed_back(
        (local, remote) in endpoint(),
        ports in any::<(u16, u16)>(),
        cookie in any::<u64>(),
        state in 1u8..13,
        numbers in any::<[u32; 5]>(),
        memory in any::<[u32; 9]>(),
    ) {
        let socket = TcpSocket {
            cookie,
            state,
            local: SocketAddr::new(local, ports.0),
            remote: SocketAddr::new(remote, ports.1),
            bound_to: Some(numbers[0]).filter(|&i| i != 0),
            uid: numbers[1],
            inode: Some(numbers[2]).filter(|&i| i != 0),
            receive_queue_bytes: numbers[3],
            send_queue_bytes: numbers[4],
            congestion: Some("cubic".to_owned()),
            info: TcpInfo::parse(&[7; 280]),
            bbr: BbrInfo::parse(&[9; 20]),
            memory: Some(SocketMemory {
                receive_used_bytes: memory[0],
                receive_limit_bytes: memory[1],
                send_in_queues_bytes: memory[2],
                send_limit_bytes: memory[3],
                send_used_bytes: memory[5],
                drops: Some(memory[8]),
            }),
        };
        let memory: Vec<u8> = memory.iter().flat_map(|w| w.to_ne_bytes()).collect();
        let attrs = [
            (7, memory),
            (2, vec![7; 280]),
            (4, b"cubic\0".to_vec()),
            (16, vec![9; 20]),
        ];
        let mut read = TcpSocket::parse(&payload(&socket, &attrs)).unwrap();
        // IPv4-mapped addresses are returned as IPv4.
        read.local.set_ip(local);
        read.remote.set_ip(remote);
        prop_assert_eq!(read, socket);
    }
}

#[test]
fn mapped_addresses_are_shown_as_ipv4() {
    let mapped = |last| IpAddr::from(Ipv4Addr::new(192, 0, 2, last).to_ipv6_mapped());
    let socket = TcpSocket {
        cookie: 1,
        state: 1,
        local: SocketAddr::new(mapped(1), 443),
        remote: SocketAddr::new(mapped(2), 5000),
        bound_to: None,
        uid: 0,
        inode: None,
        receive_queue_bytes: 0,
        send_queue_bytes: 0,
        congestion: None,
        info: None,
        bbr: None,
        memory: None,
    };
    let read = TcpSocket::parse(&payload(&socket, &[])).unwrap();
    assert_eq!(read.local.to_string(), "192.0.2.1:443");
    assert_eq!(read.remote.to_string(), "192.0.2.2:5000");
}

/// A connection over loopback and the dump of it; in a separate namespace where that is allowed.
fn connection(address: &str) -> (TcpStream, TcpStream, Vec<TcpSocket>) {
    let listener = TcpListener::bind(address).unwrap();
    let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut far, _) = listener.accept().unwrap();
    near.write_all(&[1; 5000]).unwrap();
    far.read_exact(&mut [0; 3000]).unwrap();
    let mut nl = Netlink::sock_diag().unwrap();
    let sockets = tcp_sockets(&mut nl, ESTABLISHED).unwrap();
    (near, far, sockets)
}

fn one(sockets: &[TcpSocket], stream: &TcpStream) -> TcpSocket {
    let local = stream.local_addr().unwrap();
    let remote = stream.peer_addr().unwrap();
    let matching = |s: &&TcpSocket| (s.local, s.remote) == (local, remote);
    let found: Vec<_> = sockets.iter().filter(matching).collect();
    assert_eq!(found.len(), 1, "{sockets:?}");
    found[0].clone()
}

#[test]
fn a_dump_matches_the_options_of_the_sockets() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let (near, far, sockets) = connection(address);
        let (a, b) = (one(&sockets, &near), one(&sockets, &far));
        assert_ne!(a.cookie, b.cookie);
        assert_eq!(b.receive_queue_bytes, 2000);
        let dumped = a.info.unwrap();
        let own = tcp_info::read(near.as_fd()).unwrap();
        assert_eq!(dumped.snd_mss, own.snd_mss);
        assert_eq!(dumped.bytes_sent, Some(5000));
        assert_eq!(dumped.busy_time_us.is_some(), own.busy_time_us.is_some());
        assert_eq!(a.congestion, crate::socket::congestion(&near).ok());
        assert!(a.memory.unwrap().send_limit_bytes > 0);
        assert_eq!(a.uid, rustix::process::geteuid().as_raw());
        let owner = &owners()[&a.inode.unwrap()];
        assert_eq!(owner.pid, std::process::id());
    }
}

#[test]
fn the_state_of_bbr_comes_with_its_sockets() {
    let (near, _far, _) = connection("127.0.0.1:0");
    if let Err(e) = rustix::net::sockopt::set_tcp_congestion(&near, "bbr") {
        println!("skipped: bbr: {e}");
        return;
    }
    let mut nl = Netlink::sock_diag().unwrap();
    let sockets = tcp_sockets(&mut nl, ESTABLISHED).unwrap();
    let socket = one(&sockets, &near);
    assert_eq!(socket.congestion.as_deref(), Some("bbr"));
    let asked = tcp_info::bbr(near.as_fd()).unwrap().unwrap();
    assert_eq!(socket.bbr.unwrap().cwnd_gain, asked.cwnd_gain);
}

#[test]
fn a_namespace_shows_its_own_sockets_only() {
    let (near, _far, _) = connection("127.0.0.1:0");
    let Some(ns) = netns() else { return };
    let mut nl = ns.run(Netlink::sock_diag).unwrap().unwrap();
    let sockets = tcp_sockets(&mut nl, WITH_DATA).unwrap();
    assert!(sockets.is_empty(), "{:?} {sockets:?}", near.local_addr());
}
