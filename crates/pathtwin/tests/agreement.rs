//! The speed test of `serve --web` beside `measure`, on the same lab path, in virtual time: a short
//! version of `bench/speedtest`, which takes a real browser.

#![cfg(feature = "page")]
#![allow(clippy::expect_used)]

mod common;

use common::{pathtwin, spec, text};
use serde_json::Value;

const PATH: &str = r#"
[path]
rtt = "20ms"
rate = "20mbit"
buffer = "60ms"
"#;

/// A client of ndt7 (m-lab/ndt-server, spec/ndt7-protocol.md, 0.11): one connection of cubic each
/// way. The first two seconds do not count, as in the plan below.
const CLIENT: &str = r#"
import json, re, socket, threading, time
def connect(way):
    s = socket.create_connection(("server", 5302))
    key = "dGhlIHNhbXBsZSBub25jZQ=="
    s.sendall((f"GET /ndt/v7/{way}?cc=cubic HTTP/1.1\r\nHost: server:5302\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Protocol: net.measurementlab.ndt.v7\r\n\r\n").encode())
    head = b""
    while b"\r\n\r\n" not in head:
        head += s.recv(1)
    assert b" 101 " in head.split(b"\r\n")[0], head
    return s
def rate(points):
    # Seconds and bytes: from the first after two seconds to the last.
    points = [p for p in points if 2 < p[0] < 9]
    (t0, b0), (t1, b1) = points[0], points[-1]
    return 8 * (b1 - b0) / (t1 - t0)
def download():
    s, points, all = connect("download"), [], 0
    begun = time.monotonic()
    while n := len(s.recv(1 << 20)):
        all += n
        points.append((time.monotonic() - begun, all))
    return rate(points)
def upload():
    s, said = connect("upload"), []
    def listen():
        try:
            while data := s.recv(1 << 16):
                said.append(data)
        except OSError:
            pass
    threading.Thread(target=listen, daemon=True).start()
    size, begun = 1 << 16, time.monotonic()
    # Binary, final, masked with a key of zeros.
    frame = bytes([0x82, 0xff]) + size.to_bytes(8, "big") + bytes(4) + bytes(size)
    try:
        while time.monotonic() - begun < 10:
            s.sendall(frame)
    except OSError:
        pass
    # What the server received, by its own messages; a sender does not see what waits in queues.
    found = re.findall(rb'"BytesReceived":(\d+)[^{}]*?"ElapsedTime":(\d+)', b"".join(said))
    return rate([(int(us) / 1e6, int(bytes)) for bytes, us in found])
print("download", download())
print("upload", upload())
"#;

const PLAN: &str = r#"
name = "agreement"
hotspots = false
repeats = { min = 1, max = 1 }
[[step]]
kind = "tcp"
direction = "down"
flows = 1
cc = ["cubic"]
warmup_s = 2
duration_s = 7
repeat = true
[[step]]
kind = "tcp"
direction = "up"
flows = 1
cc = ["cubic"]
warmup_s = 2
duration_s = 7
repeat = true
"#;

#[test]
fn the_speed_test_agrees_with_measure_within_three_percent() {
    let (_folder, path) = spec(PATH);
    let program = pathtwin().get_program().to_owned();
    let program = program.to_str().expect("a path in UTF-8");
    let script = format!(
        "cat > /tmp/client.py <<'END'\n{CLIENT}END\ncat > /tmp/plan.toml <<'END'\n{PLAN}END\n\
         python3 /tmp/client.py\n\
         \"$1\" measure server --open --no-store --plan /tmp/plan.toml --output json"
    );
    let output = pathtwin()
        .args(["lab", "exec"])
        .arg(&path)
        .args(["--on", "server", "--", program])
        .args(["serve", "--open", "--user", "root", "--web", "5302"])
        .args(["--on", "client", "--", "sh", "-euc", &script, "sh", program])
        .output()
        .expect("run pathtwin");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    let run: Value = serde_json::from_str(&out[out.find('{').expect("a Run")..]).expect("a Run");
    for (way, direction) in [("download", "down"), ("upload", "up")] {
        let line = out.lines().find_map(|line| line.strip_prefix(way));
        let tested: f64 = line.expect("a figure").trim().parse().expect("a number");
        let samples = run["samples"].as_array().expect("samples").iter();
        let mut own = samples.filter(|sample| sample["key"]["direction"] == direction);
        let measured = own.next().and_then(|s| s["tcp"]["goodput_bps"].as_f64());
        let measured = measured.expect("a goodput");
        let by = tested / measured - 1.0;
        assert!(
            by.abs() < 0.03,
            "{way}: {tested} by the test, {measured} by measure"
        );
        // Both are below the line's 20 Mbit/s, less headers of 66 in 1514 bytes.
        assert!(tested < 20e6 * 1448.0 / 1514.0 * 1.005, "{way}: {tested}");
    }
}
