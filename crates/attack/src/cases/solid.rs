//! Key holders who violate the protocol.

use std::{
    io::Write,
    thread,
    time::{Duration, Instant},
};

use traffic::wire::message::{Order, Request};

use super::{budget::ATTACKER, scene::Scene};
use crate::{
    case::{Case, Seen, Target},
    client::{Session, drain, tcp, udp},
    trouble::Trouble,
};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "deflate-bomb",
        attack: "key holder: requests of 64 kB that inflate to 64 MB",
        bound: "cut off; 4 MiB more at most",
        run: deflate_bomb,
    },
    Case {
        name: "deaf-client",
        attack: "key holder: asks for facts again and again, and reads no reply",
        bound: "one thread, 4 MiB more; other clients unharmed",
        run: deaf,
    },
    Case {
        name: "slow-http",
        attack: "key holder: HTTP requests of which a byte comes now and then",
        bound: "each cut off within 15 s",
        run: slow_http,
    },
    Case {
        name: "agreements-without-end",
        attack: "key holder: opens 1,000 loads and services and starts none",
        bound: "32 of them; all given back within 10 s",
        run: agreements,
    },
    Case {
        name: "absurd-orders",
        attack: "key holder: orders with the least and largest of every number",
        bound: "each answered; the server lives; all given back within 10 s",
        run: absurd,
    },
    Case {
        name: "quic-garbage",
        attack: "key holder: a QUIC load fed with random datagrams",
        bound: "it ends; other clients unharmed; all given back within 10 s",
        run: quic_garbage,
    },
];

fn deflate_bomb(target: &Target) -> Result<Seen, Trouble> {
    let scene = Scene::new(target, &[])?;
    let mut seen = Seen::default();
    let (cut, most) = scene.beside(&mut seen, |going| {
        going.ready();
        let mut cut = 0;
        for _ in 0..4 {
            let mut session = Session::open_from(ATTACKER, scene.address(), &scene.key)?;
            // Small frames that inflate to large messages.
            let bomb = Request::Hello {
                program: "x".repeat(64 << 20),
            };
            let broken = session
                .post(&bomb)
                .and_then(|()| session.ask(&Request::Ping));
            cut += u32::from(broken.is_err());
        }
        Ok(cut)
    })?;
    seen.check(cut == 4, "cut off each time");
    let more = most.resident_kib.saturating_sub(scene.before.resident_kib);
    seen.at_most("KiB", more as f64, 4096.0);
    scene.rests(&mut seen)?;
    Ok(seen)
}

fn deaf(target: &Target) -> Result<Seen, Trouble> {
    let scene = Scene::new(target, &[])?;
    let mut seen = Seen::default();
    let (_, most) = scene.beside(&mut seen, |going| {
        let mut session = Session::open_from(ATTACKER, scene.address(), &scene.key)?;
        session.set_timeout(Duration::from_millis(50));
        going.ready();
        while going.on() {
            if session.post(&Request::Facts { toward: None }).is_err() {
                thread::sleep(Duration::from_millis(20));
            }
        }
        Ok(())
    })?;
    let more = most.resident_kib.saturating_sub(scene.before.resident_kib);
    seen.at_most("KiB", more as f64, 4096.0);
    scene.rests(&mut seen)?;
    Ok(seen)
}

fn slow_http(target: &Target) -> Result<Seen, Trouble> {
    let scene = Scene::new(target, &[])?;
    let mut seen = Seen::default();
    let ((left, took), _) = scene.beside(&mut seen, |going| {
        let mut session = Session::open_from(ATTACKER, scene.address(), &scene.key)?;
        let opened = session.open(Order::Http { bytes: 1000 })?;
        let mut streams = session.streams(&opened, 8)?;
        going.ready();
        let begun = Instant::now();
        let mut left = streams.len();
        for byte in b"GET / HTTP/1.1\r\nHost: ".iter().chain([b'x'; 100].iter()) {
            left = 0;
            for stream in &mut streams {
                left += usize::from(stream.write_all(&[*byte]).is_ok());
            }
            if left == 0 || begun.elapsed() > Duration::from_secs(17) {
                break;
            }
            thread::sleep(Duration::from_millis(400));
        }
        Ok((left, begun.elapsed()))
    })?;
    seen.check(left == 0, format!("{left} of 8 not cut off"));
    seen.at_most("s until all were", took.as_secs_f64(), 15.0);
    scene.rests(&mut seen)?;
    Ok(seen)
}

fn agreements(target: &Target) -> Result<Seen, Trouble> {
    let scene = Scene::new(target, &[])?;
    let mut seen = Seen::default();
    let ((opened, more), _) = scene.beside(&mut seen, |going| {
        let mut session = Session::open_from(ATTACKER, scene.address(), &scene.key)?;
        let mut opened = Vec::new();
        for number in 0..1000 {
            let order = match number % 4 {
                0 => Order::Echo,
                1 => Order::Http { bytes: 1000 },
                2 => tcp(number % 8 < 4, 8, Duration::from_secs(1)),
                _ => udp(number % 8 < 4, 1_000_000, 1000, Duration::from_secs(1)),
            };
            match session.open(order) {
                Ok(one) => opened.push(one),
                Err(Trouble::Refused { .. }) => {}
                Err(other) => return Err(other),
            }
        }
        going.hold();
        // They are also released when finished.
        for one in &opened {
            session.finish(one)?;
        }
        Ok((opened.len(), session.open(Order::Echo).is_ok()))
    })?;
    seen.at_most("agreements", opened as f64, 32.0);
    seen.check(more, "one more is opened afterwards");
    scene.rests(&mut seen)?;
    Ok(seen)
}

fn absurd(target: &Target) -> Result<Seen, Trouble> {
    let mut scene = Scene::new(target, &["--max-bytes", "10MB"])?;
    let mut seen = Seen::default();
    let ends = [0, 1, u64::from(u32::MAX), u64::MAX];
    let (answered, _) = scene.beside(&mut seen, |going| {
        going.ready();
        let mut answered = 0;
        for first in ends {
            for second in ends {
                let mut session = Session::open_from(ATTACKER, scene.address(), &scene.key)?;
                for order in orders(first, second) {
                    use_as_agreed(&mut session, order)?;
                    answered += 1;
                }
            }
        }
        Ok(answered)
    })?;
    seen.note(format!("{answered} orders answered"));
    seen.check(scene.served.is_alive(), "the server lives");
    scene.rests(&mut seen)?;
    Ok(seen)
}

/// Opens a load or service and, if accepted, uses it.
fn use_as_agreed(session: &mut Session, order: Order) -> Result<(), Trouble> {
    let opened = match session.open(order.clone()) {
        Ok(opened) => opened,
        Err(Trouble::Refused { .. }) => return Ok(()),
        Err(other) => return Err(other),
    };
    let mut stream = session.stream(&opened)?;
    if matches!(order, Order::Udp(_) | Order::Quic { .. }) {
        let _ = session.proved(&opened);
        let _ = session.start(&opened);
    }
    let soon = Instant::now() + Duration::from_millis(50);
    drain(&mut stream, Duration::from_millis(10), soon);
    session.finish(&opened)?;
    Ok(())
}

/// Orders of all kinds with two numbers.
fn orders(first: u64, second: u64) -> Vec<Order> {
    use traffic::wire::message::{TcpOrder, UdpOrder};
    vec![
        Order::Tcp(TcpOrder {
            send: first.is_multiple_of(2),
            flows: first as u16,
            cc: Some("reno\u{0}".repeat(1 + (second % 7) as usize)),
            duration_us: second,
            sample_us: first,
        }),
        Order::Udp(UdpOrder {
            send: second.is_multiple_of(2),
            rate_bps: first,
            payload: second as u32,
            duration_us: first,
        }),
        Order::Udp(UdpOrder {
            send: true,
            rate_bps: second,
            payload: 17,
            duration_us: first,
        }),
        Order::Short { bytes: first },
        Order::Http { bytes: second },
        Order::Quic {
            send: true,
            duration_us: first,
            sample_us: second,
        },
    ]
}

fn quic_garbage(target: &Target) -> Result<Seen, Trouble> {
    let scene = Scene::new(target, &[])?;
    let mut seen = Seen::default();
    let (ended, _) = scene.beside(&mut seen, |going| {
        let mut session = Session::open_from(ATTACKER, scene.address(), &scene.key)?;
        let order = Order::Quic {
            send: true,
            duration_us: 2_000_000,
            sample_us: 1000,
        };
        let opened = session.open(order)?;
        let socket = session.proved(&opened)?;
        session.start(&opened)?;
        going.ready();
        let mut random = stats::Random::new(9);
        while going.on() {
            let size = 20 + random.next_u64() % 1400;
            let mut bytes: Vec<u8> = (0..size).map(|_| random.next_u64() as u8).collect();
            // Every other one has the first byte and version of an Initial (RFC 9000, section
            // 17.2).
            if size.is_multiple_of(2) {
                bytes[..5].copy_from_slice(&[0xc0, 0, 0, 0, 1]);
            }
            let _ = socket.send(&bytes);
            let _ = socket.set_nonblocking(true);
            let _ = socket.recv(&mut [0; 2048]);
            thread::sleep(Duration::from_millis(1));
        }
        Ok(session.finish(&opened).is_ok())
    })?;
    seen.check(ended, "it ended when requested to");
    scene.rests(&mut seen)?;
    Ok(seen)
}
