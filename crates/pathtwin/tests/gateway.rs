//! `measure --third gateway` with a real gateway: client, router and server are namespaces, joined
//! by two lines of which one is at fault. As root, in real time.

#![allow(clippy::expect_used)]

mod common;

use std::{
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use common::{is_root, pathtwin, text};
use serde_json::Value;

/// Three namespaces, named by the process that made them; gone with this value.
struct Net {
    name: String,
}

impl Net {
    /// Client - router - server. The first line has 40 Mbit/s each way, the second 12, both 100 ms
    /// of queue. `None` with a printed reason where the test may not make them.
    fn new() -> Option<Self> {
        let missing = ["ip", "tc", "sysctl"].into_iter().find(|tool| {
            let found = Command::new(tool).arg("-V").output();
            found.is_err()
        });
        if !is_root() || missing.is_some() {
            eprintln!("skipped: needs root, ip, tc and sysctl (missing: {missing:?})");
            return None;
        }
        let net = Self {
            name: format!("ptgw{}", std::process::id()),
        };
        let hosts = ["client", "router", "server"].map(|host| format!("{}-{host}", net.name));
        let [client, router, server] = &hosts;
        for host in &hosts {
            ip(&["netns", "add", host]);
            ip(&["-n", host, "link", "set", "lo", "up"]);
        }
        for (near, far, number) in [(client, router, 1), (router, server, 2)] {
            let (a, b) = (format!("a{number}"), format!("b{number}"));
            ip(&[
                "link", "add", &a, "netns", near, "type", "veth", "peer", "name", &b, "netns", far,
            ]);
            for (host, link, last) in [(near, &a, 1), (far, &b, 2)] {
                let address = format!("198.18.{number}.{last}/24");
                ip(&["-n", host, "address", "add", &address, "dev", link]);
                // A bucket counts packets, not segments of 64 KiB.
                ip(&["-n", host, "link", "set", link, "gso_max_segs", "1"]);
                ip(&["-n", host, "link", "set", link, "up"]);
            }
        }
        ip(&["-n", client, "route", "add", "default", "via", "198.18.1.2"]);
        ip(&["-n", server, "route", "add", "default", "via", "198.18.2.1"]);
        net.run("router", "sysctl", &["-qw", "net.ipv4.ip_forward=1"]);
        net.run(
            "client",
            "sysctl",
            &["-qw", "net.ipv4.ping_group_range=0 0"],
        );
        for (host, link, mbit) in [
            ("client", "a1", "40"),
            ("router", "b1", "40"),
            ("router", "a2", "12"),
            ("server", "b2", "12"),
        ] {
            let rate = format!("{mbit}mbit");
            net.run(
                host,
                "tc",
                &[
                    "qdisc", "add", "dev", link, "root", "tbf", "rate", &rate, "burst", "16kb",
                    "latency", "100ms",
                ],
            );
        }
        Some(net)
    }

    /// A command on one of the hosts.
    fn on(&self, host: &str, program: &Path) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &format!("{}-{host}", self.name)]);
        command.arg(program);
        command
    }

    fn run(&self, host: &str, program: &str, arguments: &[&str]) {
        let status = self.on(host, Path::new(program)).args(arguments).status();
        assert!(status.expect("run ip").success(), "{program} {arguments:?}");
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        for host in ["client", "router", "server"] {
            let host = format!("{}-{host}", self.name);
            let _ = Command::new("ip").args(["netns", "del", &host]).status();
        }
    }
}

fn ip(arguments: &[&str]) {
    let status = Command::new("ip").args(arguments).status().expect("run ip");
    assert!(status.success(), "ip {arguments:?}");
}

/// A child that is killed when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const PLAN: &str = r#"
name = "gateway"
hotspots = false
repeats = { min = 2, max = 2 }
[[step]]
kind = "idle"
duration_s = 2
[[step]]
kind = "tcp"
direction = "up"
flows = 1
cc = ["cubic"]
warmup_s = 1
duration_s = 4
repeat = true
"#;

#[test]
fn the_segment_behind_a_real_gateway_is_named() {
    let Some(net) = Net::new() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let plan = folder.path().join("plan.toml");
    std::fs::write(&plan, PLAN).expect("write the plan");
    let program = pathtwin().get_program().to_owned();
    let program = Path::new(&program);
    let mut serve = net.on("server", program);
    serve.args(["serve", "--open", "--user", "root"]);
    let _serve = Running(
        serve
            .stderr(Stdio::null())
            .spawn()
            .expect("start the server"),
    );
    let mut output = None;
    let end = Instant::now() + Duration::from_secs(60);
    while output.is_none() {
        // The server may not listen yet.
        assert!(Instant::now() < end, "no run");
        let mut measure = net.on("client", program);
        measure.args([
            "measure",
            "198.18.2.2",
            "--open",
            "--third",
            "gateway",
            "--no-store",
        ]);
        let tried = measure
            .args(["--output", "json", "--plan"])
            .arg(&plan)
            .output();
        output = tried.ok().filter(|tried| !tried.stdout.is_empty());
    }
    let output = output.expect("a run");
    let run: Value = serde_json::from_slice(&output.stdout).expect("a Run");
    assert_eq!(run["third"]["address"], "198.18.1.2", "{}", run["third"]);
    assert_eq!(run["third"]["answers"], "icmp");
    let samples = run["samples"].as_array().expect("samples");
    let median_ms = |step: &str, probes: &str| {
        let of_step = samples
            .iter()
            .filter(|sample| sample["key"]["step"] == step);
        let all = of_step.filter_map(|sample| sample[probes]["p50_us"].as_f64());
        all.reduce(f64::max).expect("answers") / 1e3
    };
    // What the client sends waits in the router, for the line of 12 Mbit/s: up to 100 ms.
    let beyond = median_ms("tcp", "probes") - median_ms("idle", "probes");
    let before = median_ms("tcp", "third") - median_ms("idle", "third");
    assert!(
        beyond > 40.0 && before < 20.0,
        "beyond {beyond} ms, before {before} ms"
    );
    // On a host whose processors are busy no sample counts, and nothing is found.
    if !output.status.success() {
        eprintln!("no verdict: {}", text(&output.stderr));
        return;
    }
    let file = folder.path().join("run.json");
    std::fs::write(&file, &output.stdout).expect("write the run");
    let explained = pathtwin()
        .args(["explain", "--output", "json"])
        .arg(&file)
        .output();
    let explained = explained.expect("explain");
    let findings: Value = serde_json::from_slice(&explained.stdout).expect("findings");
    let found = findings["findings"].as_array().expect("findings").iter();
    let codes: Vec<&str> = found
        .filter_map(|finding| finding["code"].as_str())
        .collect();
    assert!(
        codes.contains(&"beyond") && !codes.contains(&"local-segment"),
        "{codes:?}"
    );
}
