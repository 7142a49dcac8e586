//! `pathtwin tune` in a network namespace: output, changes, and exit codes.

#![allow(clippy::expect_used, clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;
mod confirmation;
mod documents;
mod far;
mod network;
mod privileges;
mod proof;
#[cfg(feature = "history")]
mod recheck;
mod snippets;
mod undoing;

use std::{io::Write, path::Path, process::Stdio};

use common::{is_root, pathtwin, text};

/// Runs a command; returns its exit code and output.
fn tune(journal: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    tune_with(journal, arguments, "")
}

/// The same with `input` on standard input.
fn tune_with(journal: &Path, arguments: &[&str], input: &str) -> (Option<i32>, String) {
    let mut child = pathtwin()
        .arg("tune")
        .args(arguments)
        .env("PATHTWIN_JOURNAL", journal)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("run pathtwin");
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().expect("wait for pathtwin");
    let message = text(&output.stdout) + &text(&output.stderr);
    (output.status.code(), message)
}

fn ecn() -> String {
    std::fs::read_to_string("/proc/sys/net/ipv4/tcp_ecn").unwrap()
}

/// Moves this thread, and processes it starts, into a new namespace.
fn namespace() -> bool {
    if !is_root() {
        println!("skipped: needs root");
        return false;
    }
    let ns = sys::Netns::create().unwrap();
    ns.loopback_up().unwrap();
    ns.enter().unwrap();
    true
}

const ECN: [&str; 2] = ["--set", "net.ipv4.tcp_ecn=1"];
