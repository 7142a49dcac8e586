//! `pathtwin serve` among those who mean it ill, with real sockets on loopback.

#![allow(clippy::expect_used)]

#[path = "abuse/attackers.rs"]
mod attackers;
mod common;
#[path = "abuse/raw.rs"]
mod raw;

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket},
    path::Path,
    process::Command,
    sync::atomic::AtomicBool,
    thread,
    time::{Duration, Instant},
};

use attackers::{Abuse, recorded};
use common::{is_root, pathtwin, server::Server};
use measure::{
    far::Far,
    plans,
    run::{Start, Target, measure},
};
use model::{net::Layer, run::Run, units::Seed};
use traffic::wire::{
    Key, Token,
    datagram::{Datagram, GREETING},
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
        sample_us: 100_000,
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
        let payload = payload(number, [echo.token, other.token], &mut random);
        let bytes = raw::send(victim, server, &payload);
        sent += bytes;
        if matches!(Datagram::parse(&payload), Some(Datagram::Hello(t)) if t == echo.token || t == other.token)
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
    let hello = Datagram::Hello(other.token).greeting();
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
