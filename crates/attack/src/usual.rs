//! Normal use of a server before it is attacked.

use std::{
    io::Write,
    net::SocketAddr,
    time::{Duration, Instant},
};

use traffic::wire::{
    Key,
    message::{Order, Request},
};

use crate::{
    client::{Session, drain, drain_datagrams, tcp, udp},
    trouble::Trouble,
};

/// Duration of a load.
const TIME: Duration = Duration::from_millis(300);

/// Duration of a load with many connections, whose samples take memory.
const BULK: Duration = Duration::from_millis(1500);

/// Maximum time until the slot of a previous client is free.
const FREE: Duration = Duration::from_secs(5);

/// A session with one load or service of each kind, at the maximum number of flows, properly
/// finished.
pub(crate) fn session(at: SocketAddr, key: &Key) -> Result<(), Trouble> {
    let begun = Instant::now();
    let mut session = loop {
        match Session::new(at, key) {
            Ok(session) => break session,
            Err(trouble) if begun.elapsed() > FREE => return Err(trouble),
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    session.ask(&Request::Facts { toward: None })?;
    let opened = session.open(Order::Http { bytes: 10_000 })?;
    let mut stream = session.stream(&opened)?;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: pathtwin\r\nConnection: close\r\n\r\n")?;
    drain(&mut stream, TIME, Instant::now() + TIME);
    session.finish(&opened)?;
    let quic = Order::Quic {
        send: true,
        duration_us: TIME.as_micros() as u64,
        sample_us: 1000,
    };
    let datagrams = [
        udp(true, 100_000, 1000, TIME),
        udp(false, 100_000, 1000, TIME),
    ];
    for order in datagrams.into_iter().chain([quic, Order::Echo]) {
        let opened = session.open(order.clone())?;
        let socket = session.proved(&opened)?;
        if order != Order::Echo {
            session.start(&opened)?;
        }
        drain_datagrams(&socket, TIME, Instant::now() + TIME);
        session.finish(&opened)?;
    }
    // With the maximum concurrency, so that memory kept after its threads (glibc caches their
    // stacks) is not attributed to an attack.
    let flows = session.flows();
    bulk(&mut session, &[(false, flows), (false, flows)])?;
    // The byte limit of a session may be small, and is used up by this one.
    bulk(&mut session, &[(true, 1)])
}

/// Concurrent loads: whether the server sends, and the number of connections.
fn bulk(session: &mut Session, loads: &[(bool, u16)]) -> Result<(), Trouble> {
    let mut running = Vec::new();
    for (send, flows) in loads {
        let opened = session.open(tcp(*send, *flows, BULK))?;
        let streams = session.streams(&opened, *flows)?;
        session.start(&opened)?;
        running.push((*send, opened, streams));
    }
    let begun = Instant::now();
    for (send, opened, mut streams) in running {
        for stream in &mut streams {
            if send {
                drain(stream, TIME, begun + TIME);
            } else {
                stream.write_all(&[0; 1000])?;
            }
        }
        std::thread::sleep(BULK.saturating_sub(begun.elapsed()));
        session.finish(&opened)?;
    }
    Ok(())
}
