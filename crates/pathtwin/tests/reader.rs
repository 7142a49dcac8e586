//! A reader that discards the data is served in the lab's kernel without being woken (patch 0016).
//! The same reader on a socket with `O_ASYNC` is woken as in other kernels: here the two are
//! compared.
//!
//! `PATHTWIN_SEEDS` sets over how many seeds; the default is for every test run.
//!
//! An acknowledgement shifted by 256 ns can cause the loss of another packet, and auto-tuning to
//! measure from another packet; from there on the runs diverge. Such runs must differ by chance
//! only.

#![allow(clippy::expect_used)]

mod common;

use std::path::Path;

use common::{patched, pathtwin, spec, text};
use serde_json::{Value, json};

/// Patch 0016, by the name in the image's description.
const PATCH: &str = "0016-tcp-discarding-reader.patch";

/// Full segments on a path of 1500 bytes with TCP timestamps.
const SEGMENT: f64 = 1448.0;

fn seeds(default: u64) -> u64 {
    let given = std::env::var("PATHTWIN_SEEDS").ok();
    given.and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// Runs a script on both ends; returns the output of the server's and of the client's.
fn both(path: &str, seed: u64, script: &str, server: &[&str], client: &[&str]) -> [String; 2] {
    let (_folder, path) = spec(path);
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/reader")
        .join(script);
    let output = pathtwin()
        .args([
            "lab",
            "exec",
            "--output",
            "json",
            "--seed",
            &seed.to_string(),
        ])
        .arg(&path)
        .args(["--on", "server", "--", "python3", "-B"])
        .arg(&script)
        .args(server)
        .args(["--on", "client", "--", "python3", "-B"])
        .arg(&script)
        .args(client)
        .output()
        .expect("run pathtwin");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    [0, 1].map(|n| {
        let program = &document["programs"][n];
        assert_eq!(program["stderr"], "", "{program}");
        program["stdout"].as_str().expect("text").to_owned()
    })
}

#[test]
fn what_ends_a_wait_does_so_at_the_same_time_whether_the_reader_is_served_or_woken() {
    if !patched(PATCH) {
        return;
    }
    let path = "[path]\nrtt = \"20ms\"\nrate = \"100mbit\"\n";
    let [served, woken] = ["served", "woken"].map(|how| {
        let [_, client] = both(path, 1, "events.py", &["server"], &["client", how]);
        let cases = client.lines().map(serde_json::from_str::<Value>);
        cases.collect::<Result<Vec<_>, _>>().expect("JSON lines")
    });
    // Return value of each call, by recv(2), tcp(7), socket(7) and connect(2).
    let expected = [
        ("end", json!([100_000, 0])),
        ("reset", json!([50_000, "ECONNRESET"])),
        // A read stops at the urgent mark; the byte itself is out of band.
        ("urgent", json!([30_000, "!", 20_000, 0])),
        ("timeout", json!([10_000, "EAGAIN"])),
        ("signal", json!([10_000])),
        ("shut", json!([10_000, 0])),
        ("disconnected", json!([10_000])),
        ("polled", json!([24_000, 0, true])),
        ("parts", json!([5_000, 10_000, 9_000, 0])),
        ("asynchronous", json!([24_000, 0])),
        ("mptcp", json!([24_000, 0])),
    ];
    assert_eq!(served.len(), expected.len(), "{served:?}");
    for (((name, returned), served), woken) in expected.iter().zip(&served).zip(&woken) {
        assert_eq!(served["case"], *name);
        let column = |case: &Value, n: usize| -> Vec<Value> {
            let seen = case["seen"].as_array().expect("what was seen");
            seen.iter().map(|call| call[n].clone()).collect()
        };
        assert_eq!(json!(column(served, 0)), *returned, "{name}, served");
        assert_eq!(json!(column(woken, 0)), *returned, "{name}, woken");
        for (a, b) in column(served, 1).iter().zip(column(woken, 1)) {
            let (a, b) = (a.as_i64().expect("ms"), b.as_i64().expect("ms"));
            assert!((a - b).abs() <= 1, "{name}: {served} against {woken}");
        }
    }
}

/// Result of a transfer.
#[derive(Debug)]
struct Transfer {
    seconds: f64,
    retransmitted: f64,
    /// `SO_RCVBUF` at the end, after auto-tuning, bytes.
    buffer: f64,
    /// Times the reader slept and was woken.
    switches: f64,
}

/// Parameters of a transfer.
struct Load {
    path: &'static str,
    bytes: u64,
    chunk: u64,
    pause_ms: u64,
}

impl Load {
    fn run(&self, how: &str, seed: u64) -> Transfer {
        let bytes = self.bytes.to_string();
        let (chunk, pause) = (self.chunk.to_string(), self.pause_ms.to_string());
        let receive = ["receive", how, &chunk, &pause];
        let [server, client] = both(self.path, seed, "transfer.py", &["send", &bytes], &receive);
        let server: Value = serde_json::from_str(&server).expect("JSON");
        let client: Value = serde_json::from_str(&client).expect("JSON");
        assert_eq!(client["bytes"], self.bytes);
        let number = |value: &Value| value.as_f64().expect("a number");
        Transfer {
            seconds: number(&client["seconds"]),
            retransmitted: number(&server["retransmitted"]),
            buffer: number(&client["buffer"]),
            switches: number(&client["switches"]),
        }
    }

    /// The transfers of each seed: served, woken.
    fn pairs(&self, seeds: u64) -> Vec<[Transfer; 2]> {
        let pairs: Vec<_> = (1..=seeds)
            .map(|seed| ["served", "woken"].map(|how| self.run(how, seed)))
            .collect();
        for pair in &pairs {
            println!("{pair:?}");
        }
        pairs
    }
}

/// Relative difference of a figure within a pair.
fn differs([served, woken]: &[Transfer; 2], figure: fn(&Transfer) -> f64) -> f64 {
    (figure(served) - figure(woken)).abs() / figure(woken).max(1e-9)
}

/// A woken reader's acknowledgements leave 256 ns later for each time it reads the clock. Compared
/// with a segment's 58 us at 200 Mbit/s that cannot change a transfer without losses by a
/// thousandth.
const NEGLIGIBLE: f64 = 1e-3;

#[test]
fn auto_tuning_gives_a_served_reader_the_window_of_a_woken_one() {
    if !patched(PATCH) {
        return;
    }
    let load = Load {
        path: "[path]\nrtt = \"80ms\"\nrate = \"200mbit\"\njitter = \"2ms\"\nbuffer = \"8bdp\"\n",
        bytes: 30_000_000,
        chunk: 1 << 24,
        pause_ms: 0,
    };
    let pairs = load.pairs(seeds(3));
    for pair in &pairs {
        // A larger window ends slow start some packets sooner or later at most.
        assert!(differs(pair, |t| t.seconds) < 5e-3, "{pair:?}");
        assert_eq!(pair.each_ref().map(|t| t.retransmitted), [0.0; 2]);
        let segments = load.bytes as f64 / SEGMENT;
        // The served one wakes at the end of each of its calls, the woken one for arrivals.
        assert!(pair[0].switches < 20.0, "{pair:?}");
        assert!(pair[1].switches > segments / 10.0, "{pair:?}");
    }
    let buffers: Vec<f64> = pairs
        .iter()
        .map(|[served, woken]| served.buffer - woken.buffer)
        .collect();
    assert!(by_chance(&buffers), "{buffers:?}");
}

#[test]
fn reads_that_are_slow_on_purpose_close_the_window_alike() {
    if !patched(PATCH) {
        return;
    }
    // 32 KiB each 10 ms are 26 Mbit/s at most, of 100.
    let load = Load {
        path: "[path]\nrtt = \"30ms\"\nrate = \"100mbit\"\njitter = \"1ms\"\n",
        bytes: 6_000_000,
        chunk: 1 << 15,
        pause_ms: 10,
    };
    for pair in load.pairs(seeds(3)) {
        assert!(differs(&pair, |t| t.seconds) < NEGLIGIBLE, "{pair:?}");
        assert!(differs(&pair, |t| t.buffer) < 0.01, "{pair:?}");
        let fastest = load.bytes as f64 / load.chunk as f64 * 0.01;
        assert!(pair[0].seconds > fastest * 0.99, "{pair:?}");
    }
}

#[test]
fn under_loss_served_and_woken_readers_differ_by_chance_only() {
    if !patched(PATCH) {
        return;
    }
    let paths = [
        "[path]\nrtt = \"30ms\"\nrate = \"50mbit\"\nloss = \"0.1%\"\n[ends]\ncc = \"cubic\"\n",
        "[path]\nrtt = \"30ms\"\nrate = \"50mbit\"\nloss = \"0.1%\"\n[ends]\ncc = \"bbr\"\n",
        // Slow start overshoots a buffer of 1 BDP while the window is still being tuned.
        "[path]\nrtt = \"80ms\"\nrate = \"100mbit\"\njitter = \"2ms\"\n",
    ];
    for path in paths {
        let load = Load {
            path,
            bytes: 8_000_000,
            chunk: 1 << 24,
            pause_ms: 0,
        };
        let pairs = load.pairs(seeds(12));
        for figure in [
            |t: &Transfer| t.seconds,
            |t: &Transfer| t.retransmitted,
            |t: &Transfer| t.buffer,
        ] {
            // The 256 ns of each clock read add up to some us: no more than is negligible.
            let differences: Vec<f64> = pairs
                .iter()
                .filter(|pair| differs(pair, figure) > NEGLIGIBLE)
                .map(|[served, woken]| figure(served) - figure(woken))
                .collect();
            assert!(by_chance(&differences), "{path}: {differences:?}");
        }
    }
}

/// Sign test, two-sided: under chance alone it fails once in a thousand times.
fn by_chance(differences: &[f64]) -> bool {
    let up = differences.iter().filter(|d| **d > 0.0).count();
    let down = differences.iter().filter(|d| **d < 0.0).count();
    let (n, fewer) = (up + down, up.min(down));
    let choose = |k: usize| (0..k).fold(1.0, |c, i| c * (n - i) as f64 / (i + 1) as f64);
    let tail: f64 = (0..=fewer).map(choose).sum();
    (2.0 * tail / 2f64.powi(n as i32)).min(1.0) >= 1e-3
}

#[test]
fn the_sign_test_tells_chance_from_a_shift() {
    // Of ten equal signs: 2 / 2^10 = 0.002; of eleven: 2 / 2^11 = 0.00098.
    assert!(by_chance(&[1.0; 10]) && !by_chance(&[1.0; 11]));
    assert!(by_chance(&[]) && by_chance(&[1.0, -1.0, 0.0]));
}
