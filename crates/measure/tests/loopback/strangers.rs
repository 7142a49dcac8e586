//! Limits for strangers and other clients: each test is named after an attack.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream, UdpSocket},
    time::Duration,
};

use measure::far::{self, Far, load::Http};
use traffic::wire::datagram::Datagram;

use crate::common::{Serving, limits, receive_datagrams, udp};

/// The greeting of a connection, recorded on the path, opened the service to anyone who replayed
/// it.
#[test]
fn an_overheard_connection_opens_nothing_to_a_stranger() {
    let serving = Serving::start(limits());
    let mut far = serving.connect();
    let ticket = far.open(&Http { bytes: 1000 }).unwrap();
    let ask = |greeting: Vec<u8>| {
        let mut stream = TcpStream::connect(serving.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        let request = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let _ = stream.write_all(&[&greeting[..], request].concat());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer.len()
    };
    let overheard = ticket.greeting(0).bytes();
    assert!(ask(overheard.clone()) > 1000, "the first is the client's");
    assert_eq!(ask(overheard.clone()), 0, "its copy is not");
    for at in 5..overheard.len() {
        // Another number, another token, another code.
        let mut changed = overheard.clone();
        changed[at] ^= 1;
        assert_eq!(ask(changed), 0, "{at}");
    }
    assert!(ask(ticket.greeting(1).bytes()) > 1000, "the client goes on");
}

/// A stranger who proved their own address got the datagrams of another client's load.
#[test]
fn a_load_of_datagrams_is_not_taken_over_with_its_token() {
    let serving = Serving::start(limits());
    let mut far = serving.connect();
    let ticket = far.open(&udp(true, 8_000_000, 1000, 10.0)).unwrap();
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    stranger.connect(serving.address).unwrap();
    stranger
        .set_read_timeout(Some(Duration::from_millis(500)))
        .unwrap();
    let mut bytes = [0; 1500];
    let mut next = Datagram::Hello(ticket.token).greeting();
    stranger.send(&next).unwrap();
    let n = stranger.recv(&mut bytes).unwrap();
    let Some(Datagram::Challenge(token, challenge)) = Datagram::parse(&bytes[..n]) else {
        panic!("another answer");
    };
    assert_eq!(n, next.len(), "no longer than what was asked with");
    // A stranger has only the challenge for their own address, and no secret.
    next = Datagram::Prove(token, challenge).greeting();
    stranger.send(&next).unwrap();
    assert!(
        stranger.recv(&mut bytes).is_err(),
        "a stranger gets no answer"
    );
    let socket = far::datagrams(*ticket, serving.address).unwrap();
    far.start(&ticket).unwrap();
    // A stranger gets nothing after the start, either.
    stranger.send(&next).unwrap();
    assert!(receive_datagrams(&socket, Duration::from_millis(300)) > 100_000);
    assert!(stranger.recv(&mut bytes).is_err());
}

/// A client of another version gets the version of the server.
#[test]
fn a_client_of_version_1_is_asked_to_update() {
    let serving = Serving::start(limits());
    for first in [b"PTWC\x01", b"PTWD\x01"] {
        let mut stream = TcpStream::connect(serving.address).unwrap();
        stream.write_all(first).unwrap();
        let mut answer = [0; 2];
        stream.read_exact(&mut answer).unwrap();
        // A client of version 1 prints: the far end speaks version 2, update the older.
        assert_eq!(answer, [3, 2]);
    }
}

/// One address occupied every slot of the gate, and no other client was served.
#[test]
fn a_client_of_another_address_is_served_despite_a_greedy_one() {
    let serving = Serving::start(limits());
    let mut held = Vec::new();
    let refused = loop {
        match Far::connect(serving.address, &serving.key, "greedy") {
            Ok(far) => held.push(far),
            Err(error) => break error.to_string(),
        }
        assert!(held.len() <= 8);
    };
    assert_eq!(held.len(), 4, "half of eight");
    assert!(refused.contains("try again later"), "{refused}");
    let other = connect_from("127.0.0.2:0".parse().unwrap(), serving.address);
    let channel = traffic::wire::Channel::connect(other, &serving.key, 1 << 20);
    assert!(channel.is_ok(), "{:?}", channel.err());
}

fn connect_from(local: SocketAddr, to: SocketAddr) -> TcpStream {
    use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
    let fd = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&fd, &local).unwrap();
    connect(&fd, &to).unwrap();
    fd.into()
}
