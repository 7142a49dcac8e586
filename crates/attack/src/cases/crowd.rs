//! Key holders who try to exhaust shared resources.

use std::{
    io::Write,
    net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use traffic::wire::{datagram::Datagram, message::Order};

use super::{budget::ATTACKER, scene::Scene};
use crate::{
    case::{Case, Seen, Target},
    client::{Opened, Session, drain_datagrams},
    legitimate::PACED,
    packets::{Forger, Tap},
    served::Served,
    trouble::Trouble,
};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "every-slot",
        attack: "key holder: as many sessions as it gets from one address, under --max-clients 8",
        bound: "a client of another address is let in",
        run: every_slot,
    },
    Case {
        name: "every-slot-v6",
        attack: "key holder: the same from one IPv6 /64, on ::1",
        bound: "a client of another network is let in",
        run: every_slot_v6,
    },
    Case {
        name: "every-slot-of-a-network",
        attack: "key holder: the same from 200 addresses of one /24",
        bound: "a client of another network is let in",
        run: every_slot_of_a_network,
    },
    Case {
        name: "threads-of-services",
        attack: "key holder: 16 HTTP services at once with 128 silent connections each, under --max-flows 128",
        bound: "320 threads and 896 descriptors, as 128 flows in each direction may have; all given back within 10 s",
        run: threads,
    },
    Case {
        name: "echo-budget",
        attack: "key holder: asks 8 echo services for answers of 60 kB, 40 bytes a request",
        bound: "8 MiB for the session, and one answer of each",
        run: echo_budget,
    },
    Case {
        name: "echo-forged",
        attack: "stranger: asks with the forged address that a client has proved",
        bound: "8 MiB for the session",
        run: echo_forged,
    },
];

fn every_slot(target: &Target) -> Result<Seen, Trouble> {
    let scene = Scene::new(target, &["--max-clients", "8"])?;
    let mut seen = Seen::default();
    let (held, _) = scene.beside(&mut seen, |going| {
        let mut held = Vec::new();
        let mut tries = 0;
        while going.on() {
            tries += 1;
            if tries == 20 {
                going.ready();
            }
            if let Ok(session) = Session::open_from(ATTACKER, scene.address(), &scene.key) {
                held.push(session);
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(held)
    })?;
    seen.note(format!("{} sessions of one address", held.len()));
    drop(held);
    scene.rests(&mut seen)?;
    Ok(seen)
}

fn every_slot_of_a_network(target: &Target) -> Result<Seen, Trouble> {
    let scene = Scene::new(target, &["--max-clients", "8"])?;
    let mut seen = Seen::default();
    let (held, _) = scene.beside(&mut seen, |going| {
        let from = |host| Ipv4Addr::new(127, 0, 2, host).into();
        let held: Vec<_> = (1..=200)
            .filter_map(|host| Session::open_from(from(host), scene.address(), &scene.key).ok())
            .collect();
        going.hold();
        Ok(held)
    })?;
    seen.note(format!("{} sessions of one network", held.len()));
    drop(held);
    scene.rests(&mut seen)?;
    Ok(seen)
}

fn every_slot_v6(target: &Target) -> Result<Seen, Trouble> {
    let both = [
        "--listen",
        "127.0.0.1",
        "--listen",
        "::1",
        "--max-clients",
        "8",
        PACED,
    ];
    let served = Served::start_by(target, Command::new(&target.program), &both)?;
    let scene = Scene::of(served)?;
    let mut seen = Seen::default();
    let (held, _) = scene.beside(&mut seen, |going| {
        let attacked = scene.addresses[1];
        let held: Vec<_> = (0..8)
            .filter_map(|_| Session::new(attacked, &scene.key).ok())
            .collect();
        going.hold();
        Ok(held)
    })?;
    seen.note(format!("{} sessions of one network", held.len()));
    drop(held);
    scene.rests(&mut seen)?;
    Ok(seen)
}

fn threads(target: &Target) -> Result<Seen, Trouble> {
    let scene = Scene::new(target, &["--max-flows", "128"])?;
    let mut seen = Seen::default();
    let (held, most) = scene.beside(&mut seen, |going| {
        let mut session = Session::open_from(ATTACKER, scene.address(), &scene.key)?;
        let mut held = Vec::new();
        for _ in 0..16 {
            let Ok(opened) = session.open(Order::Http { bytes: 1000 }) else {
                break;
            };
            for _ in 0..128 {
                held.extend(session.stream(&opened));
            }
        }
        // Half a request each, so that each occupies a thread.
        for stream in &mut held {
            let _ = stream.write_all(b"GET / HTT");
        }
        going.hold();
        session.drop_dead();
        Ok(held)
    })?;
    drop(held);
    let threads = most.threads.saturating_sub(scene.before.threads);
    let descriptors = most.descriptors.saturating_sub(scene.before.descriptors);
    // Plus the threads of the legitimate client.
    seen.at_most("threads", threads as f64, 320.0 + 8.0);
    seen.at_most("descriptors", descriptors as f64, 896.0 + 16.0);
    scene.rests(&mut seen)?;
    Ok(seen)
}

/// Limit of responses to size requests per session, as in the protocol reference.
const ECHOES: f64 = (8 << 20) as f64;

/// Requests one response of a given size.
fn ask(number: u32) -> [u8; 40] {
    Datagram::SizedAsk {
        number,
        payload: 60_000,
    }
    .greeting()
}

fn echo_budget(target: &Target) -> Result<Seen, Trouble> {
    let scene = Scene::new(target, &[])?;
    let mut seen = Seen::default();
    let (sum, _) = scene.beside(&mut seen, |going| {
        let mut session = Session::open_from(ATTACKER, scene.address(), &scene.key)?;
        let mut services: Vec<(Opened, UdpSocket)> = Vec::new();
        for _ in 0..8 {
            let Ok(opened) = session.open(Order::Echo) else {
                break;
            };
            let socket = session.proved(&opened)?;
            services.push((opened, socket));
        }
        going.ready();
        let mut sum = 0;
        for number in 0..200 {
            for (_, socket) in &services {
                let _ = socket.send(&ask(number));
                let wait = Duration::from_millis(2);
                sum += drain_datagrams(socket, wait, Instant::now() + wait);
            }
        }
        for (_, socket) in &services {
            let wait = Duration::from_millis(100);
            sum += drain_datagrams(socket, wait, Instant::now() + wait);
        }
        going.hold();
        Ok(sum)
    })?;
    seen.at_most("bytes of answers", sum as f64, ECHOES + 8.0 * 60_000.0);
    seen.check(sum > 0, "it is answered");
    scene.rests(&mut seen)?;
    Ok(seen)
}

fn echo_forged(target: &Target) -> Result<Seen, Trouble> {
    let forger = Forger::new()?;
    let scene = Scene::new(target, &[])?;
    let mut seen = Seen::default();
    let IpAddr::V4(victim) = ATTACKER else {
        return Err(Trouble::NotIpv4);
    };
    let ((sent, back), _) = scene.beside(&mut seen, |going| {
        let mut session = Session::open_from(ATTACKER, scene.address(), &scene.key)?;
        let opened = session.open(Order::Echo)?;
        let proved: SocketAddr = session.proved(&opened)?.local_addr()?;
        // Its client has closed the port, but not the session.
        let mut tap = Tap::new(scene.address(), Ipv4Addr::from(victim.octets()))?;
        going.ready();
        let mut sent = 0;
        for number in 0..2000 {
            sent += forger.send(proved, scene.address(), &ask(number))?;
            tap.read();
            if number % 10 == 0 {
                thread::sleep(Duration::from_millis(2));
            }
        }
        thread::sleep(Duration::from_millis(300));
        Ok((sent, tap.read()))
    })?;
    seen.note(format!("{sent} bytes sent from the forged address"));
    // Each response has headers of 28 bytes, plus the headers of its fragments.
    seen.at_most("bytes to it", back as f64, ECHOES * 1.01);
    scene.rests(&mut seen)?;
    Ok(seen)
}
