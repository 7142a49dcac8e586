//! `pathtwin serve` among those who mean it ill, with real sockets on loopback.

#![allow(clippy::expect_used)]

mod common;

use std::{
    collections::VecDeque,
    io::{Read, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket},
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use common::{is_root, pathtwin, server::Server};
use measure::{
    far::Far,
    plans,
    run::{Start, Target, measure},
};
use model::{row::Layer, run::Run, units::Seed};
use traffic::wire::{
    Channel, Greeting, Key, Token,
    datagram::{Datagram, GREETING},
    greeting::CONTROL,
    message::{Order, Request, TcpOrder},
};

/// Loads that leave most of the processor free: what is compared is the program, not the machine.
const PLAN: &str = r#"
repeats = { min = 1, max = 1 }
[[step]]
kind = "udp"
direction = "down"
rate_bps = 20_000_000
payload = 1200
duration_s = 1
[[step]]
kind = "udp"
direction = "up"
rate_bps = 20_000_000
payload = 1200
duration_s = 1
[[step]]
kind = "tcp"
direction = "down"
flows = 1
cc = ["cubic"]
warmup_s = 0.3
duration_s = 1
repeat = true
"#;

/// Paces TCP that the server sends.
const RATE: &str = "--max-rate=40mbit";

struct Serving {
    server: Server,
    key: Key,
    _folder: tempfile::TempDir,
}

impl Serving {
    fn start(program: Command, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("make a folder");
        let file = folder.path().join("key");
        let server = Server::start(program, &file, arguments);
        Self {
            key: read_key(&file),
            server,
            _folder: folder,
        }
    }

    /// A server that may have so many descriptors.
    fn with_descriptors(most: u32, arguments: &[&str]) -> Self {
        let mut shell = Command::new("sh");
        let script = format!("ulimit -n {most}; exec \"$0\" \"$@\"");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_pathtwin")]);
        Self::start(shell, arguments)
    }

    fn measure(&self) -> Run {
        let address = self.server.address;
        let plan = plans::parse(PLAN).expect("a plan");
        let start = Start {
            control: address,
            key: &self.key,
            plan: &plan,
            seed: Seed(1),
            targets: &[Target {
                layer: Layer::Underlay,
                far: address.ip(),
            }],
            program: "test",
            id: "0".repeat(16),
            started_us: 0,
            lab: false,
            cancel: &AtomicBool::new(false),
        };
        measure(start, &mut |_| {}).expect("a run")
    }

    /// Processor time of the server so far, all its threads, s.
    fn cpu_s(&self) -> f64 {
        let path = format!("/proc/{}/stat", self.server.child.id());
        let stat = std::fs::read_to_string(path).expect("read its time");
        let (_, fields) = stat.rsplit_once(')').expect("a name in brackets");
        // utime and stime are fields 14 and 15 (proc(5)), in ticks of 1/100 s.
        let ticks = fields.split_whitespace().skip(11).take(2);
        let sum: u64 = ticks.filter_map(|t| t.parse::<u64>().ok()).sum();
        sum as f64 / 100.0
    }
}

fn read_key(file: &Path) -> Key {
    let text = std::fs::read_to_string(file).expect("read the key");
    text.parse().expect("a key")
}

/// A greeting of a client that holds the key, as one who listens on the way would record it.
fn recorded(key: &Key) -> [u8; CONTROL] {
    let listener = TcpListener::bind("127.0.0.1:0").expect("listen");
    let stream = TcpStream::connect(listener.local_addr().expect("address")).expect("connect");
    let key = key.clone();
    let client = thread::spawn(move || Channel::connect(stream, &key, 1000).is_ok());
    let (mut tap, _) = listener.accept().expect("accept");
    let mut bytes = [0; CONTROL];
    tap.read_exact(&mut bytes).expect("the greeting");
    drop(tap);
    assert!(!client.join().expect("the client"));
    bytes
}

/// What an attacker sends on a connection, by its number.
fn words(number: usize, replay: &[u8; CONTROL]) -> Vec<u8> {
    let wrong = Greeting::Control([number as u8; 48]).bytes();
    let unknown = Greeting::Data {
        token: Token([number as u8; 16]),
        index: 0,
    };
    match number % 8 {
        0 => Vec::new(),
        1 => b"PTWC".to_vec(),
        2 => replay[..CONTROL - 1].to_vec(),
        3 => b"GET / HTTP/1.1\r\nHost: example\r\n\r\n".to_vec(),
        4 => wrong,
        5 => unknown.bytes(),
        6 => {
            // A frame that is longer than a first message may be.
            let mut oversized = replay.to_vec();
            oversized.extend([0xff; 2000]);
            oversized
        }
        _ => replay.to_vec(),
    }
}

/// Threads that misuse a server until they are dropped.
struct Abuse {
    stop: Arc<AtomicBool>,
    made: Arc<AtomicUsize>,
    threads: Vec<JoinHandle<()>>,
}

/// Connections that attackers hold at once.
const HELD: usize = 2000;

impl Abuse {
    fn start(at: SocketAddr, key: &Key) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let made = Arc::new(AtomicUsize::new(0));
        let replay = recorded(key);
        let (told, count) = (stop.clone(), made.clone());
        let connections = thread::spawn(move || {
            let mut held = VecDeque::new();
            while !told.load(Ordering::Relaxed) {
                let number = count.load(Ordering::Relaxed);
                if let Ok(mut stream) = TcpStream::connect(at) {
                    let _ = stream.write_all(&words(number, &replay));
                    held.push_back(stream);
                    count.fetch_add(1, Ordering::Relaxed);
                }
                if held.len() > HELD {
                    held.pop_front();
                }
                // 2,000 within two seconds, and as fast after that.
                if number % 10 == 9 {
                    thread::sleep(Duration::from_millis(8));
                }
            }
        });
        let told = stop.clone();
        let datagrams = thread::spawn(move || {
            let socket = UdpSocket::bind("127.0.0.1:0").expect("bind");
            let mut number = 0u64;
            while !told.load(Ordering::Relaxed) {
                for _ in 0..20 {
                    number += 1;
                    let mut token = [0; 16];
                    token[..8].copy_from_slice(&number.to_be_bytes());
                    let hello = Datagram::Hello(Token(token)).greeting();
                    let _ = socket.send_to(&hello, at);
                }
                thread::sleep(Duration::from_millis(4));
            }
        });
        // They hold the key: one never says anything more, one asks and never reads.
        let (told, key) = (stop.clone(), key.clone());
        let holders = thread::spawn(move || {
            let silent = Far::connect(at, &key, "silent");
            let stream = TcpStream::connect(at).expect("connect");
            let mut deaf = Channel::connect(stream, &key, 1000).expect("a channel");
            let _ = deaf.send(&hello());
            let limit = Some(Duration::from_millis(50));
            deaf.set_patience(limit);
            while !told.load(Ordering::Relaxed) {
                if deaf.send(&Request::Facts { toward: None }).is_err() {
                    thread::sleep(Duration::from_millis(20));
                }
            }
            drop(silent);
        });
        Self {
            stop,
            made,
            threads: vec![connections, datagrams, holders],
        }
    }

    /// Waits until the attackers hold all the connections they want.
    fn in_full(&self) {
        while self.made.load(Ordering::Relaxed) < HELD {
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Abuse {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn hello() -> Request {
    Request::Hello {
        program: "test".to_owned(),
    }
}

/// Datagrams that came, of both directions, and goodput in bit/s.
fn results(run: &Run) -> (f64, f64) {
    assert_eq!(run.cut_short, None);
    let udp = run.samples.iter().filter_map(|s| s.udp.as_ref());
    let tcp = run.samples.iter().filter_map(|s| s.tcp.as_ref());
    let received = udp.map(|u| u.received as f64).sum();
    (received, tcp.map(|t| t.goodput_bps).sum())
}

#[test]
fn thousands_who_mean_it_ill_do_not_change_what_a_client_measures() {
    let _ = sys::descriptors::allow(8192);
    let serving = Serving::start(pathtwin(), &[RATE]);
    let (mut with, mut without) = ([0.0; 2], [0.0; 2]);
    let add = |sums: &mut [f64; 2]| {
        let (udp, tcp) = results(&serving.measure());
        sums[0] += udp;
        sums[1] += tcp;
    };
    // Memory that a client costs is there before the attackers come.
    add(&mut without);
    let before = (serving.server.kib("VmRSS"), serving.server.descriptors());
    let mut most = before;
    for _ in 0..2 {
        let abuse = Abuse::start(serving.server.address, &serving.key);
        abuse.in_full();
        add(&mut with);
        let now = (serving.server.kib("VmRSS"), serving.server.descriptors());
        most = (most.0.max(now.0), most.1.max(now.1));
        drop(abuse);
        add(&mut without);
    }
    for (what, with, without) in [
        ("datagrams", with[0] / 2.0, without[0] / 3.0),
        ("goodput", with[1] / 2.0, without[1] / 3.0),
    ] {
        let ratio = with / without;
        eprintln!("{what}: {ratio:.4} of the same without attackers");
        assert!((0.95..=1.05).contains(&ratio), "{what}: {ratio}");
    }
    eprintln!("before, and most with attackers (KiB resident, descriptors): {before:?}, {most:?}");
    // 256 at the gate with 53 bytes each, two sessions, and what the allocator keeps.
    assert!(most.0 < before.0 + 4096, "{before:?} {most:?}");
    assert!(most.1 <= before.1 + 256 + 16, "{before:?} {most:?}");
}

/// Each took a client's place for a minute, and a thread.
#[test]
fn a_replayed_greeting_takes_no_clients_place() {
    let serving = Serving::start(pathtwin(), &["--max-clients", "1"]);
    let mut held = Vec::new();
    for _ in 0..4 {
        let greeting = recorded(&serving.key);
        for copy in 0..2 {
            let mut stream = TcpStream::connect(serving.server.address).expect("connect");
            stream.write_all(&greeting).expect("send");
            let mut answer = [0; 50];
            // The first is a greeting like any other so far; its copy is known for one.
            assert_eq!(stream.read_exact(&mut answer).is_ok(), copy == 0);
            held.push(stream);
        }
    }
    assert_eq!(serving.server.status("Threads"), threads_at_rest(&serving));
    let far = Far::connect(serving.server.address, &serving.key, "test");
    assert!(far.is_ok(), "{:?}", far.err());
}

/// The main thread, the one that waits for Ctrl-C, the log and one that proves addresses.
fn threads_at_rest(_: &Serving) -> String {
    "4".to_owned()
}

#[test]
fn a_frame_longer_than_a_first_message_is_cut_off_at_once() {
    let serving = Serving::start(pathtwin(), &[]);
    let mut stream = TcpStream::connect(serving.server.address).expect("connect");
    stream.write_all(&recorded(&serving.key)).expect("send");
    let mut answer = [0; 50];
    stream.read_exact(&mut answer).expect("the handshake");
    stream.write_all(&[0xff, 0xff]).expect("send");
    // The gate's patience is longer than this.
    let limit = Some(Duration::from_secs(5));
    stream.set_read_timeout(limit).expect("set a timeout");
    let end = stream.read(&mut answer);
    assert!(
        matches!(&end, Ok(0))
            || matches!(&end, Err(e) if e.kind() == std::io::ErrorKind::ConnectionReset),
        "{end:?}"
    );
}

/// A listener stays readable when `accept` fails for want of a descriptor.
#[test]
fn accept_without_descriptors_does_not_spin() {
    let serving = Serving::with_descriptors(13, &[]);
    let held: Vec<_> = (0..100)
        .map(|_| TcpStream::connect(serving.server.address).expect("connect"))
        .collect();
    let before = serving.cpu_s();
    let start = Instant::now();
    thread::sleep(Duration::from_secs(2));
    let spent = (serving.cpu_s() - before) / start.elapsed().as_secs_f64();
    assert!(spent < 0.3, "{spent} of a processor");
    drop(held);
    // It is none the worse for it.
    let far = Far::connect(serving.server.address, &serving.key, "test");
    assert!(far.is_ok(), "{:?}", far.err());
}

#[test]
fn few_descriptors_leave_most_to_clients() {
    let _ = sys::descriptors::allow(8192);
    let serving = Serving::with_descriptors(256, &[RATE]);
    let held: Vec<_> = (0..1000)
        .map(|_| TcpStream::connect(serving.server.address).expect("connect"))
        .collect();
    let (datagrams, goodput) = results(&serving.measure());
    assert!(datagrams > 0.0 && goodput > 0.0);
    // A quarter for those at the gate.
    assert!(serving.server.descriptors() < 64 + 32);
    drop(held);
}

/// Each load got what was left when it was agreed on, so that many side by side got many times that.
#[test]
fn loads_side_by_side_share_what_a_client_may_move() {
    const ALLOWED: usize = 20_000_000;
    /// What each load may pass it by: its last call.
    const CALL: usize = 1 << 20;
    const LOADS: usize = 4;
    let serving = Serving::start(pathtwin(), &["--max-bytes", "20MB"]);
    let address = serving.server.address;
    let mut far = Far::connect(address, &serving.key, "test").expect("a session");
    let order = Order::Tcp(TcpOrder {
        send: true,
        flows: 1,
        cc: None,
        duration_us: 60_000_000,
        look_us: 100_000,
    });
    let loads: Vec<_> = (0..LOADS)
        .map(|_| {
            let token = far.open(order.clone()).expect("a load");
            let streams = measure::far::streams(token, address, 1).expect("its connection");
            (token, streams)
        })
        .collect();
    let mut readers = Vec::new();
    for (token, streams) in loads {
        far.start(token).expect("start");
        readers.extend(streams.into_iter().map(|mut stream| {
            let limit = Some(Duration::from_secs(3));
            stream.set_read_timeout(limit).expect("set a timeout");
            thread::spawn(move || {
                let mut buffer = vec![0; 1 << 16];
                let mut sum = 0;
                while let Ok(n @ 1..) = stream.read(&mut buffer) {
                    sum += n;
                }
                sum
            })
        }));
    }
    let sum: usize = readers.into_iter().map(|r| r.join().expect("read")).sum();
    assert!(
        (ALLOWED..=ALLOWED + LOADS * CALL).contains(&sum),
        "{sum} bytes"
    );
    let more = far.open(order).map_err(|e| e.to_string());
    assert!(more.is_err_and(|e| e.contains("limit of bytes")));
}

/// An attacker who holds the key knows tokens, and so gets furthest.
#[test]
fn a_forged_address_is_never_sent_more_than_came_from_it() {
    if !is_root() {
        eprintln!("SKIPPED: a forged source address needs root");
        return;
    }
    let serving = Serving::start(pathtwin(), &[]);
    let server = serving.server.address;
    let mut far = Far::connect(server, &serving.key, "test").expect("a session");
    let echo = far.open(Order::Echo).expect("a service");
    // Somebody else's address has been proved for it.
    let _proved = measure::far::datagrams(echo, server).expect("proved");
    let other = far.open(Order::Echo).expect("a service");
    let victim = SocketAddr::from((Ipv4Addr::new(127, 0, 0, 66), 4000));
    let tap = raw::Tap::new(server, victim);
    let (mut sent, mut greeted) = (0, 0);
    let mut random = stats::Random::new(1);
    for number in 0..3000 {
        let payload = payload(number, [echo, other], &mut random);
        let bytes = raw::send(victim, server, &payload);
        sent += bytes;
        if matches!(Datagram::parse(&payload), Some(Datagram::Hello(t)) if t == echo || t == other)
        {
            greeted += bytes;
        }
        if number % 100 == 0 {
            // What comes back is read in time.
            tap.read();
        }
    }
    // The server has read all when it has answered this one, which it does in turn.
    let last = UdpSocket::bind("127.0.0.1:0").expect("bind");
    let limit = Some(Duration::from_millis(200));
    last.set_read_timeout(limit).expect("set a timeout");
    let hello = Datagram::Hello(other).greeting();
    let mut answer = [0; GREETING];
    let answered = (0..50).any(|_| {
        let _ = last.send_to(&hello, server);
        last.recv(&mut answer).is_ok()
    });
    assert!(answered, "it is still there");
    let back = tap.read();
    eprintln!("{sent} bytes sent from a forged address, {back} sent to it");
    assert!(back > 0, "known tokens are answered");
    // No more than what asked for it had, and nothing for all else.
    assert!(back <= greeted && greeted < sent, "{back} > {greeted}");
}

/// Datagrams of all kinds and sizes, with tokens that are known, with the wrong proof, cut off and filled up.
fn payload(number: usize, tokens: [Token; 2], random: &mut stats::Random) -> Vec<u8> {
    let token = tokens[number / 16 % 2];
    let size = (random.next_u64() % 1400) as u16;
    let datagram = match number % 12 {
        0 | 1 => Datagram::Hello(token),
        2 => Datagram::Hello(Token([number as u8; 16])),
        3 => Datagram::Prove(token, [number as u8; 16]),
        4 => Datagram::Challenge(token, [0; 16]),
        5 => Datagram::Proved(token),
        6 => Datagram::Probe { number: 1 },
        7 => Datagram::SizedAsk {
            number: 1,
            payload: 65_000,
        },
        8 => Datagram::Sized {
            number: 1,
            payload: size,
        },
        9 => Datagram::Data {
            number: 1,
            sent_ns: 1,
        },
        10 => Datagram::Answer {
            number: 1,
            held_ns: 1,
        },
        _ => return (0..size).map(|_| random.next_u64() as u8).collect(),
    };
    let mut bytes = datagram.greeting().to_vec();
    match random.next_u64() % 4 {
        0 => bytes.truncate(usize::from(size) % GREETING),
        1 => bytes.resize(usize::from(size), 0),
        _ => {}
    }
    bytes
}

/// IPv4 packets with a source address of one's choice, and those that are sent to an address.
mod raw {
    use rustix::net::{
        AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, ipproto, recv, sendto,
        socket_with, sockopt,
    };

    use super::*;

    const IP: usize = 20;
    const UDP: usize = 8;

    fn open(protocol: rustix::net::Protocol) -> rustix::fd::OwnedFd {
        let flags = SocketFlags::CLOEXEC;
        socket_with(AddressFamily::INET, SocketType::RAW, flags, Some(protocol))
            .expect("a raw socket")
    }

    fn v4(address: SocketAddr) -> Ipv4Addr {
        match address.ip() {
            IpAddr::V4(ip) => ip,
            IpAddr::V6(_) => unreachable!("loopback of IPv4"),
        }
    }

    /// Sends a datagram from an address that is not one's own; returns the bytes of its packet.
    pub(super) fn send(from: SocketAddr, to: SocketAddr, payload: &[u8]) -> usize {
        thread_local!(static SOCKET: rustix::fd::OwnedFd = open(ipproto::RAW));
        let length = IP + UDP + payload.len();
        let mut packet = Vec::with_capacity(length);
        // RFC 791; the kernel fills in the length and the checksum (raw(7)).
        packet.extend([0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0]);
        packet.extend(v4(from).octets());
        packet.extend(v4(to).octets());
        // RFC 768; a checksum of 0 is none.
        for half in [from.port(), to.port(), (UDP + payload.len()) as u16, 0] {
            packet.extend(half.to_be_bytes());
        }
        packet.extend(payload);
        SOCKET.with(|s| sendto(s, &packet, SendFlags::empty(), &to).expect("send"));
        length
    }

    /// Sees what a server sends to an address.
    pub(super) struct Tap {
        socket: rustix::fd::OwnedFd,
        server: SocketAddr,
        victim: SocketAddr,
        seen: std::cell::Cell<usize>,
    }

    impl Tap {
        pub(super) fn new(server: SocketAddr, victim: SocketAddr) -> Self {
            let socket = open(ipproto::UDP);
            let _ = sockopt::set_socket_recv_buffer_size(&socket, 4 << 20);
            Self {
                socket,
                server,
                victim,
                seen: Default::default(),
            }
        }

        /// Bytes of packets so far.
        pub(super) fn read(&self) -> usize {
            let mut packet = [0; 65_536];
            while let Ok((_, length)) = recv(&self.socket, &mut packet, RecvFlags::DONTWAIT) {
                let is = |at: usize, ip: SocketAddr| packet[at..at + 4] == v4(ip).octets();
                let port = u16::from_be_bytes([packet[IP], packet[IP + 1]]);
                if is(12, self.server) && is(16, self.victim) && port == self.server.port() {
                    self.seen.set(self.seen.get() + length);
                }
            }
            self.seen.get()
        }
    }
}
