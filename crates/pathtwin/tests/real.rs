//! A real userspace tunnel over real shapers, in real time, on the kernel of this host: a few of
//! the settings of `bench/real` with a short plan. Needs root; otherwise it is skipped.

#![allow(clippy::expect_used)]

mod common;

use std::{path::Path, process::Command};

use common::{is_root, text};
use serde_json::Value;

/// Sufficient to determine the rate and the queue of each direction.
const PLAN: &str = r#"
repeats = { min = 1, max = 1 }
[[step]]
kind = "idle"
duration_s = 1
[[step]]
kind = "udp_sweep"
direction = "down"
from_bps = 1_000_000
to_bps = 200_000_000
duration_s = 1
[[step]]
kind = "udp_sweep"
direction = "up"
from_bps = 1_000_000
to_bps = 200_000_000
duration_s = 1
[[step]]
kind = "tcp"
direction = "down"
flows = 1
cc = ["cubic"]
warmup_s = 2
duration_s = 5
repeat = true
[[step]]
kind = "tcp"
direction = "up"
flows = 1
cc = ["cubic"]
warmup_s = 2
duration_s = 5
repeat = true
"#;

/// The setting of `bench/real` with this in its name, judged there; `None` if this host cannot run
/// it.
fn judged(name: &str) -> Option<Value> {
    if !is_root() {
        eprintln!("skipped: namespaces and shapers need root");
        return None;
    }
    let folder = tempfile::tempdir().expect("make a folder");
    let plan = folder.path().join("plan.toml");
    std::fs::write(&plan, PLAN).expect("write the plan");
    let output = Command::new("python3")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/real"))
        .args(["--only", name, "--output", "jsonl", "--out"])
        .arg(folder.path().join("runs"))
        .arg("--plan")
        .arg(&plan)
        .env("PATHTWIN", env!("CARGO_BIN_EXE_pathtwin"))
        .output()
        .expect("run bench/real");
    let err = text(&output.stderr);
    assert_ne!(output.status.code(), Some(3), "{err}");
    let row = serde_json::from_str(text(&output.stdout).trim());
    Some(row.unwrap_or_else(|e| panic!("{e}: {err}")))
}

/// The measured facts, capacity and finding match the setting.
fn check(name: &str) {
    let Some(row) = judged(name) else { return };
    for what in ["facts", "capacity", "finding"] {
        assert_eq!(row[what], Value::Array(Vec::new()), "{what}: {row}");
    }
}

#[test]
fn wireguard_go_over_a_long_queue_is_named() {
    check("queue-up-20m-wireguard-go");
}

#[test]
fn a_full_path_on_a_busy_machine_has_no_loud_finding() {
    check("full-50m-plain");
}
