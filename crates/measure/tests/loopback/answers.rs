//! Limits on responses of services: each test is named after the action of a client.

use std::{thread, time::Duration};

use measure::far::{
    self,
    load::{Echo, Short},
};
use traffic::wire::{datagram::Datagram, message::Limits};

use crate::common::{Serving, limits, receive, receive_datagrams};

/// Requests of 22 bytes were answered with 8 MiB, by each service separately.
#[test]
fn answers_larger_than_their_requests_are_bounded_for_a_session() {
    let serving = Serving::start(limits());
    let mut far = serving.connect();
    let mut sum = 0;
    for _ in 0..3 {
        let ticket = far.open(&Echo).unwrap();
        let socket = far::datagrams(*ticket, serving.address).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_millis(300)))
            .unwrap();
        let mut ask = [0; 22];
        let mut bytes = vec![0; 65_536];
        for number in 0..300 {
            Datagram::SizedAsk {
                number,
                payload: 60_000,
            }
            .write(&mut ask);
            socket.send(&ask).unwrap();
            match socket.recv(&mut bytes) {
                Ok(n) => sum += n,
                Err(_) => break,
            }
        }
        far.finish(ticket).unwrap();
    }
    assert!((6 << 20..=8 << 20).contains(&sum), "{sum}");
}

/// Answers to datagrams were sent regardless of the limits.
#[test]
fn answers_to_datagrams_keep_to_the_bytes_and_the_rate_of_a_session() {
    let count = |limits: Limits, asks: u32| {
        let serving = Serving::start(limits);
        let mut far = serving.connect();
        let ticket = far.open(&Echo).unwrap();
        let socket = far::datagrams(*ticket, serving.address).unwrap();
        let mut ask = [0; 22];
        for number in 0..asks {
            Datagram::SizedAsk {
                number,
                payload: 10_000,
            }
            .write(&mut ask);
            socket.send(&ask).unwrap();
        }
        receive_datagrams(&socket, Duration::from_millis(500))
    };
    let bytes = Limits {
        bytes: Some(100_000),
        ..limits()
    };
    assert!(count(bytes, 100) <= 100_000);
    let rate = Limits {
        rate_bps: Some(1_000_000),
        ..limits()
    };
    // The burst after a pause, half a second of the rate, and the last reply.
    assert!(count(rate, 100) <= 65_536 + 62_500 + 10_000);
}

/// Each connection got the whole rate.
#[test]
fn answers_to_requests_keep_to_the_rate_of_a_session() {
    let serving = Serving::start(Limits {
        rate_bps: Some(40_000_000),
        ..limits()
    });
    let mut far = serving.connect();
    let ticket = far.open(&Short { bytes: 100_000_000 }).unwrap();
    let streams = far::streams(*ticket, serving.address, 6).unwrap();
    let span = Duration::from_secs(1);
    let readers: Vec<_> = streams
        .into_iter()
        .map(|stream| thread::spawn(move || receive(stream, span)))
        .collect();
    let sum: u64 = readers.into_iter().map(|r| r.join().unwrap()).sum();
    // 5 MB a second; reading ends up to 200 ms late.
    assert!((3_500_000..6_800_000).contains(&sum), "{sum}");
}
