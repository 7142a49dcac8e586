//! Limits of the server against any request or behaviour of its client: each test is named after
//! the attempt to exceed them.

use std::{
    io::{Read, Write},
    net::{TcpStream, UdpSocket},
    time::{Duration, Instant},
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
    admission::{Admission, Amounts, Totals},
    wire::message::Limits,
};

use crate::bench::{Serving, by_bytes, options, run};

const RATE: u64 = 50_000_000;

fn limits() -> Limits {
    Limits {
        rate_bps: Some(RATE),
        time_s: Some(60.0),
        bytes: None,
        flows: 8,
    }
}

/// A server with these limits, and the amounts it has admitted.
fn serve(limits: Limits) -> (Serving, Admission) {
    let admission = Admission::new(limits, Totals::default());
    (Serving::with(Config::new(admission.clone())), admission)
}

fn wait_idle(admission: &Admission) {
    let start = Instant::now();
    while admission.held() != Amounts::NONE {
        let held = admission.held();
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "still held: {held:?}"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The number of the error that a test is refused with.
fn refused(result: Result<impl std::fmt::Debug, Error>) -> i32 {
    match result {
        Err(Error::Server { code, .. }) => code,
        other => panic!("{other:?}"),
    }
}

/// 128 streams of datagrams sent 81 Gbit/s under a limit of 50 Mbit/s.
#[test]
fn the_rate_holds_for_all_streams_together() {
    for (protocol, direction) in [
        (Protocol::Udp, Direction::Down),
        (Protocol::Tcp, Direction::Down),
        (Protocol::Tcp, Direction::Up),
    ] {
        let (serving, admission) = serve(limits());
        let mut options = options(protocol, direction);
        options.params.parallel = 8;
        options.params.rate_bps = None;
        options.duration = Duration::from_secs(2);
        let outcome = run(serving.address, &options).unwrap();
        let total = outcome.total(direction).unwrap();
        let bps = total.received_bytes as f64 * 8.0 / 2.0;
        // The burst after a pause is 4 % of it, and data that has arrived at the end is read for
        // 200 ms more.
        let rate = RATE as f64;
        assert!(
            (0.7 * rate..1.2 * rate).contains(&bps),
            "{protocol:?} {direction:?}: {bps}"
        );
        serving.report().unwrap();
        wait_idle(&admission);
    }
}

#[test]
fn more_streams_rate_time_or_bytes_than_allowed_are_refused() {
    let (serving, _) = serve(Limits {
        bytes: Some(1_000_000),
        flows: 2,
        ..limits()
    });
    let down = || options(Protocol::Udp, LoadDirection::Down);
    let mut all = Vec::new();
    let mut streams = down();
    streams.params.parallel = 128;
    all.push((streams, 6));
    let mut rate = down();
    rate.params.rate_bps = Some(RATE / 2 + 1);
    rate.params.parallel = 2;
    all.push((rate, 27));
    let mut unlimited = options(Protocol::Udp, LoadDirection::Up);
    unlimited.params.rate_bps = None;
    all.push((unlimited, 27));
    let mut time = down();
    time.duration = Duration::from_secs(61);
    all.push((time, 37));
    all.push((by_bytes(Protocol::Tcp, LoadDirection::Down, 1_000_001), 27));
    for (options, code) in all {
        assert_eq!(refused(run(serving.address, &options)), code, "{options:?}");
        assert!(matches!(serving.report(), Err(Error::Refused(_))));
    }
}

/// A limit of 1 MB applied to pathtwin's own protocol only.
#[test]
fn a_test_ends_with_the_bytes_that_a_client_may_move() {
    for (protocol, direction) in [
        (Protocol::Tcp, LoadDirection::Down),
        (Protocol::Tcp, LoadDirection::Up),
        (Protocol::Udp, LoadDirection::Down),
        (Protocol::Udp, LoadDirection::Up),
    ] {
        let (serving, admission) = serve(Limits {
            bytes: Some(1_000_000),
            ..limits()
        });
        let mut options = options(protocol, direction);
        options.params.rate_bps = Some(40_000_000);
        options.duration = Duration::from_secs(20);
        let start = Instant::now();
        let error = run(serving.address, &options).unwrap_err();
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "{protocol:?} {direction:?}"
        );
        let why = serving.report().unwrap_err().to_string();
        assert!(why.contains("byte limit"), "{why}; {error}");
        wait_idle(&admission);
    }
}

/// A client that follows the protocol until data flows.
struct Client {
    control: TcpStream,
    _streams: Vec<UdpSocket>,
}

impl Client {
    fn start(serving: &Serving, params: &serde_json::Value, streams: usize) -> Self {
        let mut control = TcpStream::connect(serving.address).unwrap();
        control
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        control.write_all(Cookie::new([9; 36]).bytes()).unwrap();
        expect(&mut control, State::ParamExchange);
        control.write_all(&frame(params)).unwrap();
        expect(&mut control, State::CreateStreams);
        let streams = (0..streams).map(|_| hello(serving)).collect();
        expect(&mut control, State::TestStart);
        expect(&mut control, State::TestRunning);
        Self {
            control,
            _streams: streams,
        }
    }
}

fn expect(control: &mut TcpStream, state: State) {
    let mut byte = [0];
    control.read_exact(&mut byte).unwrap();
    assert_eq!(byte[0], state.byte());
}

fn hello(serving: &Serving) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(serving.address).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    socket.send(&HELLO).unwrap();
    let mut answer = [0; 16];
    let n = socket.recv(&mut answer).unwrap();
    assert_eq!(&answer[..n], &REPLY);
    socket
}

fn reverse(streams: u32, seconds: u32) -> serde_json::Value {
    json!({ "udp": true, "reverse": true, "parallel": streams, "time": seconds, "len": 1000,
            "bandwidth": 8_000_000 })
}

/// The server sent for half a minute more.
#[test]
fn a_client_that_never_ends_its_test_is_sent_nothing_after_its_time() {
    let (serving, admission) = serve(limits());
    let client = Client::start(&serving, &reverse(1, 1), 1);
    let socket = &client._streams[0];
    socket
        .set_read_timeout(Some(Duration::from_millis(500)))
        .unwrap();
    let start = Instant::now();
    let mut last = start;
    while socket.recv(&mut [0; 1500]).is_ok() {
        last = Instant::now();
        assert!(start.elapsed() < Duration::from_secs(10), "it goes on");
    }
    assert!(
        (last - start) < Duration::from_millis(2500),
        "{:?}",
        last - start
    );
    let error = serving.report().unwrap_err();
    assert!(matches!(error, Error::Overdue(_)), "{error}");
    wait_idle(&admission);
}

/// The server went on as if datagrams were lost on the path.
#[test]
fn nothing_is_sent_any_more_to_a_port_that_is_closed() {
    let (serving, _) = serve(limits());
    let Client { control, _streams } = Client::start(&serving, &reverse(1, 30), 1);
    drop(_streams);
    let error = serving.report().unwrap_err();
    assert!(matches!(error, Error::Stream { .. }), "{error}");
    drop(control);
}

/// A stream of the largest datagrams took 4 MB, 128 of them half a gigabyte.
#[test]
fn memory_does_not_grow_with_the_size_of_datagrams() {
    let (serving, admission) = serve(Limits {
        flows: 128,
        ..limits()
    });
    let before = resident_kib();
    let mut params = reverse(128, 1);
    params["len"] = json!(65_000);
    params["bandwidth"] = json!(1000);
    let client = Client::start(&serving, &params, 128);
    std::thread::sleep(Duration::from_millis(300));
    let grown = resident_kib().saturating_sub(before);
    let held = admission.held();
    assert_eq!((held.connections, held.threads), (128, 129));
    // The amount held equals the amount used, and 128 stacks.
    assert!(grown < held.memory / 1024, "{grown} KiB, {held:?}");
    assert!(held.memory <= 80 << 20);
    drop(client);
    wait_idle(&admission);
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    let number = line.and_then(|l| l.split_whitespace().next());
    number.and_then(|n| n.parse().ok()).unwrap()
}

/// It had a separate limit, apart from the clients of pathtwin's own protocol.
#[test]
fn a_test_counts_as_a_client() {
    let (serving, admission) = serve(limits());
    let places: Vec<_> = (0..4)
        .map(|_| admission.admit("127.0.0.1".parse().unwrap()).unwrap())
        .collect();
    let options = options(Protocol::Tcp, LoadDirection::Up);
    let error = run(serving.address, &options).unwrap_err();
    assert!(matches!(error, Error::Busy), "{error}");
    drop(places);
    run(serving.address, &options).unwrap();
}
