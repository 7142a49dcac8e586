//! `--engine native`: the kernel of this host. Needs root; states it and passes without.

#![allow(clippy::expect_used)]

mod common;

use std::{process::Stdio, thread, time::Duration};

use common::{is_root, parse, pathtwin, sandboxes_of, spec, text};

/// Only features of every kernel: a token bucket and plain queues.
const EVERYWHERE: &str = r#"
name = "native"
duration = "1s"
warmup = "500ms"
idle = "200ms"
[path]
rtt = "0ms"
rate = "50mbit"
buffer = "50p"
[ends]
qdisc = "fifo"
"#;

/// Returns the state of a host that a run could have changed: namespaces, devices, mounts,
/// settings.
fn state() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let names = |path: &str| {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        let mut names: Vec<_> = entries
            .map(|e| e.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names.join(" ")
    };
    [
        names("/sys/class/net"),
        names("/run/netns"),
        read("/proc/self/mounts"),
        read("/proc/sys/net/ipv4/tcp_mem"),
        read("/proc/sys/net/ipv4/tcp_rmem"),
        read("/proc/sys/net/ipv4/ip_forward"),
        read("/proc/sys/net/core/default_qdisc"),
    ]
    .join("\n")
}

/// Returns true if this test can run; prints why not.
fn can() -> bool {
    if !is_root() {
        eprintln!("skipped: the native engine needs root");
    }
    is_root()
}

#[test]
fn a_path_on_the_hosts_own_kernel_gives_its_rate() {
    if !can() {
        return;
    }
    let before = state();
    let (_folder, path) = spec(EVERYWHERE);
    let output = pathtwin()
        .args(["lab", "run", "--engine", "native", "--output", "jsonl"])
        .arg(&path)
        .output()
        .expect("run pathtwin");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let row = &parse(&output)[0];
    let share = row["goodput_mbps"].as_f64().expect("a goodput") / 50.0;
    // In real time a busy host may be late, but the shaper never lets more than its rate through.
    assert!((0.01..0.98).contains(&share), "{share}");
    assert_eq!(state(), before);
}

#[test]
fn kill_9_leaves_nothing_of_a_native_path() {
    if !can() {
        return;
    }
    let before = state();
    let (_folder, path) = spec(EVERYWHERE);
    let mut child = pathtwin()
        .args(["lab", "run", "--engine", "native", "--set", "duration=60s"])
        .arg(&path)
        .stdout(Stdio::null())
        .spawn()
        .expect("run pathtwin");
    thread::sleep(Duration::from_millis(1500));
    let guests = common::guests_of(child.id());
    assert!(!guests.is_empty(), "the path stands");
    child.kill().expect("kill");
    child.wait().expect("wait");
    let gone = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z")
    };
    for _ in 0..500 {
        if guests.iter().all(gone) {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    assert!(guests.iter().all(gone));
    assert_eq!(state(), before);
    // The next start removes the folder in memory that the killed one left.
    let short = ["lab", "run", "--engine", "native", "--output", "jsonl"];
    assert!(
        pathtwin()
            .args(short)
            .arg(&path)
            .output()
            .expect("run pathtwin")
            .status
            .success()
    );
    assert!(sandboxes_of(child.id()).is_empty());
}

#[test]
fn missing_features_are_listed_before_anything_is_changed() {
    if !can() {
        return;
    }
    let before = state();
    let (_folder, path) =
        spec(&EVERYWHERE.replace("qdisc = \"fifo\"", "qdisc = \"fifo\"\ncc = \"no_such_cc\""));
    let output = pathtwin()
        .args(["lab", "run", "--engine", "native"])
        .arg(&path)
        .output()
        .expect("run pathtwin");
    assert_eq!(output.status.code(), Some(3));
    let message = text(&output.stderr);
    assert!(
        message.contains("no_such_cc") && message.contains("nothing was changed"),
        "{message}"
    );
    assert_eq!(state(), before);
}
