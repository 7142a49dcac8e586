//! A real userspace tunnel over real shapers, in real time, on the kernel of this host: a few of
//! the settings of `bench/real` with a short plan, and of those of `bench/real-twin`, which need
//! the lab, too. Needs root; otherwise it is skipped.

#![allow(clippy::expect_used)]

mod common;

use std::{path::Path, process::Command};

use common::{guest, is_root, text};
use serde_json::Value;

/// Sufficient to determine the rate and the queue of each direction.
const PLAN: &str = r#"
repeats = { min = REPEATS, max = REPEATS }
[[step]]
kind = "idle"
duration_s = 1
[[step]]
kind = "udp_sweep"
direction = "down"
from_bps = 1_000_000
to_bps = 200_000_000
duration_s = 1
repeat = true
[[step]]
kind = "udp_sweep"
direction = "up"
from_bps = 1_000_000
to_bps = 200_000_000
duration_s = 1
repeat = true
[[step]]
kind = "tcp"
direction = "down"
flows = 1
cc = ["CC"]
warmup_s = 2
duration_s = 5
[[step]]
kind = "tcp"
direction = "up"
flows = 1
cc = ["CC"]
warmup_s = 2
duration_s = 5
"#;

/// The plan with so many sweeps and this congestion control.
fn plan(repeats: u32, cc: &str) -> String {
    PLAN.replace("REPEATS", &repeats.to_string())
        .replace("CC", cc)
}

/// The setting of `bench/real` with this in its name, judged there; `None` if this host cannot run
/// it.
fn judged(name: &str) -> Option<Value> {
    if !is_root() {
        eprintln!("skipped: namespaces and shapers need root");
        return None;
    }
    let folder = tempfile::tempdir().expect("make a folder");
    let file = folder.path().join("plan.toml");
    // Where the machine stalls for 70 ms, the bucket loses an eighth of half a second: the median
    // of three.
    std::fs::write(&file, plan(3, "cubic")).expect("write the plan");
    let output = Command::new("python3")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/real"))
        .args(["--only", name, "--output", "jsonl", "--out"])
        .arg(folder.path().join("runs"))
        .arg("--plan")
        .arg(&file)
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
fn a_shaper_on_the_senders_own_device_below_boringtun_is_named() {
    check("sender-up-20m-boringtun");
}

#[test]
fn a_full_path_on_a_busy_machine_has_no_loud_finding() {
    check("full-50m-plain");
}

/// One of the settings of `bench/real-twin`, with a short plan and a short search.
fn really_set(name: &str) -> Option<Value> {
    if !is_root() {
        eprintln!("skipped: namespaces and shapers need root");
        return None;
    }
    if cfg!(not(feature = "lab")) || !guest().exists() {
        eprintln!("skipped: no lab: make build kernel");
        return None;
    }
    let folder = tempfile::tempdir().expect("make a folder");
    let file = folder.path().join("plan.toml");
    // Every namespace may have reno as its default, cubic only if the host permits it.
    std::fs::write(&file, plan(1, "reno")).expect("write the plan");
    let output = Command::new("python3")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/real-twin/run"))
        .args([
            "--only", name, "--cc", "reno", "--budget", "10s", "--trial", "30s",
        ])
        .args(["--output", "jsonl", "--out"])
        .arg(folder.path().join("documents"))
        .arg("--plan")
        .arg(&file)
        .env("PATHTWIN", env!("CARGO_BIN_EXE_pathtwin"))
        .env("PATHTWIN_GUEST", guest())
        .output()
        .expect("run bench/real-twin/run");
    let err = text(&output.stderr);
    assert_ne!(output.status.code(), Some(3), "{err}");
    let row = serde_json::from_str(text(&output.stdout).trim());
    Some(row.unwrap_or_else(|e| panic!("{e}: {err}")))
}

/// One per cent of loss and 40 ms leave reno 1.22 * 1448 bytes / 40 ms / sqrt(0.01) = 3.5 Mbit/s
/// (Mathis et al., CCR 27(3), 1997) of 20, and bbr nearly all of them: a ratio of 5. A busy machine
/// may take half of that from the measurement, and a search of seconds as much from the prediction.
#[test]
fn bbr_that_is_really_set_on_a_lossy_line_has_the_predicted_effect() {
    let Some(row) = really_set("loss-20m") else {
        return;
    };
    let set = row["set"].as_str().unwrap_or_default();
    assert!(set.contains("bbr"), "{row}");
    let figures = row["figures"].as_array().expect("figures");
    let acting = figures.iter().filter(|f| f["acts"] == true);
    let goodput: Vec<_> = acting
        .filter(|f| {
            f["figure"]
                .as_str()
                .is_some_and(|name| name.starts_with("goodput"))
        })
        .collect();
    assert!(!goodput.is_empty(), "{row}");
    for figure in goodput {
        let of = |name: &str| figure[name].as_f64().unwrap_or_default();
        assert!(of("predicted") > 2.0 && of("measured") > 2.0, "{figure}");
        assert!(
            of("low") < of("predicted") && of("predicted") < of("high"),
            "{figure}"
        );
    }
}
