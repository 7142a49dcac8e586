//! Key holders who try to exceed the limits of a session.

use std::{
    io::Write,
    net::{IpAddr, Ipv4Addr, UdpSocket},
    thread,
    time::{Duration, Instant},
};

use traffic::wire::message::Outcome;

use super::scene::Scene;
use crate::{
    case::{Case, Seen, Target},
    client::{Session, drain, drain_datagrams, tcp, udp},
    trouble::Trouble,
};

/// The attacker's address; the legitimate client is at 127.0.0.1, in another network.
pub(super) const ATTACKER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 2, 2));

/// Bytes of one call that may exceed a bound.
const CALL: f64 = (1 << 20) as f64;

pub(super) const CASES: &[Case] = &[
    Case {
        name: "second-start-tcp",
        attack: "key holder: six starts of 100 connections at samples of 1 ms in one agreement, then gone",
        bound: "one start; 100 flows' threads; all given back within 10 s; other clients unharmed",
        run: second_start_tcp,
    },
    Case {
        name: "second-start-udp",
        attack: "key holder: three starts of one UDP load under --max-rate 50mbit, then gone",
        bound: "50 Mbit/s, and nothing one second after the session's end",
        run: second_start_udp,
    },
    Case {
        name: "loads-side-by-side",
        attack: "key holder: four TCP loads at once under --max-bytes 20MB",
        bound: "20 MB in all, and one call of each",
        run: shared_bytes,
    },
    Case {
        name: "trickle-holds-finish",
        attack: "key holder: an incoming UDP load kept up by a datagram each 5 ms, then finish",
        bound: "finish answered within 3 s",
        run: trickle_finish,
    },
    Case {
        name: "trickle-holds-slot",
        attack: "key holder: leaves under --max-clients 1, but his datagrams go on",
        bound: "another client let in within 10 s",
        run: trickle_slot,
    },
    Case {
        name: "undeclared-bytes",
        attack: "key holder: datagrams of 17 bytes declared, 100 MB in datagrams of 60 kB sent, under --max-bytes 10MB",
        bound: "10 MB taken in",
        run: undeclared_bytes,
    },
    Case {
        name: "overtime-tcp",
        attack: "key holder: goes on sending TCP to a load of 2 s under --max-time 2s",
        bound: "cut off within 6 s",
        run: overtime_tcp,
    },
];

fn second_start_tcp(target: &Target) -> Result<Seen, Trouble> {
    const FLOWS: u16 = 100;
    // All senders of a user share one limit of pipe buffers (pipe(7), `pipe-user-pages-soft`),
    // which is not part of this attack.
    let scene = Scene::new(target, &["--user", "root"])?;
    let mut seen = Seen::default();
    let ((starts, held, refused), most) = scene.beside(&mut seen, |going| {
        let mut session = Session::open_from(ATTACKER, scene.address(), &scene.key)?;
        let opened = session.open(tcp(true, FLOWS, Duration::from_secs(60)))?;
        let (mut starts, mut held, mut refused) = (0, Vec::new(), String::new());
        for _ in 0..6 {
            held.extend(session.streams(&opened, FLOWS)?);
            match session.start(&opened) {
                Ok(()) => starts += 1,
                Err(Trouble::Refused { why, .. }) => refused = why.to_string(),
                Err(other) => return Err(other),
            }
        }
        going.hold();
        session.drop_dead();
        Ok((starts, held, refused))
    })?;
    drop(held);
    seen.note(format!("refused: {refused}"));
    seen.at_most("starts", f64::from(starts), 1.0);
    let more = most.threads.saturating_sub(scene.before.threads);
    // A thread for the load, one for the samples, and the threads of the legitimate client.
    seen.at_most("threads", more as f64, f64::from(FLOWS) + 2.0 + 8.0);
    scene.rests(&mut seen)?;
    Ok(seen)
}

fn second_start_udp(target: &Target) -> Result<Seen, Trouble> {
    const RATE: u64 = 50_000_000;
    let served = crate::served::Served::start(target, &["--max-rate", "50mbit"])?;
    let scene = Scene::of(served)?;
    let mut seen = Seen::default();
    let (rates, _) = scene.beside(&mut seen, |going| {
        let mut session = Session::open_from(ATTACKER, scene.address(), &scene.key)?;
        let opened = session.open(udp(true, RATE, 1200, Duration::from_secs(20)))?;
        let mut sockets = Vec::new();
        for _ in 0..3 {
            // A second one may not be proved, which is as good.
            let Ok(socket) = session.proved(&opened) else {
                break;
            };
            sockets.push(socket);
            if session.start(&opened).is_err() {
                break;
            }
        }
        going.ready();
        let during = rate_of(&sockets, Duration::from_secs(2));
        session.drop_dead();
        thread::sleep(Duration::from_secs(1));
        sockets.iter().for_each(empty);
        Ok([during, rate_of(&sockets, Duration::from_secs(1))])
    })?;
    seen.at_most("Mbit/s", rates[0] / 1e6, RATE as f64 / 1e6 * 1.05);
    seen.at_most("Mbit/s after its end", rates[1] / 1e6, 0.0);
    scene.rests(&mut seen)?;
    Ok(seen)
}

/// Payload received by several sockets, bit/s.
pub(super) fn rate_of(sockets: &[UdpSocket], time: Duration) -> f64 {
    let begun = Instant::now();
    let deadline = begun + time;
    let bytes: u64 = thread::scope(|scope| {
        let readers: Vec<_> = sockets
            .iter()
            .map(|s| scope.spawn(move || drain_datagrams(s, time, deadline)))
            .collect();
        readers.into_iter().filter_map(|r| r.join().ok()).sum()
    });
    bytes as f64 * 8.0 / begun.elapsed().as_secs_f64()
}

/// Discards the queue of a socket.
fn empty(socket: &UdpSocket) {
    let _ = socket.set_nonblocking(true);
    while socket.recv(&mut [0; 2048]).is_ok() {}
    let _ = socket.set_nonblocking(false);
}

fn shared_bytes(target: &Target) -> Result<Seen, Trouble> {
    const ALLOWED: f64 = 20e6;
    const LOADS: usize = 4;
    let scene = Scene::new(target, &["--max-bytes", "20MB"])?;
    let mut seen = Seen::default();
    let ((sum, refused), _) = scene.beside(&mut seen, |going| {
        let mut session = Session::open_from(ATTACKER, scene.address(), &scene.key)?;
        let order = tcp(true, 1, Duration::from_secs(60));
        let deadline = Instant::now() + Duration::from_secs(20);
        let mut loads = Vec::new();
        for _ in 0..LOADS {
            let opened = session.open(order.clone())?;
            loads.push((session.stream(&opened)?, opened));
        }
        let mut readers = Vec::new();
        for (mut stream, opened) in loads {
            let silence = Duration::from_secs(3);
            readers.push(thread::spawn(move || drain(&mut stream, silence, deadline)));
            // The budget may be exhausted for the last ones.
            let _ = session.start(&opened);
        }
        going.ready();
        let mut sum = 0;
        for reader in readers {
            sum += reader.join().unwrap_or(0);
        }
        let refused = session.open(order).is_err();
        going.hold();
        Ok((sum, refused))
    })?;
    seen.at_most("bytes", sum as f64, ALLOWED + LOADS as f64 * CALL);
    seen.check(sum as f64 >= ALLOWED * 0.5, "it did send");
    seen.check(refused, "one more load is refused");
    scene.rests(&mut seen)?;
    Ok(seen)
}

/// Sends a datagram about every 5 ms until stopped; from several threads, so that a busy machine
/// causes no gap that a server could interpret as the end.
fn trickle(socket: &UdpSocket, going: &(dyn Fn() -> bool + Sync)) {
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| drip(socket, going));
        }
    });
}

fn drip(socket: &UdpSocket, going: &dyn Fn() -> bool) {
    let mut datagram = [0; 17];
    // Data, by its first byte.
    datagram[0] = 0xb7;
    while going() {
        let _ = socket.send(&datagram);
        thread::sleep(Duration::from_millis(5));
    }
}

fn trickle_finish(target: &Target) -> Result<Seen, Trouble> {
    let scene = Scene::new(target, &[])?;
    let mut seen = Seen::default();
    let (took, _) = scene.beside(&mut seen, |going| {
        let mut session = Session::open_from(ATTACKER, scene.address(), &scene.key)?;
        session.set_timeout(Duration::from_secs(6));
        let opened = session.open(udp(false, 1_000_000, 17, Duration::from_secs(1)))?;
        let socket = session.proved(&opened)?;
        session.start(&opened)?;
        going.ready();
        let begun = Instant::now() + Duration::from_millis(1500);
        let over = std::sync::atomic::AtomicBool::new(false);
        let took = thread::scope(|scope| {
            scope.spawn(|| {
                trickle(&socket, &|| {
                    !over.load(std::sync::atomic::Ordering::Relaxed)
                })
            });
            thread::sleep(Duration::from_millis(1500));
            let answer = session.finish(&opened);
            let took = begun.elapsed();
            over.store(true, std::sync::atomic::Ordering::Relaxed);
            answer.map(|_| took)
        });
        going.hold();
        Ok(took.ok())
    })?;
    match took {
        Some(took) => seen.at_most("s until its answer", took.as_secs_f64(), 3.0),
        None => seen.check(false, "finish got no answer in 6 s"),
    }
    scene.rests(&mut seen)?;
    Ok(seen)
}

fn trickle_slot(target: &Target) -> Result<Seen, Trouble> {
    let scene = Scene::new(target, &["--max-clients", "1"])?;
    let mut seen = Seen::default();
    // The slot of the previous client may not be free yet.
    thread::sleep(Duration::from_millis(300));
    let mut session = Session::open_from(ATTACKER, scene.address(), &scene.key)?;
    let opened = session.open(udp(false, 1_000_000, 17, Duration::from_secs(1)))?;
    let socket = session.proved(&opened)?;
    session.start(&opened)?;
    session.drop_dead();
    let begun = Instant::now();
    let over = std::sync::atomic::AtomicBool::new(false);
    let took = thread::scope(|scope| {
        scope.spawn(|| {
            trickle(&socket, &|| {
                !over.load(std::sync::atomic::Ordering::Relaxed)
            })
        });
        let mut took = None;
        while took.is_none() && begun.elapsed() < Duration::from_secs(10) {
            took = Session::new(scene.address(), &scene.key)
                .ok()
                .map(|_| begun.elapsed());
            thread::sleep(Duration::from_millis(200));
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        took
    });
    match took {
        Some(took) => seen.at_most("s until another was let in", took.as_secs_f64(), 10.0),
        None => seen.check(false, "nobody else let in for 10 s"),
    }
    scene.rests(&mut seen)?;
    Ok(seen)
}

fn undeclared_bytes(target: &Target) -> Result<Seen, Trouble> {
    const PAYLOAD: usize = 60_000;
    const ALLOWED: f64 = 10e6;
    let scene = Scene::new(target, &["--max-bytes", "10MB"])?;
    let mut seen = Seen::default();
    let (taken, _) = scene.beside(&mut seen, |going| {
        let mut session = Session::open_from(ATTACKER, scene.address(), &scene.key)?;
        let opened = session.open(udp(false, 8_000_000, 17, Duration::from_secs(5)))?;
        let socket = session.proved(&opened)?;
        session.start(&opened)?;
        going.ready();
        let mut datagram = vec![0; PAYLOAD];
        datagram[0] = 0xb7;
        for number in 0..1700u64 {
            datagram[1..9].copy_from_slice(&number.to_be_bytes());
            let _ = socket.send(&datagram);
            // The server limits the received data, not the queue of its socket.
            if number % 20 == 0 {
                thread::sleep(Duration::from_millis(10));
            }
        }
        match session.finish(&opened)? {
            Outcome::Udp(outcome) => Ok(outcome.received as f64 * PAYLOAD as f64),
            other => Err(Trouble::Outcome(Box::new(other))),
        }
    })?;
    seen.at_most("bytes taken in", taken, ALLOWED + CALL);
    scene.rests(&mut seen)?;
    Ok(seen)
}

fn overtime_tcp(target: &Target) -> Result<Seen, Trouble> {
    const TIME: Duration = Duration::from_secs(2);
    let scene = Scene::new(target, &["--max-time", "2s"])?;
    let mut seen = Seen::default();
    let (took, _) = scene.beside(&mut seen, |going| {
        let mut session = Session::open_from(ATTACKER, scene.address(), &scene.key)?;
        let opened = session.open(tcp(false, 1, TIME))?;
        let mut stream = session.stream(&opened)?;
        session.start(&opened)?;
        going.ready();
        let begun = Instant::now();
        stream.set_write_timeout(Some(Duration::from_millis(500)))?;
        while begun.elapsed() < TIME * 4 && stream.write_all(&[0; 50_000]).is_ok() {
            thread::sleep(Duration::from_millis(5));
        }
        Ok(begun.elapsed())
    })?;
    seen.at_most("s until it was cut off", took.as_secs_f64(), 6.0);
    scene.rests(&mut seen)?;
    Ok(seen)
}
