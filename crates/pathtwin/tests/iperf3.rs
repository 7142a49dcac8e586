//! `pathtwin iperf3`: what is printed, and the exit codes.

#![allow(clippy::expect_used)]

mod common;

use std::{
    io::{BufRead, BufReader},
    process::{Child, Output, Stdio},
};

use common::{parse, pathtwin, text};
use serde_json::Value;

/// A server on a port that the system chose.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let mut child = pathtwin()
            .args(["iperf3", "server", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("run pathtwin");
        let mut line = String::new();
        let stderr = child.stderr.take().expect("its messages");
        BufReader::new(stderr)
            .read_line(&mut line)
            .expect("a message");
        let address = line.trim().rsplit(' ').next().expect("an address");
        Self {
            address: address.to_owned(),
            child,
        }
    }

    fn client(&self, arguments: &[&str]) -> Output {
        pathtwin()
            .args(["iperf3", "client"])
            .arg(format!("iperf3://{}", self.address))
            .args(arguments)
            .output()
            .expect("run pathtwin")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn both_ends_print_the_same_figures() {
    let mut server = Server::start(&["--once", "--output", "jsonl"]);
    let client = server.client(&["-n", "1M", "--bidir", "-P", "2", "--output", "jsonl"]);
    assert!(client.status.success(), "{}", text(&client.stderr));
    let ours = parse(&client);
    assert_eq!(ours.len(), 2, "a row for each direction");
    let status = server.child.wait().expect("wait for the server");
    assert_eq!(status.code(), Some(0));
    let out = server.child.stdout.take().expect("its rows");
    for (line, ours) in BufReader::new(out).lines().zip(&ours) {
        let theirs: Value = serde_json::from_str(&line.expect("a line")).expect("a row");
        for key in [
            "direction",
            "received_bytes",
            "sent_bytes",
            "goodput_mbps",
            "valid",
        ] {
            assert_eq!(ours[key], theirs[key], "{key}");
        }
        assert_eq!(ours["received_bytes"], 1 << 20);
    }
}

#[test]
fn the_document_has_every_stream() {
    let server = Server::start(&[]);
    let output = server.client(&[
        "-u", "-n", "50000", "-l", "1000", "-P", "3", "--output", "json",
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let streams = document["streams"].as_array().expect("streams");
    assert_eq!(streams.len(), 3);
    assert_eq!(document["up"]["packets"], 50);
    assert_eq!(document["up"]["lost"], 0);
    assert_eq!(document.get("down"), None);
    assert_eq!(document["valid"], true);
}

#[test]
fn a_replaced_congestion_control_is_a_verdict() {
    let server = Server::start(&[]);
    let output = server.client(&["-n", "1000", "-R", "-C", "nonesuch"]);
    assert_eq!(output.status.code(), Some(1));
    let out = text(&output.stdout);
    assert!(out.contains("not valid: the server sent with "), "{out}");
}

#[test]
fn what_cannot_be_is_told_by_the_exit_code() {
    let server = Server::start(&["--max-time", "5s"]);
    for (arguments, code) in [
        (&["-t", "0"][..], 2),
        (&["-R", "--bidir"], 2),
        (&["-u", "-l", "15"], 2),
        (&["-C", "nonesuch", "-n", "1"], 3),
        (&["-t", "6"], 4),
    ] {
        let output = server.client(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn ctrl_c_ends_a_server_at_once_and_well() {
    let mut server = Server::start(&[]);
    let pid = rustix::process::Pid::from_child(&server.child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("send a signal");
    let status = server.child.wait().expect("wait for the server");
    assert_eq!(status.code(), Some(0));
}
