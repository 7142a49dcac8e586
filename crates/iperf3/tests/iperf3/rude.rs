//! Clients that violate the protocol: the server reports it, and serves the next one.

use std::{
    io::{Read, Write},
    net::{TcpStream, UdpSocket},
    time::Duration,
};

use iperf3::{
    Error,
    datagram::{HELLO, REPLY},
    params::Protocol,
    server::Config,
    wire::{Cookie, State, frame},
};
use model::net::{Direction, LoadDirection};
use serde_json::json;
use traffic::{
    admission::{Admission, Totals},
    wire::message::Limits,
};

use crate::bench::{Serving, address, by_bytes, run};

const COOKIE: [u8; 36] = [1; 36];

/// A control connection whose cookie was accepted.
fn control(serving: &Serving) -> TcpStream {
    let mut control = connect(serving, COOKIE);
    assert_eq!(byte(&mut control), State::ParamExchange.byte());
    control
}

fn connect(serving: &Serving, random: [u8; 36]) -> TcpStream {
    let mut stream = TcpStream::connect(serving.address).unwrap();
    let limit = Some(Duration::from_secs(30));
    stream.set_read_timeout(limit).unwrap();
    stream.write_all(Cookie::new(random).bytes()).unwrap();
    stream
}

fn byte(stream: &mut TcpStream) -> u8 {
    let mut byte = [0];
    stream.read_exact(&mut byte).unwrap();
    byte[0]
}

/// Reply of a server to parameters that it refuses: the number of an error.
fn refusal(text: &[u8]) -> i32 {
    let limits = Limits {
        flows: 4,
        time_s: Some(60.0),
        ..Limits::default()
    };
    let admission = Admission::new(limits, Totals::default());
    let serving = Serving::with(Config::new(admission));
    let mut control = control(&serving);
    control.write_all(text).unwrap();
    assert_eq!(byte(&mut control), State::ServerError.byte());
    let mut numbers = [0; 8];
    control.read_exact(&mut numbers).unwrap();
    assert_eq!(control.read(&mut numbers).unwrap_or(0), 0);
    let error = serving.report().unwrap_err();
    assert!(matches!(error, Error::Refused(_)), "{error}");
    works(&serving);
    i32::from_be_bytes(*numbers.first_chunk().unwrap())
}

/// The server does a test.
fn works(serving: &Serving) {
    let options = by_bytes(Protocol::Tcp, LoadDirection::Up, 1000);
    let outcome = run(serving.address, &options).unwrap();
    assert_eq!(outcome.total(Direction::Up).unwrap().received_bytes, 1000);
    serving.report().unwrap();
}

#[test]
fn silent_connections_do_not_block_other_clients() {
    let serving = Serving::start();
    let silent: Vec<_> = (0..20)
        .map(|_| TcpStream::connect(serving.address).unwrap())
        .collect();
    works(&serving);
    drop(silent);
}

#[test]
fn a_flood_of_connections_does_not_block_other_clients() {
    let serving = Serving::with(Config {
        pending: 4,
        ..Config::default()
    });
    let silent: Vec<_> = (0..20)
        .map(|_| TcpStream::connect(serving.address).unwrap())
        .collect();
    works(&serving);
    drop(silent);
}

#[test]
fn connections_without_a_cookie_are_closed() {
    let serving = Serving::start();
    let mut http = TcpStream::connect(serving.address).unwrap();
    http.write_all(b"GET / HTTP/1.1\r\nHost: example.org\r\nAccept: */*\r\n\r\n")
        .unwrap();
    assert_eq!(http.read(&mut [0; 16]).unwrap_or(0), 0);
    works(&serving);
}

#[test]
fn a_second_client_learns_that_the_server_is_busy() {
    let serving = Serving::start();
    let first = control(&serving);
    let mut second = connect(&serving, [2; 36]);
    assert_eq!(byte(&mut second), State::AccessDenied.byte());
    assert_eq!(second.read(&mut [0]).unwrap_or(0), 0);
    let options = by_bytes(Protocol::Tcp, LoadDirection::Up, 1000);
    let error = run(serving.address, &options).unwrap_err();
    assert!(matches!(error, Error::Busy), "{error}");
    drop(first);
    assert!(matches!(serving.report(), Err(Error::Ended)));
    works(&serving);
}

#[test]
fn oversized_parameters_are_refused_unread() {
    assert_eq!(refusal(&u32::MAX.to_be_bytes()), 114);
    assert_eq!(refusal(&8193_u32.to_be_bytes()), 114);
}

#[test]
fn parameters_that_are_not_json_are_refused() {
    assert_eq!(refusal(b"\0\0\0\x05hello"), 114);
    assert_eq!(refusal(b"\0\0\0\0"), 114);
    let mut deep = 8000_u32.to_be_bytes().to_vec();
    deep.extend([b'['; 8000]);
    assert_eq!(refusal(&deep), 114);
}

#[test]
fn parameters_out_of_range_are_refused() {
    for (value, code) in [
        (json!([]), 114),
        (json!({"tcp": true, "parallel": 0}), 6),
        (json!({"tcp": true, "parallel": 5}), 6),
        (json!({"tcp": true, "parallel": 1e30}), 6),
        (json!({"tcp": true, "time": -1}), 5),
        (json!({"tcp": true, "time": 61}), 37),
        (json!({"tcp": true, "time": 30, "omit": 31}), 37),
        (json!({"tcp": true, "len": 1 << 21}), 7),
        (json!({"tcp": true, "window": u64::MAX}), 8),
        (json!({"udp": true, "len": 15}), 20),
        (json!({"udp": true, "len": 65_508}), 20),
        (json!({"sctp": true}), 18),
        (
            json!({"tcp": true, "reverse": true, "bidirectional": true}),
            25,
        ),
    ] {
        assert_eq!(refusal(&frame(&value)), code, "{value}");
    }
}

#[test]
fn a_client_that_goes_away_in_the_middle_ends_its_test_only() {
    let serving = Serving::start();
    let mut control = control(&serving);
    let params = json!({"tcp": true, "parallel": 1, "time": 60, "reverse": true});
    control.write_all(&frame(&params)).unwrap();
    assert_eq!(byte(&mut control), State::CreateStreams.byte());
    let mut stream = connect(&serving, COOKIE);
    assert_eq!(byte(&mut control), State::TestStart.byte());
    assert_eq!(byte(&mut control), State::TestRunning.byte());
    stream.read_exact(&mut [0; 1000]).unwrap();
    drop((control, stream));
    serving.report().unwrap_err();
    works(&serving);
}

#[test]
fn a_stream_of_another_test_is_turned_away() {
    let serving = Serving::start();
    let mut control = control(&serving);
    let params = json!({"tcp": true, "parallel": 1, "time": 60});
    control.write_all(&frame(&params)).unwrap();
    assert_eq!(byte(&mut control), State::CreateStreams.byte());
    let mut stranger = connect(&serving, [9; 36]);
    assert_eq!(byte(&mut stranger), State::AccessDenied.byte());
    let _stream = connect(&serving, COOKIE);
    assert_eq!(byte(&mut control), State::TestStart.byte());
    assert_eq!(byte(&mut control), State::TestRunning.byte());
    let mut late = connect(&serving, COOKIE);
    assert_eq!(byte(&mut late), State::AccessDenied.byte());
    control.write_all(&[State::ClientTerminate.byte()]).unwrap();
    assert!(matches!(serving.report(), Err(Error::Terminated)));
}

#[test]
fn udp_goes_to_the_host_of_the_control_connection_only() {
    let serving = Serving::start();
    let mut control = control(&serving);
    let params = json!({"udp": true, "parallel": 1, "time": 60, "reverse": true, "len": 1000});
    control.write_all(&frame(&params)).unwrap();
    assert_eq!(byte(&mut control), State::CreateStreams.byte());

    let stranger = UdpSocket::bind((address(), 0)).unwrap();
    stranger.send_to(&HELLO, serving.address).unwrap();
    let client = UdpSocket::bind((control.local_addr().unwrap().ip(), 0)).unwrap();
    client.connect(serving.address).unwrap();
    client
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    client.send(&HELLO).unwrap();

    let mut bytes = [0; 2000];
    let n = client.recv(&mut bytes).unwrap();
    assert_eq!(bytes[..n], REPLY);
    assert_eq!(byte(&mut control), State::TestStart.byte());
    assert_eq!(client.recv(&mut bytes).unwrap(), 1000);
    // A reply to the stranger would have arrived by now, since its request was first.
    stranger.set_nonblocking(true).unwrap();
    assert!(stranger.recv(&mut bytes).is_err());
}

#[test]
fn an_answer_that_was_lost_is_given_again() {
    let serving = Serving::start();
    for reverse in [false, true] {
        let mut control = control(&serving);
        let params = json!({"udp": true, "parallel": 2, "time": 60, "reverse": reverse});
        control.write_all(&frame(&params)).unwrap();
        assert_eq!(byte(&mut control), State::CreateStreams.byte());
        let client = UdpSocket::bind((control.local_addr().unwrap().ip(), 0)).unwrap();
        client.connect(serving.address).unwrap();
        client
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        for _ in 0..3 {
            let mut bytes = [0; 16];
            client.send(&HELLO).unwrap();
            let n = client.recv(&mut bytes).unwrap();
            assert_eq!(bytes[..n], REPLY);
        }
        drop(control);
        serving.report().unwrap_err();
    }
}

#[test]
fn a_server_that_is_stopped_notifies_its_client() {
    let serving = Serving::start();
    let mut asking = control(&serving);
    serving.stop();
    assert_eq!(byte(&mut asking), State::ServerTerminate.byte());
    assert!(matches!(serving.report(), Err(Error::Stopped)));

    let serving = Serving::start();
    let mut running = control(&serving);
    let params = json!({"tcp": true, "parallel": 1, "time": 60});
    running.write_all(&frame(&params)).unwrap();
    assert_eq!(byte(&mut running), State::CreateStreams.byte());
    let _stream = connect(&serving, COOKIE);
    assert_eq!(byte(&mut running), State::TestStart.byte());
    assert_eq!(byte(&mut running), State::TestRunning.byte());
    serving.stop();
    assert_eq!(byte(&mut running), State::ServerTerminate.byte());
    assert!(matches!(serving.report(), Err(Error::Stopped)));
}
