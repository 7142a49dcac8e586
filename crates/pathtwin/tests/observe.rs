//! `pathtwin observe` on paths whose limit is known: each in the lab, with iperf3 as the
//! application.

#![allow(clippy::expect_used, clippy::indexing_slicing)]

mod common;

use std::process::Command;

use common::{is_root, pathtwin, program, spec, text};
use serde_json::Value;

/// Returns the output of `observe` for the data connection of an iperf3 client that sends to the
/// server, observed at `node` of a path.
fn observed(path: &str, iperf3: &str, node: &str) -> Value {
    let (_folder, path) = spec(path);
    let (_copy, program) = program();
    let observe = format!(
        "sleep 2; exec {} observe --port 5201 --interval 250ms --duration 5s --output json",
        program.display()
    );
    let client = format!("exec iperf3 -c server -t 30 {iperf3}");
    let output = pathtwin()
        .args(["lab", "exec"])
        .arg(&path)
        .args(["--output", "json"])
        .args(["--on", "server", "--", "iperf3", "-s"])
        .args(["--on", "client", "--", "sh", "-c", &client])
        .args(["--on", node, "--", "sh", "-c", &observe])
        .output()
        .expect("run pathtwin");
    let out = text(&output.stdout);
    assert!(output.status.success(), "{out}{}", text(&output.stderr));
    let exec: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let last = &exec["programs"][2];
    let document = last["stdout"].as_str().expect("what observe printed");
    let seen: Value = serde_json::from_str(document).unwrap_or_else(|e| panic!("{e}: {last}"));
    // The idle control connection is listed too.
    let sockets = seen["sockets"].as_array().expect("sockets");
    assert_eq!(sockets.len(), 2, "{sockets:?}");
    assert_eq!(sockets[1]["verdict"], "idle", "{sockets:?}");
    assert_eq!(seen["dumps"], 21);
    sockets[0].clone()
}

/// Figure of a connection.
fn figure(socket: &Value, name: &str) -> f64 {
    socket[name]
        .as_f64()
        .unwrap_or_else(|| panic!("no {name}: {socket}"))
}

const LONG: &str = "[path]\nrtt = \"40ms\"\nrate = \"40mbit\"\n";

#[test]
fn a_small_receive_window_is_named() {
    let path = format!("{LONG}[ends.server]\nrmem = \"96kB\"");
    let socket = observed(&path, "", "client");
    assert_eq!(socket["verdict"], "receive_window", "{socket}");
    assert!(figure(&socket, "rwnd_limited") > 0.8, "{socket}");
    // A window a round trip: the window that the peer offers limits the connection.
    let window = figure(&socket, "peer_window_bytes") * 8.0 / 0.04;
    assert!(
        (0.8..1.2).contains(&(figure(&socket, "goodput_out_bps") / window)),
        "{socket}"
    );
    assert_eq!(socket["process"], "iperf3", "{socket}");
}

#[test]
fn a_small_send_buffer_is_named() {
    let path = format!("{LONG}[ends.client]\nwmem = \"96kB\"");
    let socket = observed(&path, "", "client");
    assert_eq!(socket["verdict"], "send_buffer", "{socket}");
    assert!(figure(&socket, "sndbuf_limited") > 0.5, "{socket}");
}

#[test]
fn loss_is_named_with_its_rate() {
    let path = format!("{LONG}[path.up]\nloss = \"1%\"");
    let socket = observed(&path, "", "client");
    assert_eq!(socket["verdict"], "loss_or_path", "{socket}");
    let again = figure(&socket, "retransmission_rate");
    assert!((0.005..0.02).contains(&again), "{socket}");
    assert!(figure(&socket, "rtt_over_min") < 1.1, "{socket}");
}

#[test]
fn a_full_path_is_named_with_its_queue() {
    let path = format!("{LONG}buffer = \"2bdp\"\n[ends.client]\ncc = \"cubic\"");
    let socket = observed(&path, "", "client");
    assert_eq!(socket["verdict"], "loss_or_path", "{socket}");
    assert!(figure(&socket, "rtt_over_min") > 1.5, "{socket}");
    let goodput = figure(&socket, "goodput_out_bps") / 40e6;
    assert!((0.9..0.97).contains(&goodput), "{socket}");
}

#[test]
fn an_application_that_sends_little_is_named() {
    let socket = observed(LONG, "-b 10M", "client");
    assert_eq!(socket["verdict"], "application", "{socket}");
    let goodput = figure(&socket, "goodput_out_bps") / 10e6;
    assert!((0.9..1.1).contains(&goodput), "{socket}");
}

#[test]
fn bbr_is_shown_with_its_estimates() {
    let path = format!("{LONG}[ends]\ncc = \"bbr\"\n[path.up]\nloss = \"1%\"");
    let socket = observed(&path, "", "client");
    assert_eq!(socket["verdict"], "loss_or_path", "{socket}");
    assert_eq!(socket["cc"], "bbr");
    let bandwidth = figure(&socket, "bbr_bandwidth_bps") / 40e6;
    assert!((0.9..1.1).contains(&bandwidth), "{socket}");
    assert!(
        (40_000.0..41_000.0).contains(&figure(&socket, "bbr_min_rtt_us")),
        "{socket}"
    );
}

#[test]
fn a_receiver_reports_that_it_only_receives() {
    let socket = observed(LONG, "", "server");
    assert_eq!(socket["verdict"], "receiving_only", "{socket}");
    assert!(figure(&socket, "goodput_in_bps") > 20e6, "{socket}");
}

#[test]
fn a_tunnels_connections_are_identified_by_their_address() {
    let path = format!("{LONG}[tunnel]\nkind = \"wireguard\"\n[path.up]\nloss = \"1%\"");
    let socket = observed(&path, "", "client");
    assert_eq!(socket["verdict"], "loss_or_path", "{socket}");
    assert_eq!(figure(&socket, "pmtu_bytes"), 1420.0, "{socket}");
}

/// Runs it on this host.
fn here(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = pathtwin()
        .arg("observe")
        .args(arguments)
        .output()
        .expect("run pathtwin");
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn a_port_nobody_uses_has_no_connections() {
    let quick = ["--interval", "10ms", "--duration", "50ms", "--port", "1"];
    let (code, out, err) = here(&quick);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("0 connections, port 1; "), "{out}");
    let (code, out, _) = here(&[&quick[..], &["--output", "jsonl"]].concat());
    assert_eq!((code, out.as_str()), (Some(0), ""));
}

#[test]
fn usage_errors_name_valid_values() {
    for (arguments, message) in [
        (vec!["--dst", "10.0.0.0/33"], "at most /32"),
        (vec!["--dst", "example"], "10.0.0.0/8"),
        (vec!["--interval", "1ms"], "at least 10ms"),
        (
            vec!["--duration", "1s", "--interval", "1s"],
            "at least twice",
        ),
        (vec!["--duration", "10"], "10"),
    ] {
        let (code, _, err) = here(&arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {err}");
        assert!(err.contains(message), "{arguments:?}: {err}");
    }
}

#[test]
fn a_closed_pipe_ends_a_follower() {
    let program = env!("CARGO_BIN_EXE_pathtwin");
    // A connection of the shell's own, so that there are rows: the listener is python's.
    let script = format!(
        "import socket, subprocess\n\
         l = socket.create_server(('127.0.0.1', 0))\n\
         c = socket.create_connection(l.getsockname())\n\
         p = subprocess.Popen(['{program}', 'observe', '--follow', '--interval', '10ms', '--output', 'jsonl',\
         '--port', str(l.getsockname()[1])], stdout=subprocess.PIPE)\n\
         p.stdout.readline()\n\
         p.stdout.close()\n\
         raise SystemExit(p.wait())"
    );
    let status = Command::new("timeout")
        .args(["60", "python3", "-c", &script])
        .status()
        .expect("run python3");
    assert_eq!(status.code(), Some(0));
}

#[test]
fn ctrl_c_prints_the_result_so_far() {
    for (follow, code) in [(true, 0), (false, 130)] {
        let mut command = pathtwin();
        command.args(["observe", "--interval", "10ms", "--port", "1"]);
        command.args(["--duration", "60s"]);
        if follow {
            command.arg("--follow");
        }
        let child = command
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("run pathtwin");
        // Its handler is set before it opens its netlink socket.
        let netlink = |pid: u32| {
            let links = std::fs::read_dir(format!("/proc/{pid}/fd"))
                .into_iter()
                .flatten();
            links.flatten().any(|f| {
                std::fs::read_link(f.path())
                    .is_ok_and(|l| l.to_string_lossy().starts_with("socket:"))
            })
        };
        while !netlink(child.id()) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("send a signal");
        let output = child.wait_with_output().expect("wait for pathtwin");
        assert_eq!(output.status.code(), Some(code));
        let out = text(&output.stdout);
        assert!(out.starts_with("0 connections, port 1; "), "{out}");
        assert_eq!(out.contains("cut short"), !follow, "{out}");
    }
}

#[test]
fn it_needs_no_root() {
    if !is_root() {
        eprintln!("skipped: becoming another user needs root");
        return;
    }
    let output = Command::new("setpriv")
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .arg(env!("CARGO_BIN_EXE_pathtwin"))
        .args(["observe", "--interval", "10ms", "--duration", "300ms"])
        .output()
        .expect("run setpriv");
    assert!(output.status.success(), "{}", text(&output.stderr));
}
