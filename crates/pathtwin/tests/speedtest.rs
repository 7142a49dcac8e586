//! `pathtwin serve --web`: clients of others, a real browser, and the limits of the server.

#![cfg(feature = "page")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod browser;
mod common;

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use browser::{Browser, Viewport};
use common::{is_root, pathtwin, text};

const DESK: Viewport = Viewport {
    width: 1200,
    height: 900,
    dark: false,
};
const PHONE: Viewport = Viewport {
    width: 390,
    height: 844,
    dark: false,
};
const VIEWPORTS: [(&str, Viewport); 4] = [
    ("desk", DESK),
    ("dark", Viewport { dark: true, ..DESK }),
    ("phone", PHONE),
    (
        "phone dark",
        Viewport {
            dark: true,
            ..PHONE
        },
    ),
];

/// A server with its speed test.
struct Served {
    child: Child,
    address: SocketAddr,
}

impl Served {
    fn start(arguments: &[&str]) -> Self {
        Self::start_by(pathtwin(), "127.0.0.1", arguments)
    }

    /// By a command that is the program, at one of its addresses.
    fn start_by(mut command: Command, listen: &str, arguments: &[&str]) -> Self {
        let mut child = command
            .args(["serve", "--port", "0", "--listen", listen, "--web", "0"])
            .args(arguments)
            .stderr(Stdio::piped())
            .spawn()
            .expect("start the server");
        let mut err = BufReader::new(child.stderr.take().expect("its stderr"));
        let address = loop {
            let mut line = String::new();
            assert!(err.read_line(&mut line).expect("read") > 0, "it ended");
            if let Some((_, rest)) = line.split_once("speed test at http://") {
                break rest
                    .trim()
                    .trim_end_matches('/')
                    .parse()
                    .expect("an address");
            }
        };
        std::thread::spawn(move || std::io::copy(&mut err, &mut std::io::stderr()));
        Self { child, address }
    }

    fn ask(&self, request: &str, body: &[u8]) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect(self.address).expect("connect");
        let head = format!("{request}\r\nHost: speed.example\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("ask");
        let _ = stream.write_all(body);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes
            .windows(4)
            .position(|w| w == b"\r\n\r\n")
            .expect("a head");
        (text(&bytes[..end]), bytes[end + 4..].to_vec())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A file of M-Lab's client.
fn ndt7(name: &str) -> String {
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(
        || std::env::home_dir().unwrap().join(".cache"),
        PathBuf::from,
    );
    let file = cache.join("pathtwin/test/ndt7-0.1.4").join(name);
    std::fs::read_to_string(&file)
        .unwrap_or_else(|e| panic!("{}: {e}: run scripts/setup test", file.display()))
}

/// Bytes that a connection of loopback can hold outside the two programs: the largest send and
/// receive buffer (tcp(7)), and one message of M-Lab's client that is just handed over (8 MiB).
fn buffered() -> u64 {
    let largest = |file: &str| -> u64 {
        let sizes = std::fs::read_to_string(format!("/proc/sys/net/ipv4/{file}")).unwrap();
        sizes.split_whitespace().last().unwrap().parse().unwrap()
    };
    largest("tcp_rmem") + largest("tcp_wmem") + (8 << 20)
}

/// The client of npm, in a browser: both tests end without an error, client and server agree on the
/// bytes moved, and no more is moved than the server's limit allows.
#[test]
fn the_client_of_m_lab_completes_both_tests() {
    let served = Served::start(&["--open", "--max-rate", "100mbit"]);
    let mut browser = Browser::start();
    let quoted = |name: &str| serde_json::to_string(&ndt7(name)).unwrap();
    browser.value(&ndt7("ndt7.js").replace("const ndt7 =", "window.ndt7 ="));
    let result = browser.value(&format!(
        "(async () => {{
            const file = (text) => URL.createObjectURL(new Blob([text]));
            const config = {{server: '{}', protocol: 'ws', userAcceptedDataPolicy: true,
                downloadworkerfile: file({}), uploadworkerfile: file({})}};
            const out = {{errors: []}};
            const code = await window.ndt7.test(config, {{
                error: (e) => out.errors.push(String(e)),
                downloadComplete: (d) => {{ out.download = d; }},
                uploadComplete: (d) => {{ out.upload = d; }},
            }});
            return {{...out, code}};
        }})()",
        served.address,
        quoted("ndt7-download-worker.js"),
        quoted("ndt7-upload-worker.js"),
    ));
    assert_eq!(result["code"], 0, "{result}");
    assert_eq!(result["errors"].as_array().unwrap().len(), 0, "{result}");
    for test in ["download", "upload"] {
        let client = &result[test]["LastClientMeasurement"];
        let server = &result[test]["LastServerMeasurement"];
        let mbps = client["MeanClientMbps"].as_f64().unwrap();
        let info = &server["AppInfo"];
        let by_server =
            info["NumBytes"].as_f64().unwrap() * 8.0 / info["ElapsedTime"].as_f64().unwrap();
        // The client counts the bytes handed to its socket: the limit of the server, plus the
        // capacity of the buffers between.
        let seconds = client["ElapsedTime"].as_f64().unwrap();
        let at_most = 101.0 + buffered() as f64 * 8e-6 / seconds;
        assert!(by_server < 101.0, "{test}: {by_server} by the server");
        assert!(mbps < at_most, "{test}: {mbps} of at most {at_most}");
        assert!(mbps > 50.0, "{test}: {mbps} Mbit/s of 100");
        assert!(
            by_server > 0.85 * mbps.min(101.0) && by_server < 1.15 * mbps,
            "{test}: {by_server} {mbps}"
        );
        assert!(server["TCPInfo"]["MinRTT"].as_u64().is_some(), "{server}");
        assert!(server["ConnectionInfo"]["CongestionControl"].is_string());
    }
}

/// LibreSpeed's own client. No registry of packages has it (npm: none; PyPI: a package without a
/// client; Go: a version without an entry in the checksum database), so that it is named by hand:
/// `speedtest_worker.js` of its repository.
#[test]
fn the_client_of_librespeed_completes_both_tests() {
    let Some(file) = std::env::var_os("PATHTWIN_LIBRESPEED") else {
        eprintln!("skipped: PATHTWIN_LIBRESPEED does not name LibreSpeed's speedtest_worker.js");
        return;
    };
    let worker = std::fs::read_to_string(file).expect("read LibreSpeed's worker");
    let served = Served::start(&["--open", "--max-rate", "100mbit"]);
    let mut browser = Browser::start();
    let result = browser.value(&format!(
        "new Promise((done) => {{
            const base = 'http://{}/backend/';
            const worker = new Worker(URL.createObjectURL(new Blob([{}])));
            worker.postMessage('start ' + JSON.stringify({{mpot: true, test_order: 'IPDU',
                url_dl: base + 'garbage.php', url_ul: base + 'empty.php',
                url_ping: base + 'empty.php', url_getIp: base + 'getIP.php',
                url_telemetry: base + 'results/telemetry.php', telemetry_level: 'full',
                time_auto: false, time_dl_max: 6, time_ul_max: 6}}));
            worker.onmessage = (event) => {{
                const status = JSON.parse(event.data);
                if (status.testState >= 4) done(status);
            }};
            setInterval(() => worker.postMessage('status'), 200);
        }})",
        served.address,
        serde_json::to_string(&worker).unwrap(),
    ));
    // 4: finished; 5 would be aborted.
    assert_eq!(result["testState"], 4, "{result}");
    assert_eq!(result["clientIp"], "127.0.0.1");
    let number = |name: &str| {
        result[name]
            .as_str()
            .and_then(|text| text.parse::<f64>().ok())
    };
    assert!(number("pingStatus").is_some_and(|ms| ms > 0.0), "{result}");
    for (name, connections) in [("dlStatus", 6.0), ("ulStatus", 3.0)] {
        // It multiplies by 1.06 for headers. Its time begins later than its bytes, so that what the
        // buffers held may be counted, too.
        let mbps = number(name).expect("a rate") / 1.06;
        let at_most = 101.0 + connections * buffered() as f64 * 8e-6 / 4.5;
        assert!(
            (50.0..at_most).contains(&mbps),
            "{name}: {mbps} of at most {at_most}"
        );
    }
}

#[test]
fn the_endpoints_of_librespeed_move_the_requested_bytes() {
    let served = Served::start(&["--open"]);
    let (head, body) = served.ask(
        "GET /backend/garbage.php?ckSize=3&r=0.5&cors=true HTTP/1.1",
        b"",
    );
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(head.contains("Access-Control-Allow-Origin: *"), "{head}");
    assert_eq!(body.len(), 3 << 20);
    let mut counts = [0_u32; 256];
    body.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    // Random bytes, 256 KiB of them twelve times: 12288 of each on average, with a deviation of
    // twelve times 32. Five of these either way leave one run in 7000 that fails by chance.
    assert!(
        counts.iter().all(|n| (10_368..14_208).contains(n)),
        "{counts:?}"
    );
    let load = vec![7; 5 << 20];
    let (head, body) = served.ask(
        &format!(
            "POST /empty.php?r=1 HTTP/1.1\r\nContent-Length: {}",
            load.len()
        ),
        &load,
    );
    assert!(
        head.starts_with("HTTP/1.1 200") && body.is_empty(),
        "{head}"
    );
    assert!(!head.contains("Access-Control"), "{head}");
    let (_, body) = served.ask("GET /getIP.php?isp=true HTTP/1.1", b"");
    let address: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(address["processedString"], "127.0.0.1");
    let result = b"ispinfo=&dl=93.1&ul=20.4&ping=12.3&jitter=0.4&log=&extra=";
    let telemetry = |length: usize, sent: &[u8]| {
        let line = "POST /backend/results/telemetry.php?r=1 HTTP/1.1";
        served.ask(&format!("{line}\r\nContent-Length: {length}"), sent)
    };
    let (head, body) = telemetry(result.len(), result);
    assert!(
        head.starts_with("HTTP/1.1 200") && body.is_empty(),
        "{head}"
    );
    let (head, _) = telemetry(300 << 10, b"");
    assert!(head.starts_with("HTTP/1.1 413"), "{head}");
    // Pings share a connection, as a browser's do.
    let mut stream = TcpStream::connect(served.address).unwrap();
    for _ in 0..3 {
        stream
            .write_all(b"GET /empty.php HTTP/1.1\r\nHost: a\r\n\r\n")
            .unwrap();
        let mut piece = [0; 2048];
        let n = stream.read(&mut piece).unwrap();
        assert!(text(&piece[..n]).starts_with("HTTP/1.1 200"));
    }
}

#[test]
fn nothing_is_moved_without_the_token_or_beyond_the_limits() {
    let folder = tempfile::tempdir().unwrap();
    let (key, token) = (folder.path().join("key"), folder.path().join("token"));
    let named = [
        "--key",
        key.to_str().unwrap(),
        "--web-token",
        token.to_str().unwrap(),
        "--max-bytes",
        "5MB",
    ];
    let served = Served::start(&named);
    let secret = std::fs::read_to_string(&token).unwrap();
    let secret = secret.trim();
    let socket = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: net.measurementlab.ndt.v7";
    for request in [
        "GET /garbage.php HTTP/1.1".to_owned(),
        format!("GET /ndt/v7/download HTTP/1.1\r\n{socket}"),
        "GET / HTTP/1.1".to_owned(),
    ] {
        let (head, body) = served.ask(&request, b"");
        assert!(
            head.starts_with("HTTP/1.1 401") && body.len() < 4000,
            "{head}"
        );
    }
    let url = format!("/garbage.php?ckSize=100&access_token={secret}");
    let (head, body) = served.ask(&format!("GET {url} HTTP/1.1"), b"");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(
        body.len() <= 5_000_000 && body.len() > 4_000_000,
        "{} bytes",
        body.len()
    );
    let open = Served::start(&["--open"]);
    for (request, status) in [
        ("GET /ndt/v7/download HTTP/1.1".to_owned(), 426),
        (
            format!("GET /ndt/v7/download?a=1&a=2 HTTP/1.1\r\n{socket}"),
            400,
        ),
        (
            format!("GET /ndt/v7/download?cc=../x HTTP/1.1\r\n{socket}"),
            400,
        ),
        (
            format!(
                "GET /ndt/v7/upload HTTP/1.1\r\n{}",
                socket.replace("ndt.v7", "other")
            ),
            400,
        ),
        ("PUT /empty.php HTTP/1.1".to_owned(), 405),
    ] {
        let (head, _) = open.ask(&request, b"");
        assert!(
            head.starts_with(&format!("HTTP/1.1 {status}")),
            "{request}: {head}"
        );
    }
}

#[test]
fn the_page_names_the_limit_and_passes_an_accessibility_checker() {
    let served = Served::start(&["--open", "--max-rate", "50mbit"]);
    let mut browser = Browser::start();
    for (name, viewport) in VIEWPORTS {
        for page in ["/", "/?lang=zh-CN"] {
            let url = format!("http://{}{page}", served.address);
            browser.check(&format!("{name} {page}"), &url, viewport);
        }
    }
    for (figures, verdict) in [
        (
            "{bbr: 90, cubic: 20, retransmitted: 0.01, idle: 20, idleHigh: 22, loaded: 40, one: 20, many: 60}",
            "control",
        ),
        (
            "{bbr: 90, cubic: 90, receiver: 0.8, idle: 20, idleHigh: 22, loaded: 40, one: 90, many: 99}",
            "receiver",
        ),
        (
            "{bbr: 90, cubic: 90, idle: 20, idleHigh: 22, loaded: 400, one: 90, many: 91}",
            "buffer",
        ),
        (
            "{bbr: 90, cubic: 90, idle: 20, idleHigh: 80, loaded: 90, one: 90, many: 91}",
            "wireless",
        ),
        (
            "{lag: 80, bbr: 90, cubic: 90, idle: 20, idleHigh: 22, loaded: 40, one: 90, many: 91}",
            "browser",
        ),
        (
            "{bbr: 90, cubic: 90, idle: 20, idleHigh: 22, loaded: 40, one: 90, many: 91}",
            "none",
        ),
    ] {
        let found = browser.value(&format!("window.pathtwinSpeed.verdict({figures})"));
        assert_eq!(found, serde_json::json!([verdict]), "{figures}");
    }
    browser.value("document.getElementById('start').click()");
    browser.value("window.pathtwinSpeed.running.then(() => 1)");
    let value = |browser: &mut Browser, id: &str| {
        browser.value(&format!(
            "Number(document.getElementById('{id}').value.split(' ')[0])"
        ))
    };
    // A server of an ordinary user may not use every congestion control: the whole test was refused
    // then, uploads as well.
    let (can, lacks): (Vec<_>, Vec<_>) = [("bbr", "down-bbr"), ("cubic", "down-cubic")]
        .into_iter()
        .partition(|(cc, _)| may_use(cc));
    for (_, id) in lacks {
        assert!(value(&mut browser, id).is_null(), "{id}");
    }
    let ids = can.iter().map(|(_, id)| *id);
    for id in ids.chain(["down-many", "up-one", "up-many"]) {
        let mbps = value(&mut browser, id).as_f64().unwrap();
        assert!((30.0..55.0).contains(&mbps), "{id}: {mbps} of 50 Mbit/s");
    }
    // The page is the Chinese one, the last of those above.
    let open =
        browser.value("document.getElementById('verdict').textContent.includes('尚不能判断')");
    assert_eq!(open, can.len() < 2);
    assert!(value(&mut browser, "idle").as_f64().unwrap() > 0.0);
    // A refused WebSocket is an error of the console that no script can prevent.
    let refused = |error: &String| error.contains("ndt/v7/download?cc=") && can.len() < 2;
    browser.errors.retain(|error| !refused(error));
    assert!(browser.errors.is_empty(), "{:?}", browser.errors);
}

#[test]
fn the_keyboard_reaches_the_button_with_visible_focus_and_starts_the_test() {
    let served = Served::start(&["--open", "--max-rate", "50mbit"]);
    let mut browser = Browser::start();
    for page in ["/", "/?lang=zh-CN"] {
        browser.visit(&format!("http://{}{page}", served.address), DESK);
        // The other language is in the header, and the table can be scrolled.
        let mut reached = Vec::new();
        for _ in 0..3 {
            browser.press("Tab", false);
            let shown = browser.value(
                "(() => {
                    const at = document.activeElement;
                    const style = getComputedStyle(at);
                    const visible = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
                    return `${at.id || at.className || at.localName}${visible ? '' : ' invisible'}`;
                })()",
            );
            reached.push(shown.as_str().unwrap().to_owned());
        }
        assert_eq!(reached, ["a", "start", "wide"], "{page}");
        browser.press("Tab", true);
        browser.press("Enter", false);
        browser.until("window.pathtwinSpeed.running !== null");
        browser.until("document.getElementById('status').textContent !== ''");
        assert_eq!(
            browser.value("document.getElementById('start').disabled"),
            true
        );
        assert!(browser.errors.is_empty(), "{page}: {:?}", browser.errors);
    }
}

#[test]
fn the_sign_in_page_passes_an_accessibility_checker() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let served = Served::start(&["--key", &file("key"), "--web-token", &file("token")]);
    let mut browser = Browser::start();
    for (name, viewport) in VIEWPORTS {
        for page in ["/", "/?lang=zh-CN"] {
            let url = format!("http://{}{page}", served.address);
            browser.check(&format!("{name} {page}"), &url, viewport);
            let field = browser.value("document.querySelectorAll('#token').length");
            assert_eq!(field, 1, "{name} {page}");
        }
    }
    // The page after a wrong token.
    browser.value("document.getElementById('token').value = 'x'; document.forms[0].submit()");
    browser.until("document.querySelector('[role=alert]') !== null");
    browser.accessible("wrong token", PHONE);
}

/// Steps of a flow with a constant rate: ms, and the bytes since the step before. `every` ms, from
/// `phase` until `end`; each step is `growth` times as long as the one before, as the messages of
/// ndt7 are.
fn steps(mbps: f64, [every, growth, phase, end]: [f64; 4]) -> Vec<[f64; 2]> {
    let (mut at, mut every, mut found) = (phase, every, Vec::new());
    while at <= end {
        // Mbit/s are 125 bytes a ms.
        found.push([at, 125.0 * mbps * every]);
        every *= growth;
        at += every;
    }
    found
}

/// Bug: the first step after the first two seconds counted whole, though a part of its bytes had
/// come before: with steps of 250 ms, one flow was 1.5 % too high on average.
#[test]
fn a_constant_rate_is_shown_exactly_at_any_phase_of_the_steps() {
    let served = Served::start(&["--open"]);
    let mut browser = Browser::start();
    browser.visit(&format!("http://{}/", served.address), DESK);
    let mut shown = |flows: &[Vec<[f64; 2]>]| {
        let flows = serde_json::to_string(flows).unwrap();
        let mbps = browser.value(&format!("window.pathtwinSpeed.goodput({flows})"));
        mbps.as_f64().unwrap_or(f64::NAN)
    };
    let mut is = |mbps: f64, flows: &[Vec<[f64; 2]>]| {
        let found = shown(flows);
        assert!((found / mbps - 1.0).abs() < 1e-9, "{found} of {mbps}");
    };
    for phase in [0.0, 3.0, 61.0, 124.9, 200.0, 249.0] {
        for [every, growth] in [[1.7, 1.0], [250.0, 1.0], [900.0, 1.0], [20.0, 1.1]] {
            is(48.0, &[steps(48.0, [every, growth, phase, 10_000.0])]);
        }
        // Flows of different rates, of which one begins later and one ends earlier.
        let four = [
            steps(7.0, [250.0, 1.0, phase, 10_000.0]),
            steps(11.0, [250.0, 1.0, 250.0 - phase, 9_300.0]),
            steps(1.0, [400.0, 1.0, 10.0, 10_100.0]),
            steps(20.0, [20.0, 1.1, 180.0 + phase, 11_000.0]),
        ];
        is(39.0, &four);
    }
    // A flow that never sent, and one that ended before anything counts.
    let one = steps(48.0, [250.0, 1.0, 250.0, 10_000.0]);
    is(48.0, &[one, vec![], steps(5.0, [250.0, 1.0, 0.0, 1_900.0])]);
    assert!(shown(&[]).is_nan() && shown(&[vec![[1.0, 1.0]], vec![]]).is_nan());
}

/// Returns true if this user may give a socket that congestion control.
fn may_use(cc: &str) -> bool {
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::sockopt::set_tcp_congestion(&socket, cc).is_ok()
}

/// Two network namespaces, and a router between them with 20 Mbit/s each way. At the ends, a queue
/// would stay short: the kernel keeps each of its own flows to a few packets there (TCP small
/// queues, net/ipv4/tcp_output.c of Linux 6.12, `tcp_small_queue_check`).
struct Line {
    name: String,
}

impl Line {
    /// With a queue of that many ms each way. `None` with a printed reason where the test may not
    /// make them.
    fn new(number: u32, queue_ms: u32) -> Option<Self> {
        let tools = ["ip", "tc"];
        let missing = tools.map(|tool| Command::new(tool).arg("-V").output().is_err());
        if !is_root() || missing.contains(&true) {
            eprintln!("skipped: needs root, ip and tc");
            return None;
        }
        let line = Self {
            name: format!("ptst{}-{number}", std::process::id()),
        };
        for end in ENDS {
            run("ip", &["netns", "add", &line.namespace(end)]);
            line.ip(end, "link set lo up");
        }
        for (end, network) in [("near", "198.18.1"), ("far", "198.18.2")] {
            line.join(end, network, queue_ms);
        }
        let forward = "echo 1 > /proc/sys/net/ipv4/ip_forward";
        let router = line.namespace("router");
        run("ip", &["netns", "exec", &router, "sh", "-c", forward]);
        Some(line)
    }

    /// Joins an end with the router, which shapes what it sends there.
    fn join(&self, end: &str, network: &str, queue_ms: u32) {
        let (own, router) = (self.namespace(end), self.namespace("router"));
        let pair = format!("link add line netns {own} type veth peer name {end} netns {router}");
        run("ip", &pair.split(' ').collect::<Vec<_>>());
        for (at, link, last) in [(end, "line", 2), ("router", end, 1)] {
            self.ip(at, &format!("address add {network}.{last}/24 dev {link}"));
            // A bucket counts packets, not segments of 64 KiB.
            self.ip(at, &format!("link set {link} gso_max_segs 1"));
            self.ip(at, &format!("link set {link} up"));
        }
        self.ip(end, &format!("route add default via {network}.1"));
        let bucket = format!(
            "-n {router} qdisc add dev {end} root tbf rate 20mbit burst 16kb latency {queue_ms}ms"
        );
        run("tc", &bucket.split(' ').collect::<Vec<_>>());
    }

    fn ip(&self, end: &str, arguments: &str) {
        let namespace = self.namespace(end);
        let arguments = arguments.split(' ');
        run(
            "ip",
            &["-n", &namespace]
                .into_iter()
                .chain(arguments)
                .collect::<Vec<_>>(),
        );
    }

    fn namespace(&self, end: &str) -> String {
        format!("{}-{end}", self.name)
    }

    /// What the page finds over the line: its verdicts, and the figures of some places.
    fn tested<const N: usize>(&self, places: [&str; N]) -> (Vec<String>, [f64; N]) {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace("far")]);
        command.arg(pathtwin().get_program());
        // Five loads of five seconds: enough for cubic to queue more than 100 ms.
        let served = Served::start_by(command, "198.18.2.2", &["--open", "--max-time", "5s"]);
        let mut browser = Browser::start_by(&["ip", "netns", "exec", &self.namespace("near")]);
        browser.visit(&format!("http://{}/", served.address), DESK);
        browser.value("document.getElementById('start').click()");
        browser.value("window.pathtwinSpeed.running.then(() => 1)");
        let said = browser.value("document.getElementById('status').textContent");
        let figures = places.map(|place| {
            let shown = browser.value(&format!("document.getElementById('{place}').value"));
            let number = shown.as_str().and_then(|text| text.split(' ').next());
            let number = number.and_then(|text| text.parse().ok());
            number.unwrap_or_else(|| panic!("{place}: {shown}: {said}"))
        });
        let texts = "JSON.parse(document.getElementById('words').dataset.words)";
        let verdicts = browser.value(&format!(
            "(texts => [...document.querySelectorAll('#verdict li')].map(li =>
                Object.keys(texts).find(key => texts[key] === li.textContent)))({texts})"
        ));
        let verdicts = serde_json::from_value(verdicts).expect("known texts");
        // Chromium ignores this policy without TLS, except on this host, and says so.
        let is_ignored = |error: &String| error.contains("Cross-Origin-Opener-Policy");
        browser.errors.retain(|error| !is_ignored(error));
        assert!(browser.errors.is_empty(), "{:?}", browser.errors);
        (verdicts, figures)
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        for end in ENDS {
            let name = self.namespace(end);
            let _ = Command::new("ip").args(["netns", "del", &name]).status();
        }
    }
}

const ENDS: [&str; 3] = ["near", "router", "far"];

fn run(program: &str, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).status();
    assert!(status.expect("run it").success(), "{program} {arguments:?}");
}

/// Payload of a line of 20 Mbit/s, less headers of 66 in 1514 bytes.
const PAYLOAD_MBPS: f64 = 20.0 * 1448.0 / 1514.0;

/// A real line whose queue holds 400 ms: cubic fills it, and every other packet waits behind that.
#[test]
fn a_deep_buffer_between_browser_and_server_is_the_verdict() {
    let Some(line) = Line::new(1, 400) else {
        return;
    };
    let (verdicts, [down, down_rtt, up_rtt, idle]) =
        line.tested(["down-cubic", "down-cubic-rtt", "up-many-rtt", "idle"]);
    println!("{down} Mbit/s, {down_rtt} ms down, {up_rtt} ms up, {idle} ms idle: {verdicts:?}");
    assert!(
        verdicts.contains(&"verdict-buffer".to_owned()),
        "{verdicts:?}"
    );
    for wrong in ["control", "receiver", "wireless", "none"] {
        assert!(
            !verdicts.contains(&format!("verdict-{wrong}")),
            "{verdicts:?}"
        );
    }
    // A queue adds at most what it holds; its other direction has only acknowledgements and probes.
    let longest = down_rtt.max(up_rtt);
    assert!((100.0..420.0 + idle).contains(&longest), "{longest} ms");
    assert!(
        (0.9 * PAYLOAD_MBPS..1.02 * PAYLOAD_MBPS).contains(&down),
        "{down} Mbit/s"
    );
}

/// The same line with a queue of 40 ms cannot add 100 ms.
#[test]
fn a_short_buffer_between_browser_and_server_is_not_the_verdict() {
    let Some(line) = Line::new(2, 40) else {
        return;
    };
    let (verdicts, [down_rtt, up_rtt, idle]) =
        line.tested(["down-cubic-rtt", "up-many-rtt", "idle"]);
    println!("{down_rtt} ms down, {up_rtt} ms up, {idle} ms idle: {verdicts:?}");
    assert!(
        !verdicts.contains(&"verdict-buffer".to_owned()),
        "{verdicts:?}"
    );
}
