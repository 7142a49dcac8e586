//! Nothing on the network changes this host: a `serve` with all that it offers, as root, while a
//! change waits for its confirmation.

use std::{
    io::Write,
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream, UdpSocket},
    path::Path,
    process::{Command, Output},
    time::Duration,
};

use super::{
    ECN,
    common::{is_measured, pathtwin, server::Server, text},
    ecn, namespace, tune,
};

const IPERF3: u16 = 5201;
const WEB: u16 = 5380;

/// Each kind of step.
const PLAN: &str = r#"
repeats = { min = 1, max = 1 }
step = [
    { kind = "idle", duration_s = 0.3 },
    { kind = "pmtu", duration_s = 1 },
    { kind = "sizes", duration_s = 0.3 },
    { kind = "udp_sweep", direction = "down", from_bps = 1_000_000, to_bps = 9_000_000, duration_s = 0.3 },
    { kind = "udp", direction = "up", rate_bps = 1_000_000, duration_s = 0.3 },
    { kind = "tcp", direction = "both", flows = 2, cc = ["reno"], warmup_s = 0.1, duration_s = 0.4 },
    { kind = "short", bytes = 1000, duration_s = 0.3 },
    { kind = "http", bytes = 1000, duration_s = 0.3 },
    { kind = "quic", direction = "down", warmup_s = 0.1, duration_s = 0.4 },
]
"#;

/// Commands and documents of `tune`, as a program may expect them.
const TEXTS: &[&str] = &[
    "tune apply --set net.ipv4.tcp_ecn=0\n",
    "tune confirm\n",
    "tune undo\n",
    r#"{"tune": {"undo": true}}"#,
    r#"{"kind": "sysctl", "name": "net.ipv4.tcp_ecn", "value": "0"}"#,
    r#"{"request": "change", "settings": [{"kind": "sysctl", "name": "net.ipv4.tcp_ecn", "value": "0"}]}"#,
];

/// All that a change may affect, and the journals.
fn dump(journal: &Path) -> String {
    let line = "ip -d link; ip address; ip route show table all; ip -6 route show table all; \
                tc qdisc; sysctl -a 2>/dev/null | grep ^net; cd \"$0\" && grep -r . .";
    let output = Command::new("sh")
        .args(["-c", line])
        .arg(journal)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    text(&output.stdout)
}

fn measured(arguments: &[&str]) -> Output {
    let mut command = pathtwin();
    command.arg("measure").args(arguments);
    let output = command.args(["--output", "json"]).output().unwrap();
    assert!(is_measured(&output), "{}", text(&output.stderr));
    output
}

/// Bytes that follow from a seed (splitmix64, Steele et al., OOPSLA 2014).
fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mix = |n: u64| {
        let mut z = (seed << 32).wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)).to_le_bytes()
    };
    (1..).flat_map(mix).take(count).collect()
}

/// Sends to a TCP port and closes. Refusals are right.
fn send(port: u16, what: &[u8]) {
    let to = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    if let Ok(mut stream) = TcpStream::connect_timeout(&to, Duration::from_secs(2)) {
        let _ = stream.write_all(what);
        let _ = stream.shutdown(Shutdown::Write);
        let _ = stream.set_read_timeout(Some(Duration::from_millis(20)));
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    }
}

fn requests(port: u16) {
    for method in ["GET", "POST", "PUT", "DELETE", "PATCH"] {
        for path in [
            "/",
            "/tune",
            "/tune/apply",
            "/tune/undo",
            "/api/v1/changes",
            "/metrics",
        ] {
            let body = TEXTS[5];
            let length = body.len();
            let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n");
            send(
                port,
                format!("{head}Content-Length: {length}\r\n\r\n{body}").as_bytes(),
            );
        }
    }
}

#[test]
fn no_request_to_a_server_of_root_changes_the_host_or_settles_a_change() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (journal, key) = (folder.path().join("journal"), folder.path().join("key"));
    let (code, message) = tune(&journal, &["apply", ECN[0], ECN[1], "--window", "30m"]);
    assert_eq!(code, Some(0), "{message}");
    let before = dump(&journal);
    assert!(before.contains("\"is\": \"applied\""), "{before}");

    let mut program = pathtwin();
    program
        .env("PATHTWIN_JOURNAL", &journal)
        .env("HOME", folder.path());
    let token = folder.path().join("token");
    let [iperf3, web] = [IPERF3, WEB].map(|port| port.to_string());
    let all = [
        "--user",
        "root",
        "--iperf3",
        &iperf3,
        "--web",
        &web,
        "--web-token",
    ];
    let all = [&all[..], &[token.to_str().unwrap()]].concat();
    let mut server = Server::start(program, &key, &all);
    let place = server.address.to_string();

    let plan = folder.path().join("plan.toml");
    std::fs::write(&plan, PLAN).unwrap();
    let [key, plan] = [&key, &plan].map(|path| path.to_str().unwrap());
    let run = measured(&[&place, "--key", key, "--plan", plan]);
    if run.status.success() {
        let run: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        let count = run["samples"].as_array().unwrap().len();
        assert!(count >= PLAN.matches("kind").count(), "{count}");
    }
    measured(&[&format!("iperf3://127.0.0.1:{IPERF3}"), "--time", "1s"]);

    requests(WEB);
    requests(server.address.port());
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    for port in [server.address.port(), IPERF3, WEB] {
        for text in TEXTS {
            send(port, text.as_bytes());
            let _ = udp.send_to(text.as_bytes(), ("127.0.0.1", port));
        }
        for seed in 0..40 {
            let noise = bytes(seed, 1 + 37 * seed as usize);
            send(port, &noise);
            let _ = udp.send_to(&noise, ("127.0.0.1", port));
        }
    }
    assert!(server.child.try_wait().unwrap().is_none(), "it ended");
    let after = dump(&journal);
    let new: Vec<&str> = after
        .lines()
        .filter(|line| !before.contains(line))
        .collect();
    assert!(after == before, "{new:#?}");

    drop(server);
    let (code, message) = tune(&journal, &["undo"]);
    assert_eq!(code, Some(0), "{message}");
    assert_ne!(ecn(), "1\n");
}
