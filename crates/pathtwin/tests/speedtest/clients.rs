//! Clients of others, what they move, and the limits of the server.

use std::{
    io::{Read, Write},
    net::TcpStream,
    path::PathBuf,
};

use crate::{browser::Browser, common::text, served::Served};

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
