//! Strangers who use `serve --web`, the speed test for browsers.

use std::{
    io::{Read, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream},
    thread,
    time::{Duration, Instant},
};

use super::scene::Scene;
use crate::{
    case::{Case, Seen, Target},
    client::connect_from,
    served::Served,
    trouble::Trouble,
};

/// The stranger's address.
const STRANGER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 5, 5));
/// Address of a client with the token.
const HOLDER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 7, 7));
/// The address of another user.
const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 6, 6));

/// A LibreSpeed download of 1 GiB.
const DOWNLOAD: &str = "/garbage.php?ckSize=1024";
/// The ten seconds of ndt7's download.
const NDT7: &str = "/ndt/v7/download";

pub(super) const CASES: &[Case] = &[
    Case {
        name: "web-half-open",
        attack: "stranger: 1,000 connections to the speed test: silent, half a head, a head without end, no HTTP",
        bound: "64 of them served, 4 MiB more; another address is answered; all given back within 10 s",
        run: half_open,
    },
    Case {
        name: "web-wrong-token",
        attack: "stranger: 200 loads asked for without a token, or with a wrong one",
        bound: "a page that asks for the token, and no load",
        run: wrong_token,
    },
    Case {
        name: "web-bytes",
        attack: "token holder: downloads of 1 GiB by LibreSpeed and by ndt7 under --max-bytes 1MB",
        bound: "1 MB of each, and what one write takes",
        run: bytes,
    },
    Case {
        name: "web-rate",
        attack: "token holder: eight downloads at once under --total-rate 50mbit",
        bound: "50 Mbit/s together; all given back within 10 s",
        run: rate,
    },
];

/// The file in which the server stores its token.
struct Token {
    _folder: tempfile::TempDir,
    file: String,
}

impl Token {
    fn new() -> Result<Self, Trouble> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("token").display().to_string();
        Ok(Self {
            _folder: folder,
            file,
        })
    }

    /// Options of a server that requests it.
    fn arguments(&self) -> [&str; 4] {
        ["--web", "0", "--web-token", &self.file]
    }

    fn read(&self) -> Result<String, Trouble> {
        Ok(std::fs::read_to_string(&self.file)?.trim().to_owned())
    }

    /// A path with the token.
    fn on(&self, path: &str) -> Result<String, Trouble> {
        let mark = if path.contains('?') { '&' } else { '?' };
        Ok(format!("{path}{mark}access_token={}", self.read()?))
    }
}

fn web(served: &Served) -> Result<SocketAddr, Trouble> {
    served.web.ok_or(Trouble::NotOffered("speed test"))
}

/// A request, without its body; ndt7's is one for a WebSocket (RFC 6455, section 4.1).
fn request(path: &str) -> String {
    let upgrade = match path.starts_with("/ndt") {
        true => {
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
             Sec-WebSocket-Protocol: net.measurementlab.ndt.v7\r\n"
        }
        false => "",
    };
    format!("GET {path} HTTP/1.1\r\nHost: example\r\n{upgrade}\r\n")
}

fn ask(from: IpAddr, at: SocketAddr, path: &str) -> Result<TcpStream, Trouble> {
    let mut stream = connect_from(from, at)?;
    stream.write_all(request(path).as_bytes())?;
    Ok(stream)
}

/// Status of the response, and the bytes that follow within `longest`.
fn taken(mut stream: TcpStream, longest: Duration) -> Result<(u16, usize), Trouble> {
    let begun = Instant::now();
    stream.set_read_timeout(Some(longest))?;
    let (mut head, mut bytes, mut piece) = (Vec::new(), 0, vec![0; 256 << 10]);
    while begun.elapsed() < longest {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => break,
            Ok(n) => {
                if head.len() < 64 {
                    head.extend_from_slice(&piece[..n.min(64)]);
                }
                bytes += n;
            }
        }
    }
    let text = String::from_utf8_lossy(&head);
    let status = text.split(' ').nth(1).and_then(|word| word.parse().ok());
    Ok((status.unwrap_or(0), bytes))
}

fn half_open(target: &Target) -> Result<Seen, Trouble> {
    let token = Token::new()?;
    let scene = Scene::new(target, &token.arguments())?;
    let at = web(&scene)?;
    let mut seen = Seen::default();
    let (status, most) = scene.beside(&mut seen, |going| {
        let mut held = Vec::new();
        for number in 0..1000 {
            let mut stream = connect_from(STRANGER, at)?;
            let words: &[u8] = match number % 4 {
                0 => b"",
                1 => b"GET / HTTP/1.1\r\nHost: exam",
                2 => &[b"GET / HTTP/1.1\r\nA: ".as_slice(), &[b'a'; 60_000]].concat(),
                _ => b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
            };
            let _ = stream.write_all(words);
            held.push(stream);
        }
        let status = taken(ask(OTHER, at, "/")?, Duration::from_secs(3))?.0;
        going.hold();
        Ok(status)
    })?;
    seen.check(
        status == 401,
        format!("another address is answered: {status}"),
    );
    let threads = most.threads.saturating_sub(scene.before.threads);
    // The threads of the stranger, of the other user, and of the legitimate client.
    seen.at_most("threads", threads as f64, 64.0 + 1.0 + 8.0);
    let memory = most.resident_kib.saturating_sub(scene.before.resident_kib);
    seen.at_most("KiB", memory as f64, 4096.0);
    scene.rests(&mut seen)?;
    Ok(seen)
}

fn wrong_token(target: &Target) -> Result<Seen, Trouble> {
    let token = Token::new()?;
    let scene = Scene::new(target, &token.arguments())?;
    let at = web(&scene)?;
    let right = token.read()?;
    let mut seen = Seen::default();
    let ((let_in, largest), _) = scene.beside(&mut seen, |going| {
        going.ready();
        let (mut let_in, mut largest) = (0, 0);
        for number in 0..200 {
            let wrong = format!("{number:064x}");
            let guess = match number % 4 {
                0 => String::new(),
                1 => format!("&access_token={wrong}"),
                2 => format!("&access_token={}", &right[..right.len() - 1]),
                _ => "&access_token=".to_owned(),
            };
            let path = match number % 2 {
                0 => format!("{DOWNLOAD}{guess}"),
                _ => format!("{NDT7}?a=b{guess}"),
            };
            let (status, bytes) = taken(ask(STRANGER, at, &path)?, Duration::from_millis(50))?;
            let_in += u32::from(matches!(status, 101 | 200));
            largest = largest.max(bytes);
        }
        Ok((let_in, largest))
    })?;
    seen.at_most("let in", let_in.into(), 0.0);
    // The page that asks for the token.
    seen.at_most("bytes of the largest response", largest as f64, 16_384.0);
    let path = token.on(DOWNLOAD)?;
    let (status, _) = taken(ask(OTHER, at, &path)?, Duration::from_millis(200))?;
    seen.check(status == 200, format!("the right token: {status}"));
    scene.rests(&mut seen)?;
    Ok(seen)
}

fn bytes(target: &Target) -> Result<Seen, Trouble> {
    const ALLOWED: f64 = 1e6;
    let token = Token::new()?;
    let limits = [&token.arguments()[..], &["--max-bytes", "1MB"]].concat();
    let served = Served::start(target, &limits)?;
    let at = web(&served)?;
    let mut seen = Seen::default();
    for (kind, path) in [("LibreSpeed", DOWNLOAD), ("ndt7", NDT7)] {
        let path = token.on(path)?;
        let (status, bytes) = taken(ask(HOLDER, at, &path)?, Duration::from_secs(4))?;
        seen.note(format!("{kind}: {status}"));
        let what = format!("bytes of {kind}");
        seen.at_most(&what, bytes as f64, ALLOWED * 1.1 + f64::from(1 << 20));
    }
    Ok(seen)
}

fn rate(target: &Target) -> Result<Seen, Trouble> {
    const FOR: Duration = Duration::from_secs(3);
    let token = Token::new()?;
    let limits = [&token.arguments()[..], &["--total-rate", "50mbit"]].concat();
    let scene = Scene::new(target, &limits)?;
    let at = web(&scene)?;
    let mut seen = Seen::default();
    let path = token.on(DOWNLOAD)?;
    let streams = (0..8).map(|_| ask(HOLDER, at, &path));
    let streams: Vec<_> = streams.collect::<Result<_, _>>()?;
    let begun = Instant::now();
    let bytes: usize = thread::scope(|scope| {
        let started = streams.into_iter().map(|s| scope.spawn(|| taken(s, FOR)));
        let started: Vec<_> = started.collect();
        let ended = started.into_iter().filter_map(|t| t.join().ok()?.ok());
        ended.map(|(_, bytes)| bytes).sum()
    });
    let rate = bytes as f64 * 8.0 / begun.elapsed().as_secs_f64() / 1e6;
    seen.check(bytes > 1 << 20, format!("{bytes} bytes served"));
    // Data that fits the sockets' buffers is sent at once.
    seen.at_most("Mbit/s", rate, 50.0 * 1.2);
    scene.rests(&mut seen)?;
    Ok(seen)
}
