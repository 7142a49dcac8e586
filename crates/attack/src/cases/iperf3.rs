//! Strangers who use `serve --iperf3`, which needs no key.

use std::{
    net::{IpAddr, Ipv4Addr, UdpSocket},
    thread,
    time::{Duration, Instant},
};

use ::iperf3::{datagram::HELLO, wire::State};
use serde_json::{Value, json};

use super::{budget::rate_of, scene::Scene};
use crate::{
    case::{Case, Seen, Target},
    client::{drain, drain_datagrams},
    iperf3::Client,
    packets::{Forger, Tap},
    served::Served,
    trouble::Trouble,
};

/// The stranger's address.
const STRANGER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 3, 3));

const LIMITS: &[&str] = &["--iperf3", "0", "--max-rate", "50mbit", "--max-flows", "2"];

pub(super) const CASES: &[Case] = &[
    Case {
        name: "iperf3-flows",
        attack: "stranger: 128 UDP reverse streams by iperf3 under --max-flows 2",
        bound: "refused, or 2 streams",
        run: flows,
    },
    Case {
        name: "iperf3-rate",
        attack: "stranger: UDP reverse at 50 Gbit/s, and TCP reverse, by iperf3 under --max-rate 50mbit",
        bound: "50 Mbit/s of each; other clients unharmed",
        run: rate,
    },
    Case {
        name: "iperf3-bytes",
        attack: "stranger: UDP and TCP in both directions by iperf3 under --max-bytes 1MB",
        bound: "1 MB, and one call of each stream",
        run: bytes,
    },
    Case {
        name: "iperf3-forged-stream",
        attack: "stranger: opens a UDP reverse stream by a datagram with another's address",
        bound: "that address gets no more than came from it",
        run: forged,
    },
    Case {
        name: "iperf3-half-open",
        attack: "stranger: 1,000 silent connections to iperf3's port, then partial cookies",
        bound: "a test of another is done; all given back within 10 s",
        run: half_open,
    },
];

fn parameters(udp: bool, reverse: bool, parallel: u32, rate: u64) -> Value {
    let mut value = json!({
        "time": 5, "parallel": parallel, "pacing_timer": 1000, "omit": 0,
        "client_version": "3.19",
    });
    value[if udp { "udp" } else { "tcp" }] = true.into();
    if udp {
        value["len"] = 1400.into();
    }
    value["bandwidth"] = rate.into();
    if reverse {
        value["reverse"] = true.into();
    }
    value
}

/// Opens UDP streams and waits until they run; `None` if rejected.
fn run_udp(
    served: &Served,
    parallel: u32,
    rate: u64,
) -> Result<Option<(Client, Vec<UdpSocket>)>, Trouble> {
    let at = served.iperf3.ok_or(Trouble::NotOffered("iperf3"))?;
    let mut client = Client::connect(STRANGER, at)?;
    if !client.ask(&parameters(true, true, parallel, rate))? {
        return Ok(None);
    }
    let mut sockets = Vec::new();
    for _ in 0..parallel {
        match client.datagrams()? {
            Some(socket) => sockets.push(socket),
            None => return Ok(None),
        }
    }
    let runs = [client.state()?, client.state()?];
    Ok((runs == [Some(State::TestStart), Some(State::TestRunning)]).then_some((client, sockets)))
}

fn flows(target: &Target) -> Result<Seen, Trouble> {
    let scene = Scene::of(Served::start(target, LIMITS)?)?;
    let mut seen = Seen::default();
    let (running, most) = scene.beside(&mut seen, |going| {
        let running = run_udp(&scene, 128, 0)?;
        going.hold();
        Ok(running.map_or(0, |(_, sockets)| sockets.len()))
    })?;
    seen.at_most("streams", running as f64, 2.0);
    let more = most.threads.saturating_sub(scene.before.threads);
    // A test and its streams, and the threads of the legitimate client.
    seen.at_most("threads", more as f64, 4.0 + 8.0);
    scene.rests(&mut seen)?;
    Ok(seen)
}

fn rate(target: &Target) -> Result<Seen, Trouble> {
    let scene = Scene::of(Served::start(target, LIMITS)?)?;
    let mut seen = Seen::default();
    let (rates, _) = scene.beside(&mut seen, |going| {
        going.ready();
        let udp = match run_udp(&scene, 2, 50_000_000_000)? {
            Some((client, sockets)) => {
                let rate = rate_of(&sockets, Duration::from_secs(2));
                drop(client);
                Some(rate)
            }
            None => None,
        };
        // The next test is accepted after this one has ended.
        thread::sleep(Duration::from_millis(1500));
        let tcp = reverse_tcp(&scene, Duration::from_secs(2))?.map(|(b, s)| b as f64 * 8.0 / s);
        Ok([("UDP", udp), ("TCP", tcp)])
    })?;
    for (kind, rate) in rates {
        match rate {
            Some(rate) => seen.at_most(&format!("Mbit/s of {kind}"), rate / 1e6, 50.0 * 1.1),
            None => seen.note(format!("{kind} refused")),
        }
    }
    let any = rates.iter().any(|(_, rate)| rate.is_some());
    seen.check(any, "an ordinary test is still done");
    scene.rests(&mut seen)?;
    Ok(seen)
}

/// Bytes of one TCP stream that the server sends, and the seconds they took.
fn reverse_tcp(served: &Served, time: Duration) -> Result<Option<(u64, f64)>, Trouble> {
    let at = served.iperf3.ok_or(Trouble::NotOffered("iperf3"))?;
    let mut client = Client::connect(STRANGER, at)?;
    if !client.ask(&parameters(false, true, 1, 0))? {
        return Ok(None);
    }
    let mut stream = client.stream()?;
    let begun = Instant::now();
    let bytes = drain(&mut stream, time, begun + time);
    Ok(Some((bytes, begun.elapsed().as_secs_f64())))
}

fn bytes(target: &Target) -> Result<Seen, Trouble> {
    const ALLOWED: f64 = 1e6;
    let limits = [
        "--iperf3",
        "0",
        "--max-bytes",
        "1MB",
        "--max-rate",
        "400mbit",
    ];
    let served = Served::start(target, &limits)?;
    let before = served.at_rest()?;
    let mut seen = Seen::default();
    let udp = match run_udp(&served, 2, 100_000_000)? {
        Some((client, sockets)) => {
            let deadline = Instant::now() + Duration::from_secs(3);
            let wait = Duration::from_secs(1);
            let sum = sockets
                .iter()
                .map(|s| drain_datagrams(s, wait, deadline))
                .sum::<u64>();
            drop(client);
            sum
        }
        None => 0,
    };
    seen.at_most("bytes of UDP", udp as f64, ALLOWED * 1.1);
    thread::sleep(Duration::from_millis(1500));
    let tcp = reverse_tcp(&served, Duration::from_secs(2))?.map_or(0, |(bytes, _)| bytes);
    seen.at_most("bytes of TCP", tcp as f64, ALLOWED * 1.1 + (1 << 20) as f64);
    crate::process::rests(served.pid(), &before, &mut seen)?;
    Ok(seen)
}

fn forged(target: &Target) -> Result<Seen, Trouble> {
    let forger = Forger::new()?;
    let served = Served::start(target, LIMITS)?;
    let at = served.iperf3.ok_or(Trouble::NotOffered("iperf3"))?;
    let scene = Scene::of(served)?;
    let mut seen = Seen::default();
    let ((sent, back), _) = scene.beside(&mut seen, |going| {
        let victim = Ipv4Addr::new(127, 0, 0, 67);
        let mut tap = Tap::new(at, victim)?;
        let mut client = Client::connect(STRANGER, at)?;
        if !client.ask(&parameters(true, true, 1, 10_000_000))? {
            return Err(Trouble::Iperf3Refused);
        }
        going.ready();
        let mut sent = 0;
        for port in 0..200 {
            sent += forger.send((victim, 4000 + port).into(), at, &HELLO)?;
            thread::sleep(Duration::from_millis(5));
            tap.read();
        }
        Ok((sent, tap.read()))
    })?;
    seen.at_most("bytes to it", back as f64, sent as f64);
    scene.rests(&mut seen)?;
    Ok(seen)
}

fn half_open(target: &Target) -> Result<Seen, Trouble> {
    let scene = Scene::of(Served::start(target, LIMITS)?)?;
    let at = scene.iperf3.ok_or(Trouble::NotOffered("iperf3"))?;
    let mut seen = Seen::default();
    let (done, _) = scene.beside(&mut seen, |going| {
        let mut held = Vec::new();
        for number in 0..1000 {
            let mut stream = crate::client::connect_from(STRANGER, at)?;
            if number % 2 == 0 {
                let _ = std::io::Write::write_all(&mut stream, &[b'a'; 20]);
            }
            held.push(stream);
        }
        let other = IpAddr::V4(Ipv4Addr::new(127, 0, 4, 4));
        let mut client = Client::connect(other, at)?;
        let done = client.ask(&parameters(false, true, 1, 0))?;
        going.hold();
        Ok(done)
    })?;
    seen.check(done, "another's test was taken");
    scene.rests(&mut seen)?;
    Ok(seen)
}
