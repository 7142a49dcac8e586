//! Servers that break the protocol, or are of other versions: the client reports the violation.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream, UdpSocket},
    thread,
};

use iperf3::{
    Error,
    datagram::HELLO,
    params::Protocol,
    wire::{COOKIE_LEN, State},
};
use model::net::LoadDirection;

use crate::bench::{address, by_bytes, run};

/// The error of a client whose server sends `answer` after the cookie, and then closes.
fn after_cookie(answer: &[u8]) -> Error {
    let listener = TcpListener::bind((address(), 0)).unwrap();
    let at = listener.local_addr().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut control = cookie(&listener);
            control.write_all(answer).unwrap();
        });
        let options = by_bytes(Protocol::Tcp, LoadDirection::Up, 1000);
        run(at, &options).unwrap_err()
    })
}

fn cookie(listener: &TcpListener) -> TcpStream {
    let (mut control, _) = listener.accept().unwrap();
    control.read_exact(&mut [0; COOKIE_LEN]).unwrap();
    control
}

#[test]
fn a_server_that_closes_is_distinguished_from_a_busy_one() {
    assert!(matches!(after_cookie(&[]), Error::Ended));
    assert!(matches!(after_cookie(&[0xff]), Error::Busy));
}

#[test]
fn another_protocol_is_recognised() {
    let error = after_cookie(b"SSH-2.0-OpenSSH_9.2\r\n");
    assert!(matches!(error, Error::Protocol(_)), "{error}");
}

#[test]
fn a_state_that_is_not_due_is_an_error() {
    let error = after_cookie(&[State::DisplayResults.byte()]);
    assert!(matches!(error, Error::Protocol(_)), "{error}");
}

/// iperf 3.12 closes after the first of the two numbers when it refuses credentials.
#[test]
fn the_number_of_an_error_counts_even_without_the_second() {
    let short = after_cookie(&[0xfe, 0, 0, 0, 142]);
    let Error::Server { code, errno } = short else {
        panic!("{short}");
    };
    assert_eq!((code, errno), (142, None));
    let whole = after_cookie(&[0xfe, 0, 0, 0, 37, 0, 0, 0, 2]);
    let Error::Server { code, errno } = whole else {
        panic!("{whole}");
    };
    assert_eq!((code, errno), (37, Some(2)));
}

#[test]
fn a_server_that_does_not_run_is_named() {
    let listener = TcpListener::bind((address(), 0)).unwrap();
    let at = listener.local_addr().unwrap();
    drop(listener);
    let options = by_bytes(Protocol::Tcp, LoadDirection::Up, 1000);
    let error = run(at, &options).unwrap_err();
    assert!(error.to_string().contains(&at.to_string()), "{error}");
}

/// The first datagram of a stream is lost on the path, and the answer has the form of old versions.
#[test]
fn the_client_asks_again_for_a_udp_stream() {
    let listener = TcpListener::bind((address(), 0)).unwrap();
    let at = listener.local_addr().unwrap();
    let udp = UdpSocket::bind(at).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut control = cookie(&listener);
            control.write_all(&[State::ParamExchange.byte()]).unwrap();
            let mut length = [0; 4];
            control.read_exact(&mut length).unwrap();
            let mut params = vec![0; u32::from_be_bytes(length) as usize];
            control.read_exact(&mut params).unwrap();
            control.write_all(&[State::CreateStreams.byte()]).unwrap();
            let mut bytes = [0; 16];
            for _ in 0..2 {
                let n = udp.recv(&mut bytes).unwrap();
                assert_eq!(bytes[..n], HELLO);
            }
            let (_, client) = {
                udp.set_nonblocking(false).unwrap();
                udp.recv_from(&mut bytes).unwrap()
            };
            udp.send_to(&987_654_321_u32.to_le_bytes(), client).unwrap();
            // The stream is established when the client waits for the test to start.
            control.write_all(&[State::ServerTerminate.byte()]).unwrap();
        });
        let options = by_bytes(Protocol::Udp, LoadDirection::Up, 1000);
        let error = run(at, &options).unwrap_err();
        assert!(matches!(error, Error::Terminated), "{error}");
    });
}
