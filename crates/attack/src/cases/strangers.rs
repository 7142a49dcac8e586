//! Strangers, and attackers with recorded traffic of a client.

use std::{
    collections::VecDeque,
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket},
    thread,
    time::{Duration, Instant},
};

use traffic::wire::{
    Greeting, Token,
    datagram::{Datagram, GREETING},
    greeting::CONTROL,
    message::Order,
};

use super::{
    budget::ATTACKER,
    scene::{Going, Scene},
};
use crate::{
    case::{Case, Seen, Target},
    client::{Session, connect_from, recorded},
    legitimate::PACED,
    packets::{Forger, Tap},
    process::cpu_s,
    served::Served,
    trouble::Trouble,
};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "half-open-flood",
        attack: "strangers of 8 addresses: 2,000 connections held, silent, partial, foreign, wrong keys, replays; 5,000 datagrams a second",
        bound: "256 held, 4 MiB more; other clients unharmed; all given back within 10 s",
        run: flood,
    },
    Case {
        name: "replayed-greetings",
        attack: "on-path: recorded greetings replayed, under --max-clients 1",
        bound: "no second answer, no thread, a client is let in",
        run: replayed,
    },
    Case {
        name: "wrong-keys",
        attack: "stranger: 2,000 handshakes with other keys",
        bound: "refused, no thread, all given back within 10 s",
        run: wrong_keys,
    },
    Case {
        name: "long-first-frame",
        attack: "on-path: a recorded greeting, then a frame of 65,535 bytes",
        bound: "cut off within 5 s",
        run: long_frame,
    },
    Case {
        name: "no-descriptors",
        attack: "stranger: 100 connections to a server with 13 descriptors",
        bound: "0.3 of a processor; a client is let in afterwards",
        run: no_descriptors,
    },
    Case {
        name: "few-descriptors",
        attack: "stranger: 1,000 connections to a server with 256 descriptors",
        bound: "a quarter for them; a client measures",
        run: few_descriptors,
    },
    Case {
        name: "forged-addresses",
        attack: "key holder: 3,000 datagrams of all kinds from an address that is not his, with known tokens",
        bound: "that address gets no more than came from it",
        run: forged,
    },
];

/// Data that a stranger sends on a connection, by its number.
fn words(number: usize, replay: &[u8; CONTROL]) -> Vec<u8> {
    let wrong = Greeting::Control([number as u8; 48]).bytes();
    let unknown = Greeting::Data {
        token: Token([number as u8; 16]),
        number: 0,
        code: [number as u8; 16],
    };
    match number % 8 {
        0 => Vec::new(),
        1 => b"PTWC".to_vec(),
        2 => replay[..CONTROL - 1].to_vec(),
        3 => b"GET / HTTP/1.1\r\nHost: example\r\n\r\n".to_vec(),
        4 => wrong,
        5 => unknown.bytes(),
        6 => [&replay[..], &[0xff; 2000]].concat(),
        _ => replay.to_vec(),
    }
}

fn flood(target: &Target) -> Result<Seen, Trouble> {
    const HELD: usize = 2000;
    let scene = Scene::new(target, &[])?;
    let mut seen = Seen::default();
    let replay = recorded(&scene.key)?;
    let (held, most) = scene.beside(&mut seen, |going| {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        let mut held = VecDeque::new();
        let mut number = 0;
        while going.on() {
            let from = Ipv4Addr::new(127, 0, 1, (number % 8) as u8 + 1);
            if let Ok(mut stream) = connect_from(from.into(), scene.address()) {
                let _ = stream.write_all(&words(number, &replay));
                held.push_back(stream);
            }
            if held.len() > HELD {
                going.ready();
                held.pop_front();
            }
            for more in 0..5u64 {
                let mut token = [0; 16];
                token[..8].copy_from_slice(&(number as u64 * 5 + more).to_be_bytes());
                let hello = Datagram::Hello(Token(token)).greeting();
                let _ = socket.send_to(&hello, scene.address());
            }
            number += 1;
            if number % 10 == 9 {
                thread::sleep(Duration::from_millis(8));
            }
        }
        Ok(held)
    })?;
    drop(held);
    let descriptors = most.descriptors.saturating_sub(scene.before.descriptors);
    let memory = most.resident_kib.saturating_sub(scene.before.resident_kib);
    seen.at_most("descriptors", descriptors as f64, 256.0 + 16.0);
    seen.at_most("KiB", memory as f64, 4096.0);
    scene.rests(&mut seen)?;
    Ok(seen)
}

fn replayed(target: &Target) -> Result<Seen, Trouble> {
    let served = Served::start(target, &["--max-clients", "1"])?;
    let before = served.at_rest()?;
    let mut seen = Seen::default();
    let (mut held, mut answers) = (Vec::new(), [0, 0]);
    for _ in 0..8 {
        let greeting = recorded(&served.key)?;
        for answered in &mut answers {
            let mut stream = connect_from(ATTACKER, served.address())?;
            stream.set_read_timeout(Some(Duration::from_secs(2)))?;
            stream.write_all(&greeting)?;
            // The first is a valid greeting; its copy is detected.
            *answered += usize::from(stream.read_exact(&mut [0; 50]).is_ok());
            held.push(stream);
        }
    }
    seen.check(
        answers[0] > 0,
        format!("{} greetings answered once", answers[0]),
    );
    seen.at_most("answered twice", answers[1] as f64, 0.0);
    let now = crate::process::Held::of(served.pid())?;
    seen.at_most("threads", now.threads as f64, before.threads as f64);
    let client = Session::new(served.address(), &served.key);
    seen.check(client.is_ok(), "a client is let in");
    drop((held, client));
    crate::process::rests(served.pid(), &before, &mut seen)?;
    Ok(seen)
}

fn wrong_keys(target: &Target) -> Result<Seen, Trouble> {
    let scene = Scene::new(target, &[])?;
    let mut seen = Seen::default();
    let (let_in, most) = scene.beside(&mut seen, |going| {
        let (mut let_in, mut number) = (0, 0);
        going.ready();
        while going.on() || number < 500 {
            let key = traffic::wire::Key::generate()?;
            let_in += u64::from(Session::open_from(ATTACKER, scene.address(), &key).is_ok());
            number += 1;
            thread::sleep(Duration::from_millis(1));
        }
        Ok(let_in)
    })?;
    seen.at_most("let in", let_in as f64, 0.0);
    let threads = most.threads.saturating_sub(scene.before.threads);
    // The threads of the legitimate client.
    seen.at_most("threads", threads as f64, 8.0);
    scene.rests(&mut seen)?;
    Ok(seen)
}

fn long_frame(target: &Target) -> Result<Seen, Trouble> {
    let scene = Scene::new(target, &[])?;
    let mut seen = Seen::default();
    let ((end, took), _) = scene.beside(&mut seen, |going| {
        let mut stream = connect_from(ATTACKER, scene.address())?;
        stream.write_all(&recorded(&scene.key)?)?;
        let mut answer = [0; 50];
        stream.read_exact(&mut answer)?;
        stream.write_all(&[0xff, 0xff])?;
        going.ready();
        let begun = Instant::now();
        stream.set_read_timeout(Some(Duration::from_secs(6)))?;
        Ok((stream.read(&mut answer), begun.elapsed()))
    })?;
    let cut = matches!(&end, Ok(0))
        || matches!(&end, Err(e) if e.kind() == std::io::ErrorKind::ConnectionReset);
    seen.check(cut, format!("its end: {end:?}"));
    seen.at_most("s until then", took.as_secs_f64(), 5.0);
    scene.rests(&mut seen)?;
    Ok(seen)
}

fn no_descriptors(target: &Target) -> Result<Seen, Trouble> {
    let served = Served::with_descriptors(target, 13, &[])?;
    let mut seen = Seen::default();
    let held: Vec<TcpStream> = (0..100)
        .map(|_| connect_from(ATTACKER, served.address()))
        .collect::<Result<_, _>>()?;
    let (before, begun) = (cpu_s(served.pid())?, Instant::now());
    thread::sleep(Duration::from_secs(2));
    let spent = (cpu_s(served.pid())? - before) / begun.elapsed().as_secs_f64();
    seen.at_most("of a processor", spent, 0.3);
    drop(held);
    let client = Session::new(served.address(), &served.key);
    seen.check(client.is_ok(), "a client is let in");
    Ok(seen)
}

fn few_descriptors(target: &Target) -> Result<Seen, Trouble> {
    let scene = Scene::of_small(Served::with_descriptors(target, 256, &[PACED])?)?;
    let mut seen = Seen::default();
    let (held, most) = scene.beside(&mut seen, |going| {
        let held: Vec<TcpStream> = (0..1000)
            .map(|_| connect_from(ATTACKER, scene.address()))
            .collect::<Result<_, _>>()?;
        going.hold();
        Ok(held)
    })?;
    seen.at_most("descriptors", most.descriptors as f64, 64.0 + 32.0);
    drop(held);
    scene.rests(&mut seen)?;
    Ok(seen)
}

fn forged(target: &Target) -> Result<Seen, Trouble> {
    let forger = Forger::new()?;
    let scene = Scene::new(target, &[])?;
    let mut seen = Seen::default();
    let (forged, _) = scene.beside(&mut seen, |going| forge(&scene, &forger, going))?;
    seen.check(forged.still_taken, "a client's proof is still taken");
    seen.note(format!(
        "{} bytes sent from the forged address",
        forged.sent
    ));
    seen.at_most("bytes to it", forged.back as f64, forged.greeted as f64);
    scene.rests(&mut seen)?;
    Ok(seen)
}

/// Bytes from and to a forged address.
struct Forged {
    sent: usize,
    greeted: usize,
    back: usize,
    still_taken: bool,
}

fn forge(scene: &Scene, forger: &Forger, going: &Going<'_>) -> Result<Forged, Trouble> {
    // A key holder has tokens, the strongest position.
    let mut session = Session::open_from(ATTACKER, scene.address(), &scene.key)?;
    let proved = session.open(Order::Echo)?;
    // Another address has been proved for it.
    let _socket = session.proved(&proved)?;
    going.ready();
    let other = session.open(Order::Echo)?;
    let hellos = [session.answer(&proved, None), session.answer(&other, None)];
    let victim = Ipv4Addr::new(127, 0, 0, 66);
    let from = SocketAddr::from((victim, 4000));
    let mut tap = Tap::new(scene.address(), victim)?;
    let (mut sent, mut greeted) = (0, 0);
    let mut random = stats::Random::new(1);
    for number in 0..3000 {
        let hello = &hellos[number / 16 % 2];
        let payload = payload(number, hello, &mut random);
        let bytes = forger.send(from, scene.address(), &payload)?;
        sent += bytes;
        if payload == *hello {
            greeted += bytes;
        }
        if number % 50 == 0 {
            // Replies are read in time.
            tap.read();
            thread::sleep(Duration::from_millis(1));
        }
    }
    // The server processes datagrams in order: this reply shows that it has read all.
    let still_taken = session.proved(&other).is_ok();
    Ok(Forged {
        sent,
        greeted,
        back: tap.read(),
        still_taken,
    })
}

/// Datagrams of all kinds and sizes, with known tokens, wrong proofs, truncated and padded.
fn payload(number: usize, hello: &[u8], random: &mut stats::Random) -> Vec<u8> {
    let mut token = [0; 16];
    token.copy_from_slice(&hello[1..17]);
    let token = Token(token);
    let size = (random.next_u64() % 1400) as u16;
    let datagram = match number % 12 {
        0 | 1 => return hello.to_vec(),
        2 => Datagram::Hello(Token([number as u8; 16])),
        3 => Datagram::Prove(token, [number as u8; 16]),
        4 => Datagram::Challenge(token, [0; 16]),
        5 => Datagram::Proved(token),
        6 => Datagram::Probe { number: 1 },
        7 => Datagram::SizedAsk {
            number: 1,
            payload: 65_000,
        },
        8 => Datagram::Sized {
            number: 1,
            payload: size,
        },
        9 => Datagram::Data {
            number: 1,
            sent_ns: 1,
        },
        10 => Datagram::Answer {
            number: 1,
            held_ns: 1,
        },
        _ => return (0..size).map(|_| random.next_u64() as u8).collect(),
    };
    let mut bytes = datagram.greeting().to_vec();
    match random.next_u64() % 4 {
        0 => bytes.truncate(usize::from(size) % GREETING),
        1 => bytes.resize(usize::from(size), 0),
        _ => {}
    }
    bytes
}
