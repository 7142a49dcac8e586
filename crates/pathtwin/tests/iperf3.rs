//! `pathtwin iperf3`: output and exit codes.

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
    assert!(
        out.contains("not valid: server: requested nonesuch, the socket used "),
        "{out}"
    );
}

#[test]
fn impossible_requests_have_their_exit_code() {
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

const PLAN: &str = r#"
[[step]]
kind = "idle"
duration_s = 0.5
[[step]]
kind = "tcp"
direction = "down"
flows = 1
warmup_s = 0
duration_s = 1
repeat = true
[[step]]
kind = "tcp"
direction = "both"
flows = 2
warmup_s = 0
duration_s = 1
repeat = true
[repeats]
min = 2
max = 2
"#;

/// A run that was measured through iperf3 with [`PLAN`].
fn run_through(address: &str) -> model::run::Run {
    let folder = tempfile::tempdir().expect("make a folder");
    let plan = folder.path().join("plan.toml");
    std::fs::write(&plan, PLAN).expect("write the plan");
    let output = pathtwin()
        .args(["measure", "--no-store", "--output", "json"])
        .arg(format!("iperf3://{address}"))
        .arg("--plan")
        .arg(plan)
        .output()
        .expect("run pathtwin");
    assert!(common::is_measured(&output), "{}", text(&output.stderr));
    model::run::Run::parse(&output.stdout).expect("a run")
}

/// A congestion control that the plan tries and this user may use: a host may allow cubic to root
/// only.
fn usable() -> String {
    let there = host::state::congestion();
    let usual = ["cubic", "bbr"].into_iter();
    let mut usual = usual.filter(|name| there.iter().any(|t| t == name));
    usual.next().map_or_else(|| there[0].clone(), str::to_owned)
}

fn has_what_iperf3_reports(run: &model::run::Run) {
    let usable = usable();
    assert!(
        run.notes.iter().any(|n| n.to_string().contains("idle")),
        "{:?}",
        run.notes
    );
    for block in [1, 2] {
        let of = |cc: &str| {
            let samples = run.samples.iter().filter(|s| s.block == block);
            samples.filter(|s| s.key.cc.as_deref() == Some(cc)).count()
        };
        assert_eq!(of(&usable), 3, "down, and both ways");
    }
    let ours = |s: &&model::run::Sample| s.key.cc.as_ref() == Some(&usable);
    for sample in run.samples.iter().filter(ours) {
        assert!(
            sample.valid || sample.invalid.iter().all(is_busy),
            "{sample:?}"
        );
        let tcp = sample.tcp.as_ref().expect("a load");
        let flows: f64 = tcp.flows.iter().map(|f| f.goodput_bps).sum();
        assert!((flows - tcp.goodput_bps).abs() < 1.0);
        assert_eq!(tcp.flows.len() as u32, sample.key.flows.unwrap_or(0));
        assert!(tcp.bytes > 0);
        assert_eq!(sample.far, None, "nothing is known of the far host");
    }
}

/// Over loopback the processors set the pace, which takes the sample out of the figures.
fn is_busy(invalid: &model::run::Invalid) -> bool {
    use model::run::Invalid::{ReceiverProcessor, SenderProcessor};
    matches!(invalid, SenderProcessor { .. } | ReceiverProcessor { .. })
}

#[test]
fn a_plan_is_carried_out_as_far_as_iperf3_allows() {
    let server = Server::start(&[]);
    let run = run_through(&server.address);
    has_what_iperf3_reports(&run);
    let findings = explain::judge(&run);
    assert!(!findings.summary.is_empty());
}

/// A server of the program iperf3 on loopback, and its address.
struct Real(Child, String);

impl Real {
    fn start() -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .and_then(|l| l.local_addr())
            .expect("a port")
            .port();
        let mut child = std::process::Command::new("iperf3")
            .args(["-s", "-B", "127.0.0.1", "-p", &port.to_string()])
            .arg("--forceflush")
            .stdout(Stdio::piped())
            .spawn()
            .expect("run iperf3; scripts/setup test installs it");
        let mut listening = BufReader::new(child.stdout.take().expect("its messages")).lines();
        let ready = listening.find(|l| l.as_ref().is_ok_and(|l| l.contains("listening")));
        assert!(ready.is_some());
        std::thread::spawn(move || listening.for_each(drop));
        Self(child, format!("127.0.0.1:{port}"))
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_plan_is_carried_out_with_the_real_iperf3() {
    let real = Real::start();
    has_what_iperf3_reports(&run_through(&real.1));
}

/// Against a plain iperf3 server 0 of 12 samples counted, and no figure was shown. Which samples
/// count over loopback depends on its processors, so here none does.
#[test]
fn figures_through_iperf3_that_do_not_count_are_shown_and_said_not_to() {
    let real = Real::start();
    let mut run = run_through(&real.1);
    for sample in &mut run.samples {
        sample.valid = false;
        sample.invalid = vec![model::run::Invalid::SenderProcessor { share: 1.0 }];
    }
    (run.figures, run.ratios) = (Vec::new(), Vec::new());
    let text = report::run::text(&run);
    assert!(text.contains("TOO FEW SAMPLES COUNT: 0 of "), "{text}");
    let (_, table) = text.split_once("measured, but not counted").expect(&text);
    let (table, _) = table.split_once("\n\n").unwrap_or((table, ""));
    let goodput = table.lines().find(|line| line.contains("goodput"));
    let number = |line: &str| line.split_whitespace().any(|w| w.parse::<f64>().is_ok());
    assert!(goodput.is_some_and(number), "{table}");
    let asked = run.asked.expect("how the server was named");
    let named = format!("pathtwin measure iperf3://{}", real.1);
    assert_eq!(asked.command(), named, "with its port and protocol");
}

/// Bug: options of one test were ignored where a plan was measured, and those of a plan where one
/// test was.
#[test]
fn options_of_a_test_and_of_a_plan_are_refused_together() {
    for arguments in [
        ["127.0.0.1", "-R"].as_slice(),
        &["iperf3://127.0.0.1", "-R", "--dry-run"],
        &["iperf3://127.0.0.1", "-t", "5s", "--quick"],
        &["iperf3://127.0.0.1", "-C", "bbr", "--out", "run.json"],
        &["--lab", "path.toml", "-P", "4"],
    ] {
        let output = pathtwin().arg("measure").args(arguments).output();
        let output = output.expect("run pathtwin");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}
