//! Runs that lack requested measurements: the output states that first, and the exit code shows it.

#![allow(clippy::expect_used)]

mod common;

use std::path::{Path, PathBuf};

use common::{pathtwin, server::Server, text};
use serde_json::{Value, json};

/// A UDP load and an idle step, whose samples do not depend on processors.
const PLAN: &str = r#"
repeats = { min = 1, max = 1 }
[[step]]
kind = "idle"
duration_s = 0.3
[[step]]
kind = "udp"
direction = "up"
rate_bps = 800_000
payload = 1000
duration_s = 0.3
"#;

fn file(folder: &Path, name: &str, text: &str) -> PathBuf {
    let file = folder.join(name);
    std::fs::write(&file, text).expect("write a file");
    file
}

/// Bug: it was a note below all tables, and the facts, which were about the route to that address,
/// described no route.
#[test]
fn an_unreachable_tunnel_address_is_reported_first() {
    let folder = tempfile::tempdir().expect("make a folder");
    let key = folder.path().join("key");
    let plan = file(folder.path(), "plan.toml", PLAN);
    let out = folder.path().join("run.json");
    let server = Server::start(pathtwin(), &key, &[]);
    // The server listens on 127.0.0.1 only.
    let output = pathtwin()
        .args(["measure", &server.address.to_string()])
        .args(["--via", "127.0.0.9", "--no-store", "--key"])
        .arg(&key)
        .arg("--plan")
        .arg(&plan)
        .arg("--out")
        .arg(&out)
        .output()
        .expect("run pathtwin");
    let (message, shown) = (text(&output.stderr), text(&output.stdout));
    assert_eq!(output.status.code(), Some(4), "{message}");
    assert!(message.starts_with("pathtwin: the tunnel is not measured: connect to 127.0.0.9:"));
    assert!(
        shown.starts_with("NOT REACHED: the tunnel address 127.0.0.9"),
        "{shown}"
    );
    let run: Value = serde_json::from_slice(&std::fs::read(&out).expect("the run")).expect("JSON");
    assert_eq!(run["unreached"][0]["far"], "127.0.0.9");
    // The facts are of the path that was measured.
    let path = &run["near"]["facts"]["path"];
    assert_eq!(path["toward"], "127.0.0.1");
    assert_eq!(path["layers"][0]["route"]["device"], "lo");
}

/// Bug: against an iperf3 server none of 12 samples was valid, no figure was shown, and the exit
/// code was 0.
#[test]
fn a_run_without_valid_samples_states_that_first() {
    let folder = tempfile::tempdir().expect("make a folder");
    let key = folder.path().join("key");
    let plan = "repeats = { min = 1, max = 1 }\n[[step]]\nkind = \"tcp\"\ndirection = \"up\"\n\
                flows = 1\ncc = [\"no-such\"]\nwarmup_s = 0.1\nduration_s = 0.3\nrepeat = true\n";
    let plan = file(folder.path(), "plan.toml", plan);
    let server = Server::start(pathtwin(), &key, &[]);
    let output = pathtwin()
        .args(["measure", &server.address.to_string(), "--no-store"])
        .arg("--key")
        .arg(&key)
        .arg("--plan")
        .arg(&plan)
        .output()
        .expect("run pathtwin");
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(4), "{shown}");
    let first =
        "TOO FEW SAMPLES COUNT: 0 of 1; no TCP throughput counts: underlay up\n  1 sample: ";
    assert!(shown.starts_with(first), "{shown}");
    assert!(text(&output.stderr).contains("too few samples count: 0 of 1"));
}

/// A run with a goodput of each value, and an idle sample.
fn run(id: &str, goodputs: &[f64], valid: bool) -> String {
    let sample = |number: usize, step: &str, bps: Option<&f64>| {
        let mut sample = json!({
            "number": number, "block": 1, "at_us": number, "took_us": 1,
            "valid": valid || bps.is_none(),
            "key": {"step": step, "layer": "underlay", "family": "v4"},
            "probes": {"sent": 100, "n": 100, "lost": 0.0, "p50_us": 20_000.0,
                       "kernel_times": true},
        });
        if let Some(bps) = bps {
            sample["key"]["direction"] = json!("down");
            sample["tcp"] = json!({"window_us": [0, 1_000_000], "goodput_bps": bps, "bytes": 1,
                                   "flows": []});
        }
        sample
    };
    let mut samples = vec![sample(0, "idle", None)];
    let bulk = goodputs.iter().enumerate();
    samples.extend(bulk.map(|(n, bps)| sample(n + 1, "tcp", Some(bps))));
    json!({"schema": 1, "id": id, "program": "t", "started_us": 0, "took_s": 1.0,
           "plan": {"step": []}, "near": {"program": "t", "facts": {"schema": 1}},
           "far": {"program": "t", "facts": {"schema": 1}}, "layers": [], "samples": samples,
           "figures": [], "ratios": []})
    .to_string()
}

#[test]
fn a_comparison_without_any_throughput_fails() {
    let folder = tempfile::tempdir().expect("make a folder");
    let file = |name: &str, valid| {
        let text = run(name, &[5e6, 5.1e6, 4.9e6], valid);
        file(folder.path(), name, &text)
    };
    let (good, bad) = (file("a", true), file("b", false));
    let compare = |before: &Path, after: &Path| {
        let mut command = pathtwin();
        let command = command.arg("compare").arg(before).arg(after);
        command.output().expect("run pathtwin")
    };
    let output = compare(&good, &bad);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("NOT COMPARED: no throughput is compared"));
    assert!(text(&output.stderr).contains("3 of 3 are valid before and 0 of 3 after"));
    assert_eq!(compare(&good, &good).status.code(), Some(0));
}
