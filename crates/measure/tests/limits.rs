//! What clients who hold the key may not do, over loopback: each test is named after what one did.

#![allow(clippy::unwrap_used)]

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use measure::{
    far::{self, Far, FarError},
    serve::{Config, Server},
};
use traffic::{
    admission::{Admission, Amounts, Totals},
    wire::{
        Key,
        datagram::Datagram,
        message::{Code, Limits, Order, Outcome, TcpOrder, UdpOrder},
    },
};

struct Serving {
    address: SocketAddr,
    key: Key,
    admission: Admission,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    fn start(limits: Limits) -> Self {
        let key = Key::generate().unwrap();
        let admission = Admission::new(limits, Totals::default());
        let config = Config {
            key: key.clone(),
            admission: admission.clone(),
            program: "test".to_owned(),
        };
        let server = Server::bind(&["127.0.0.1:0".parse().unwrap()], config).unwrap();
        let address = server.addresses()[0];
        let stop = Arc::new(AtomicBool::new(false));
        let told = stop.clone();
        let thread = thread::spawn(move || server.run(told, Arc::new(|_| {})).unwrap());
        Self {
            address,
            key,
            admission,
            stop,
            thread: Some(thread),
        }
    }

    fn connect(&self) -> Far {
        Far::connect(self.address, &self.key, "test").unwrap()
    }

    /// Waits until nothing is held any more.
    fn rests(&self) {
        let start = Instant::now();
        while self.admission.held() != Amounts::NONE {
            assert!(
                start.elapsed() < Duration::from_secs(5),
                "still held: {:?}",
                self.admission.held()
            );
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn limits() -> Limits {
    Limits {
        flows: 8,
        ..Limits::default()
    }
}

fn tcp(send: bool, flows: u16, seconds: f64) -> Order {
    Order::Tcp(TcpOrder {
        send,
        flows,
        cc: None,
        duration_us: (seconds * 1e6) as u64,
        sample_us: 1000,
    })
}

fn udp(send: bool, rate_bps: u64, payload: u32, seconds: f64) -> Order {
    Order::Udp(UdpOrder {
        send,
        rate_bps,
        payload,
        duration_us: (seconds * 1e6) as u64,
    })
}

fn refusal<T>(result: Result<T, FarError>) -> (Code, String) {
    match result {
        Err(FarError::Refused { code, why }) => (code, why),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("not refused"),
    }
}

/// Bytes that come until it ends or `span` is over.
fn receive(mut stream: TcpStream, span: Duration) -> u64 {
    stream
        .set_read_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    let (start, mut sum) = (Instant::now(), 0);
    let mut buffer = vec![0; 1 << 16];
    while start.elapsed() < span {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => sum += n as u64,
            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => break,
        }
    }
    sum
}

/// Each further start dropped the load before it, which went on: with 100 connections six times,
/// 500 descriptors and 2 GB stayed.
#[test]
fn a_second_start_of_a_load_is_refused_and_the_first_goes_on() {
    let serving = Serving::start(limits());
    let mut far = serving.connect();
    let token = far.open(tcp(true, 4, 60.0)).unwrap();
    let streams = far::streams(token, serving.address, 4).unwrap();
    far.start(token).unwrap();
    let held = serving.admission.held();
    assert_eq!(held.connections, 4);
    for _ in 0..6 {
        let (code, why) = refusal(far.start(token));
        assert_eq!(code, Code::State);
        assert!(why.contains("started before"), "{why}");
    }
    assert_eq!(serving.admission.held(), held);
    for stream in streams {
        assert!(receive(stream, Duration::from_millis(50)) > 0);
    }
    let Outcome::Tcp(outcome) = far.finish(token).unwrap() else {
        panic!("another outcome");
    };
    assert_eq!(outcome.flows.len(), 4);
}

/// 83 Mbit/s went on after it.
#[test]
fn the_end_of_a_session_ends_its_loads_and_gives_all_back() {
    let serving = Serving::start(limits());
    let mut far = serving.connect();
    let down = far.open(udp(true, 20_000_000, 1000, 600.0)).unwrap();
    let socket = far::datagrams(down, serving.address).unwrap();
    far.start(down).unwrap();
    let up = far.open(tcp(false, 2, 600.0)).unwrap();
    let _streams = far::streams(up, serving.address, 2).unwrap();
    far.start(up).unwrap();
    let echo = far.open(Order::Echo).unwrap();
    let _probes = far::datagrams(echo, serving.address).unwrap();
    let http = far.open(Order::Http { bytes: 1000 }).unwrap();
    let _kept = far::streams(http, serving.address, 3).unwrap();
    let count = |span: u64| {
        let limit = Duration::from_millis(span);
        socket.set_read_timeout(Some(limit)).unwrap();
        let (start, mut n) = (Instant::now(), 0);
        let mut bytes = [0; 1500];
        while start.elapsed() < limit && socket.recv(&mut bytes).is_ok() {
            n += 1;
        }
        n
    };
    assert!(count(200) > 100);
    drop(far);
    serving.rests();
    // What had been sent before is still to be read.
    let _ = count(200);
    assert_eq!(count(300), 0);
}

/// Three loads of 50 Mbit/s were 124 Mbit/s.
#[test]
fn loads_side_by_side_share_one_rate() {
    let serving = Serving::start(Limits {
        rate_bps: Some(50_000_000),
        ..limits()
    });
    let mut far = serving.connect();
    let order = udp(true, 30_000_000, 1200, 2.0);
    let first = far.open(order.clone()).unwrap();
    let (code, why) = refusal(far.open(order));
    assert_eq!(code, Code::Limit);
    assert!(why.contains("rate"), "{why}");
    let second = far.open(udp(true, 20_000_000, 1200, 2.0)).unwrap();
    let sockets = [first, second].map(|t| far::datagrams(t, serving.address).unwrap());
    let bulk = far.open(tcp(true, 2, 2.0)).unwrap();
    let streams = far::streams(bulk, serving.address, 2).unwrap();
    for token in [first, second, bulk] {
        far.start(token).unwrap();
    }
    let span = Duration::from_secs(1);
    let datagrams = sockets.map(|socket| thread::spawn(move || sum_of(&socket, span)));
    let streams: Vec<_> = streams
        .into_iter()
        .map(|stream| thread::spawn(move || receive(stream, span)))
        .collect();
    let sum: u64 = datagrams
        .into_iter()
        .chain(streams)
        .map(|reader| reader.join().unwrap())
        .sum();
    // 6.25 MB a second; reading starts late and ends up to 200 ms late.
    assert!((4_000_000..8_400_000).contains(&sum), "{sum}");
}

fn sum_of(socket: &UdpSocket, span: Duration) -> u64 {
    socket
        .set_read_timeout(Some(Duration::from_millis(100)))
        .unwrap();
    let (start, mut sum) = (Instant::now(), 0);
    let mut bytes = [0; 1500];
    while start.elapsed() < span {
        sum += socket.recv(&mut bytes).unwrap_or(0) as u64;
    }
    sum
}

/// A datagram now and then held a client's place for as long as it liked.
#[test]
fn a_trickle_does_not_keep_an_incoming_load_from_its_end() {
    let serving = Serving::start(limits());
    let mut far = serving.connect();
    let token = far.open(udp(false, 80_000_000, 1000, 60.0)).unwrap();
    let socket = far::datagrams(token, serving.address).unwrap();
    far.start(token).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let told = stop.clone();
    let trickle = thread::spawn(move || {
        let mut bytes = [0; 1000];
        for number in 0.. {
            if told.load(Ordering::Relaxed) {
                return;
            }
            Datagram::Data { number, sent_ns: 0 }.write(&mut bytes);
            let _ = socket.send(&bytes);
            thread::sleep(Duration::from_millis(5));
        }
    });
    thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    let Outcome::Udp(outcome) = far.finish(token).unwrap() else {
        panic!("another outcome");
    };
    let took = start.elapsed();
    stop.store(true, Ordering::Relaxed);
    trickle.join().unwrap();
    assert!(outcome.received > 0);
    assert!(took < Duration::from_secs(2), "{took:?}");
}

/// 17 bytes were agreed on and 60,000 sent: 740 MB under a limit of 100.
#[test]
fn datagrams_are_charged_as_they_come_and_not_as_agreed() {
    let serving = Serving::start(Limits {
        bytes: Some(10_000_000),
        ..limits()
    });
    let mut far = serving.connect();
    let token = far.open(udp(false, 2_000_000, 17, 20.0)).unwrap();
    let socket = far::datagrams(token, serving.address).unwrap();
    far.start(token).unwrap();
    let mut bytes = vec![0; 60_000];
    for number in 0..200 {
        Datagram::Data { number, sent_ns: 0 }.write(&mut bytes);
        let _ = socket.send(&bytes);
        thread::sleep(Duration::from_millis(1));
    }
    let _ = far.finish(token).unwrap();
    // 5 MB were agreed on, and a quarter more ended it: 104 datagrams and those of its last call.
    let order = Order::Short { bytes: 1 << 20 };
    let left = far.open(Order::Short { bytes: 5_000_000 });
    assert!(refusal(left).1.contains("limit of bytes"));
    far.open(order).unwrap();
}

/// Twelve seconds went by under a limit of five.
#[test]
fn incoming_tcp_ends_at_its_time_and_its_bytes_count() {
    let serving = Serving::start(Limits {
        bytes: Some(1 << 40),
        ..limits()
    });
    let mut far = serving.connect();
    let token = far.open(tcp(false, 1, 0.5)).unwrap();
    let mut stream = far::streams(token, serving.address, 1)
        .unwrap()
        .pop()
        .unwrap();
    far.start(token).unwrap();
    let (start, block) = (Instant::now(), vec![0; 1 << 16]);
    let mut sent = 0;
    while stream.write_all(&block).is_ok() {
        sent += block.len() as u64;
        assert!(start.elapsed() < Duration::from_secs(10), "it goes on");
    }
    assert!(start.elapsed() < Duration::from_secs(3));
    assert!(sent > 0);
    let _ = far.finish(token).unwrap();
}

/// Six loads were started and the client gone: 5 threads and some 500 descriptors stayed.
#[test]
fn a_client_that_goes_without_a_word_leaves_nothing() {
    let serving = Serving::start(limits());
    for _ in 0..6 {
        let mut far = serving.connect();
        let token = far.open(tcp(true, 8, 600.0)).unwrap();
        let streams = far::streams(token, serving.address, 8).unwrap();
        far.start(token).unwrap();
        drop((far, streams));
        // Until then the place of the client before is taken.
        serving.rests();
    }
}

/// The greeting of a connection, as one who listens on the way has it, opened the service to him.
#[test]
fn an_overheard_connection_opens_nothing_to_a_stranger() {
    let serving = Serving::start(limits());
    let mut far = serving.connect();
    let ticket = far.open(Order::Http { bytes: 1000 }).unwrap();
    let ask = |greeting: Vec<u8>| {
        let mut stream = TcpStream::connect(serving.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        let request = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let _ = stream.write_all(&[&greeting[..], request].concat());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer.len()
    };
    let overheard = ticket.greeting(0).bytes();
    assert!(ask(overheard.clone()) > 1000, "the first is the client's");
    assert_eq!(ask(overheard.clone()), 0, "its copy is not");
    for at in 5..overheard.len() {
        // Another number, another token, another code.
        let mut changed = overheard.clone();
        changed[at] ^= 1;
        assert_eq!(ask(changed), 0, "{at}");
    }
    assert!(ask(ticket.greeting(1).bytes()) > 1000, "the client goes on");
}

/// A stranger who proved his own address got the datagrams of somebody else's load.
#[test]
fn a_load_of_datagrams_is_not_taken_over_by_who_knows_its_token() {
    let serving = Serving::start(limits());
    let mut far = serving.connect();
    let ticket = far.open(udp(true, 8_000_000, 1000, 10.0)).unwrap();
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    stranger.connect(serving.address).unwrap();
    stranger
        .set_read_timeout(Some(Duration::from_millis(500)))
        .unwrap();
    let mut bytes = [0; 1500];
    let mut next = Datagram::Hello(ticket.token).greeting();
    stranger.send(&next).unwrap();
    let n = stranger.recv(&mut bytes).unwrap();
    let Some(Datagram::Challenge(token, challenge)) = Datagram::parse(&bytes[..n]) else {
        panic!("another answer");
    };
    assert_eq!(n, next.len(), "no longer than what was asked with");
    // All that he has: the challenge for his own address, and no secret.
    next = Datagram::Prove(token, challenge).greeting();
    stranger.send(&next).unwrap();
    assert!(stranger.recv(&mut bytes).is_err(), "he is answered nothing");
    let socket = far::datagrams(ticket, serving.address).unwrap();
    far.start(ticket).unwrap();
    // Nor does he get anything once it runs.
    stranger.send(&next).unwrap();
    assert!(sum_of(&socket, Duration::from_millis(300)) > 100_000);
    assert!(stranger.recv(&mut bytes).is_err());
}

/// Of another version is whoever begins with its number: he is told the one that is spoken here.
#[test]
fn a_client_of_version_1_is_told_to_update() {
    let serving = Serving::start(limits());
    for first in [b"PTWC\x01", b"PTWD\x01"] {
        let mut stream = TcpStream::connect(serving.address).unwrap();
        stream.write_all(first).unwrap();
        let mut answer = [0; 2];
        stream.read_exact(&mut answer).unwrap();
        // Of version 1, the reader of this says: the far end speaks version 2, update the older.
        assert_eq!(answer, [3, 2]);
    }
}

/// 22 bytes brought 8 MiB, for each service anew.
#[test]
fn answers_larger_than_their_questions_are_bounded_for_a_session() {
    let serving = Serving::start(limits());
    let mut far = serving.connect();
    let mut sum = 0;
    for _ in 0..3 {
        let ticket = far.open(Order::Echo).unwrap();
        let socket = far::datagrams(ticket, serving.address).unwrap();
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

/// It got what it asked for whatever the limits were.
#[test]
fn answers_to_datagrams_keep_to_the_bytes_and_the_rate_of_a_session() {
    let count = |limits: Limits, asks: u32| {
        let serving = Serving::start(limits);
        let mut far = serving.connect();
        let ticket = far.open(Order::Echo).unwrap();
        let socket = far::datagrams(ticket, serving.address).unwrap();
        let mut ask = [0; 22];
        for number in 0..asks {
            Datagram::SizedAsk {
                number,
                payload: 10_000,
            }
            .write(&mut ask);
            socket.send(&ask).unwrap();
        }
        sum_of_large(&socket, Duration::from_millis(500))
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
    // What may go at once after a pause, half a second of the rate, and the last answer.
    assert!(count(rate, 100) <= 65_536 + 62_500 + 10_000);
}

fn sum_of_large(socket: &UdpSocket, span: Duration) -> u64 {
    socket
        .set_read_timeout(Some(Duration::from_millis(100)))
        .unwrap();
    let (start, mut sum) = (Instant::now(), 0);
    let mut bytes = vec![0; 65_536];
    while start.elapsed() < span {
        sum += socket.recv(&mut bytes).unwrap_or(0) as u64;
    }
    sum
}

/// Each connection had the whole rate.
#[test]
fn answers_to_requests_keep_to_the_rate_of_a_session() {
    let serving = Serving::start(Limits {
        rate_bps: Some(40_000_000),
        ..limits()
    });
    let mut far = serving.connect();
    let ticket = far.open(Order::Short { bytes: 100_000_000 }).unwrap();
    let streams = far::streams(ticket, serving.address, 6).unwrap();
    let span = Duration::from_secs(1);
    let readers: Vec<_> = streams
        .into_iter()
        .map(|stream| thread::spawn(move || receive(stream, span)))
        .collect();
    let sum: u64 = readers.into_iter().map(|r| r.join().unwrap()).sum();
    // 5 MB a second; reading ends up to 200 ms late.
    assert!((3_500_000..6_800_000).contains(&sum), "{sum}");
}

/// One address held every place, and nobody else was served.
#[test]
fn a_client_of_another_address_is_served_beside_one_that_takes_all_it_can() {
    let serving = Serving::start(limits());
    let mut held = Vec::new();
    let refused = loop {
        match Far::connect(serving.address, &serving.key, "greedy") {
            Ok(far) => held.push(far),
            Err(error) => break error.to_string(),
        }
        assert!(held.len() <= 8);
    };
    assert_eq!(held.len(), 4, "half of eight");
    assert!(refused.contains("try again later"), "{refused}");
    let other = connect_from("127.0.0.2:0".parse().unwrap(), serving.address);
    let channel = traffic::wire::Channel::connect(other, &serving.key, 1 << 20);
    assert!(channel.is_ok(), "{:?}", channel.err());
}

fn connect_from(local: SocketAddr, to: SocketAddr) -> TcpStream {
    use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
    let fd = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&fd, &local).unwrap();
    connect(&fd, &to).unwrap();
    fd.into()
}
