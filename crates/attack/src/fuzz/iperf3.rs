//! Sessions of iperf3's protocol.

use std::{
    io::Read,
    net::{IpAddr, TcpStream, UdpSocket},
    time::Duration,
};

use ::iperf3::wire::{State, frame};
use serde_json::{Value, json};
use stats::Random;

use super::{choice::pick, tally::Tally};
use crate::{iperf3::Client, served::Served};

/// One test, from its cookie to any end.
pub(super) fn session(served: &Served, from: IpAddr, random: &mut Random, tally: &mut Tally) {
    let Some(at) = served.iperf3 else { return };
    tally.iperf3 += 1;
    let Ok(mut client) = Client::connect(from, at) else {
        return;
    };
    client.set_timeout(Duration::from_millis(300));
    let parameters = parameters(random);
    let udp = parameters.get("udp").is_some();
    tally.iperf3 += 1;
    if !matches!(client.ask(&parameters), Ok(true)) {
        return;
    }
    tally.admitted += 1;
    let (mut streams, mut sockets) = (Vec::<TcpStream>::new(), Vec::<UdpSocket>::new());
    let wanted = parameters["parallel"].as_u64().unwrap_or(1).min(16);
    // Occasionally one stream is missing.
    for _ in 0..wanted.saturating_sub(u64::from(random.next_u64().is_multiple_of(8))) {
        tally.iperf3 += 1;
        if udp {
            sockets.extend(client.datagrams().ok().flatten());
        } else {
            streams.extend(client.stream());
        }
    }
    for _ in 0..random.next_u64() % 30 {
        tally.iperf3 += 1;
        match random.next_u64() % 12 {
            0..6 => {
                for stream in &mut streams {
                    let _ = stream.set_nonblocking(true);
                    let mut buffer = [0; 1 << 15];
                    tally.received += stream.read(&mut buffer).unwrap_or(0) as u64;
                    let _ = std::io::Write::write(stream, &[0; 2000]);
                }
                for socket in &sockets {
                    let _ = socket.set_nonblocking(true);
                    tally.received += socket.recv(&mut [0; 1 << 16]).unwrap_or(0) as u64;
                    let _ = socket.send(&[0; 1000]);
                }
            }
            6 => drop(streams.pop()),
            7..9 => end(&mut client, random),
            _ => {
                let states = [
                    State::TestEnd,
                    State::ClientTerminate,
                    State::Done,
                    State::TestStart,
                ];
                let byte = pick(random, &states).map_or(99, |s| s.byte());
                let _ = client.say(&[byte]);
            }
        }
    }
}

/// A mostly correct end of a test.
fn end(client: &mut Client, random: &mut Random) {
    let _ = client.say(&[State::TestEnd.byte()]);
    let results = json!({
        "cpu_util_total": 1.0, "cpu_util_user": 0.5, "cpu_util_system": 0.5,
        "sender_has_retransmits": 1, "streams": [{
            "id": 1 + random.next_u64() % 3, "bytes": random.next_u64() % 1_000_000, "retransmits": 0,
            "jitter": 0.0, "errors": 0, "packets": 10, "start_time": 0, "end_time": 1.0,
        }],
    });
    let mut bytes = frame(&results);
    if random.next_u64().is_multiple_of(4) {
        bytes.truncate(bytes.len() / 2);
    }
    let _ = client.say(&bytes);
}

/// Mostly valid parameters.
fn parameters(random: &mut Random) -> Value {
    let mut value = json!({
        "time": 1 + random.next_u64() % 2,
        "parallel": 1 + random.next_u64() % 8,
        "bandwidth": random.next_u64() % 20_000_000,
        "omit": 0,
    });
    value[if random.next_u64().is_multiple_of(2) {
        "udp"
    } else {
        "tcp"
    }] = true.into();
    match random.next_u64() % 4 {
        0 => value["reverse"] = true.into(),
        1 => value["bidirectional"] = true.into(),
        _ => {}
    }
    if random.next_u64().is_multiple_of(8) {
        let keys = [
            "time",
            "parallel",
            "len",
            "window",
            "MSS",
            "num",
            "bandwidth",
            "omit",
            "TOS",
        ];
        let values = [
            json!(0),
            json!(-1),
            json!(u64::MAX),
            json!("x"),
            json!([]),
            json!(1e300),
        ];
        if let (Some(key), Some(bad)) = (pick(random, &keys), pick(random, &values)) {
            value[*key] = bad.clone();
        }
    }
    value
}
