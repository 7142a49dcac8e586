//! Attackers without the key who observe unencrypted traffic.

use std::{
    io::Write,
    net::{IpAddr, Ipv4Addr, UdpSocket},
    time::{Duration, Instant},
};

use traffic::wire::message::Order;

use super::{
    budget::ATTACKER as CLIENT,
    scene::{Going, Scene},
};
use crate::{
    case::{Case, Seen, Target},
    client::{Session, connect_from, drain, drain_datagrams, prove, stranger, udp},
    trouble::Trouble,
};

/// Address of the observing attacker.
const STRANGER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 9, 9));

pub(super) const CASES: &[Case] = &[
    Case {
        name: "overheard-http",
        attack: "on-path: opens a data connection of an HTTP service with the first bytes of the client's own",
        bound: "no answer, from his own address or the client's",
        run: overheard_http,
    },
    Case {
        name: "overheard-short",
        attack: "on-path: asks for short answers of 1 MB with the first bytes of the client's own connection",
        bound: "no answer, from his own address or the client's",
        run: overheard_short,
    },
    Case {
        name: "overheard-udp",
        attack: "on-path: sends a client's overheard hello, and proves his own address",
        bound: "he gets no load; the client does",
        run: overheard_udp,
    },
    Case {
        name: "guessed-tokens",
        attack: "stranger: 20,000 hellos and 2,000 data connections with made-up tokens",
        bound: "no byte comes back",
        run: guessed,
    },
];

fn overheard_http(target: &Target) -> Result<Seen, Trouble> {
    let request = b"GET / HTTP/1.1\r\nHost: pathtwin\r\n\r\n";
    overheard_answers(target, Order::Http { bytes: 1_000_000 }, request)
}

fn overheard_short(target: &Target) -> Result<Seen, Trouble> {
    overheard_answers(target, Order::Short { bytes: 1_000_000 }, &[])
}

fn overheard_answers(target: &Target, order: Order, request: &[u8]) -> Result<Seen, Trouble> {
    let scene = Scene::new(target, &[])?;
    let mut seen = Seen::default();
    let request_from = |from: IpAddr, first: &[u8]| -> Result<u64, Trouble> {
        let mut stream = connect_from(from, scene.address())?;
        // A connection that is closed immediately was rejected.
        let _ = stream
            .write_all(first)
            .and_then(|()| stream.write_all(request));
        let deadline = Instant::now() + Duration::from_secs(3);
        Ok(drain(&mut stream, Duration::from_millis(500), deadline))
    };
    let ([client, his_own, again], _) = scene.beside(&mut seen, |going| {
        let mut session = Session::open_from(CLIENT, scene.address(), &scene.key)?;
        let opened = session.open(order)?;
        let first = session.greeting(&opened, 0);
        going.ready();
        Ok([
            request_from(CLIENT, &first)?,
            request_from(STRANGER, &first)?,
            request_from(CLIENT, &first)?,
        ])
    })?;
    seen.check(client >= 1_000_000, "the client is answered");
    seen.at_most("bytes to his own address", his_own as f64, 0.0);
    seen.at_most("bytes to the client's address", again as f64, 0.0);
    scene.rests(&mut seen)?;
    Ok(seen)
}

fn overheard_udp(target: &Target) -> Result<Seen, Trouble> {
    let scene = Scene::new(target, &[])?;
    let mut seen = Seen::default();
    let (overheard, _) = scene.beside(&mut seen, |going| overhear(&scene, going))?;
    let proved = overheard.proved_his;
    seen.check(!proved, format!("he proved his address: {proved}"));
    seen.check(overheard.proved_own, "the client proves its own");
    seen.at_most("bytes of the load to him", overheard.to_him as f64, 0.0);
    let got = overheard.to_client;
    seen.check(got > 0, format!("{got} bytes to the client"));
    scene.rests(&mut seen)?;
    Ok(seen)
}

/// Result of replaying an observed UDP hello.
struct Overheard {
    proved_his: bool,
    proved_own: bool,
    to_him: u64,
    to_client: u64,
}

fn overhear(scene: &Scene, going: &Going<'_>) -> Result<Overheard, Trouble> {
    let mut session = Session::open_from(CLIENT, scene.address(), &scene.key)?;
    let opened = session.open(udp(true, 8_000_000, 1000, Duration::from_secs(2)))?;
    let own = UdpSocket::bind((STRANGER, 0))?;
    own.connect(scene.address())?;
    let hello = session.answer(&opened, None);
    let proved_his = prove(&own, stranger(&hello))?;
    let client = session.proved(&opened);
    // A second attempt before the start.
    let _ = prove(&own, stranger(&hello))?;
    session.start(&opened)?;
    going.ready();
    let deadline = Instant::now() + Duration::from_secs(3);
    let wait = Duration::from_secs(1);
    Ok(Overheard {
        proved_his,
        proved_own: client.is_ok(),
        to_him: drain_datagrams(&own, wait, deadline),
        to_client: client.map_or(0, |socket| drain_datagrams(&socket, wait, deadline)),
    })
}

fn guessed(target: &Target) -> Result<Seen, Trouble> {
    let scene = Scene::new(target, &[])?;
    let mut seen = Seen::default();
    let (back, _) = scene.beside(&mut seen, |going| {
        // A load exists whose token could be guessed.
        let mut session = Session::open_from(CLIENT, scene.address(), &scene.key)?;
        let _opened = session.open(Order::Echo)?;
        going.ready();
        guess(&scene)
    })?;
    seen.at_most("bytes back", back as f64, 0.0);
    scene.rests(&mut seen)?;
    Ok(seen)
}

/// Bytes received for invented tokens.
fn guess(scene: &Scene) -> Result<usize, Trouble> {
    use traffic::wire::{Greeting, Token, datagram::Datagram};
    let socket = UdpSocket::bind((STRANGER, 0))?;
    socket.connect(scene.address())?;
    let mut back = 0;
    let mut random = stats::Random::new(6);
    let mut token = || {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&random.next_u64().to_be_bytes());
        Token(bytes)
    };
    for number in 0..20_000 {
        let _ = socket.send(&Datagram::Hello(token()).greeting());
        if number % 100 == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let deadline = Instant::now() + Duration::from_secs(1);
    let _ = socket.set_read_timeout(Some(Duration::from_millis(200)));
    while Instant::now() < deadline {
        match socket.recv(&mut [0; 2048]) {
            Ok(n) => back += n,
            Err(_) => break,
        }
    }
    for _ in 0..2000 {
        let mut stream = connect_from(STRANGER, scene.address())?;
        let greeting = Greeting::Data {
            token: token(),
            number: 0,
            code: [7; 16],
        };
        let _ = stream.write_all(&greeting.bytes());
        back += drain(&mut stream, Duration::from_millis(200), deadline + REST) as usize;
    }
    Ok(back)
}

const REST: Duration = Duration::from_secs(30);
