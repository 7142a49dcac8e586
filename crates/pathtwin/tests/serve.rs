//! `pathtwin serve` as a service: whom it becomes, where its key is, and that the files of
//! `packaging/` start it.

#![allow(clippy::expect_used)]

mod common;

use std::{
    net::TcpStream,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use common::{is_root, pathtwin, server::Server, text};
use serde_json::Value;

const PLAN: &str = r#"
repeats = { min = 1, max = 1 }
[[step]]
kind = "tcp"
direction = "down"
flows = 1
warmup_s = 0.1
duration_s = 0.3
repeat = true
[[step]]
kind = "udp"
direction = "up"
rate_bps = 8_000_000
payload = 1000
duration_s = 0.3
"#;

fn measure(server: &Server, key: &Path) -> Output {
    let plan = key.with_file_name("plan.toml");
    std::fs::write(&plan, PLAN).expect("write the plan");
    pathtwin()
        .args(["measure", &server.address.to_string(), "--output", "json"])
        .arg("--key")
        .arg(key)
        .arg("--plan")
        .arg(&plan)
        .output()
        .expect("run pathtwin")
}

fn names(path: &str) -> Vec<String> {
    let list = std::fs::read_to_string(path).unwrap_or_default();
    list.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn root_is_dropped_to_nobody_and_every_congestion_control_can_still_be_chosen() {
    if !is_root() {
        eprintln!("skipped: needs root");
        return;
    }
    let folder = tempfile::tempdir().expect("make a folder");
    let key = folder.path().join("key");
    let server = Server::start(pathtwin(), &key, &[]);
    assert!(
        server.message.contains("became user 65534"),
        "{}",
        server.message
    );
    assert_eq!(server.status("Uid"), "65534 65534 65534 65534");
    assert_eq!(server.status("Groups"), "");
    // The rights of all its threads, of which it has some now: CAP_NET_ADMIN, number 12, or none
    // where root has none.
    let kept = server.status("CapEff");
    let tasks = std::fs::read_dir(format!("/proc/{}/task", server.child.id())).expect("tasks");
    for task in tasks.flatten() {
        let status = std::fs::read_to_string(task.path().join("status")).unwrap_or_default();
        assert!(status.contains(&format!("CapEff:\t{kept}")), "{status}");
        assert!(status.contains("Uid:\t65534\t65534\t65534\t65534"));
    }
    let net_admin = server.message.contains("kept CAP_NET_ADMIN");
    assert_eq!(kept == "0000000000001000", net_admin, "{kept}");
    let output = measure(&server, &key);
    assert!(common::is_measured(&output), "{}", text(&output.stderr));
    let run: Value = serde_json::from_slice(&output.stdout).expect("a run");
    let samples = run["samples"].as_array().expect("samples");
    let used = |s: &Value| s["tcp"]["cc_used"].as_str().map(str::to_owned);
    let mut used: Vec<String> = samples.iter().filter_map(used).collect();
    used.sort();
    let usual = |names: Vec<String>| {
        let mut names: Vec<_> = names
            .into_iter()
            .filter(|n| n == "cubic" || n == "bbr")
            .collect();
        names.sort();
        names
    };
    if net_admin {
        let there = names("/proc/sys/net/ipv4/tcp_available_congestion_control");
        assert_eq!(used, usual(there));
    }
}

/// `measure` stores its runs in the history, with distinguishing labels.
#[cfg(feature = "history")]
#[test]
fn a_run_is_stored_with_its_labels() {
    let folder = tempfile::tempdir().expect("make a folder");
    let key = folder.path().join("key");
    let plan = folder.path().join("plan.toml");
    std::fs::write(&plan, PLAN).expect("write the plan");
    let server = Server::start(pathtwin(), &key, &[]);
    let history = |arguments: &[&str]| {
        let mut command = pathtwin();
        command.env("PATHTWIN_STORE", folder.path().join("history.db"));
        let output = command.args(arguments).output().expect("run pathtwin");
        assert!(common::is_measured(&output), "{}", text(&output.stderr));
        output
    };
    let paths = [&key, &plan].map(|path| path.display().to_string());
    let address = server.address.to_string();
    let [key, plan] = &paths;
    let measure = ["measure", &address, "--key", key, "--plan", plan];
    history(&measure);
    history(
        &[
            &measure[..],
            &["--label", "change=bbr", "--label", "host=attic"],
        ]
        .concat(),
    );
    let listed = history(&["history", "list", "--output", "jsonl"]);
    let kept = common::parse(&listed);
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("the host's name");
    let labels = |n: usize| &kept[n]["labels"];
    assert_eq!(kept.len(), 2);
    assert_eq!(labels(1)["host"], name.trim());
    assert_eq!(
        labels(1)["kernel"],
        std::fs::read_to_string("/proc/sys/kernel/osrelease")
            .expect("the kernel")
            .trim()
    );
    assert_eq!(labels(0)["host"], "attic");
    assert_eq!(labels(0)["change"], "bbr");
    let of_one = history(&[
        "history",
        "list",
        "--label",
        "host=attic",
        "--output",
        "jsonl",
    ]);
    assert_eq!(common::parse(&of_one).len(), 1);
}

/// What the command that a server names for the other host copies. In place of `ssh`, a program
/// hands its words to a shell, as `ssh` does on the far host.
fn copied(message: &str, folder: &Path) -> String {
    let from = message.find("ssh ").expect("a command");
    let command = message[from..].split(" | ").next().expect("its first part");
    let ssh = folder.join("ssh");
    std::fs::write(&ssh, "#!/bin/sh\nshift\nexec sh -c \"$*\"\n").expect("write it");
    std::fs::set_permissions(&ssh, std::fs::Permissions::from_mode(0o755)).expect("mark it");
    let path = std::env::var("PATH").expect("a path");
    let output = Command::new("sh")
        .args(["-c", command])
        .env("PATH", format!("{}:{path}", folder.display()))
        .output()
        .expect("run a shell");
    text(&output.stdout)
}

/// Bug: the command to copy the key did not quote its path, which has spaces here.
#[test]
fn the_key_file_is_made_for_its_owner_alone_and_then_kept() {
    let folder = tempfile::tempdir().expect("make a folder");
    let key = folder.path().join("not there yet").join("key");
    let first = Server::start(pathtwin(), &key, &[]);
    let mode = std::fs::metadata(&key)
        .expect("the key")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let made = std::fs::read_to_string(&key).expect("read the key");
    assert_eq!(copied(&first.message, folder.path()), made);
    // The output of a server ends up in logs.
    assert!(!first.message.contains(made.trim()), "{}", first.message);
    drop(first);
    let second = Server::start(pathtwin(), &key, &[]);
    assert!(!second.message.contains(made.trim()), "{}", second.message);
    assert_eq!(std::fs::read_to_string(&key).expect("read the key"), made);
}

#[test]
fn a_missing_user_is_a_usage_error() {
    let output = pathtwin()
        .args(["serve", "--port", "0", "--user", "no-such-user", "--open"])
        .output()
        .expect("run pathtwin");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("no-such-user"));
}

/// Bug: it listened on every address regardless of `--listen`, although it needs no key.
#[test]
fn iperf3_listens_only_on_the_given_addresses() {
    let folder = tempfile::tempdir().expect("make a folder");
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("bind");
    let port = free.local_addr().expect("its address").port();
    drop(free);
    let iperf3 = format!("--iperf3={port}");
    let _server = Server::start(pathtwin(), &folder.path().join("key"), &[&iperf3]);
    assert!(TcpStream::connect(("127.0.0.1", port)).is_ok());
    assert!(TcpStream::connect(("127.0.0.2", port)).is_err());
}

/// A port of TCP that is free for the moment.
fn free_port() -> u16 {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("bind");
    free.local_addr().expect("its address").port()
}

/// `pathtwin serve` on a given port, and what it printed.
fn serve_on(port: u16, key: &Path) -> (Ended, String) {
    let mut child = pathtwin()
        .args(["serve", "--port", &port.to_string(), "--key"])
        .arg(key)
        .args(["--listen", "127.0.0.1"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("start the server");
    let said = common::server::says(&mut child, "on the other host:");
    (Ended(child), said)
}

/// A process that ends with its owner.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A command line, as it is printed, in a shell that measures with a short plan and with keys in a
/// folder. The only host of its ssh is this one; the words after the host are a command.
fn in_a_shell(line: &str, folder: &Path) -> Output {
    let plan = folder.join("plan.toml");
    std::fs::write(&plan, PLAN).expect("write the plan");
    let script = format!(
        "pathtwin() {{ \"$PROGRAM\" \"$@\"; }}\nssh() {{ shift; eval \"$*\"; }}\n\
         {line} --plan \"$PLAN\" --output json"
    );
    Command::new("sh")
        .args(["-c", &script])
        .env("PROGRAM", env!("CARGO_BIN_EXE_pathtwin"))
        .env("PLAN", &plan)
        .env("PATHTWIN_STORE", folder.join("history.db"))
        .env("XDG_CONFIG_HOME", folder.join("config"))
        .env_remove("PATHTWIN_KEY")
        .output()
        .expect("run a shell")
}

/// The command that `serve --port N` prints lacked the port, or was one that no shell takes.
#[test]
fn the_command_that_serve_prints_measures_as_it_is_printed() {
    let folder = tempfile::tempdir().expect("make a folder");
    let port = free_port();
    let (_server, said) = serve_on(port, &folder.path().join("key"));
    let (_, line) = said.split_once("on the other host: ").expect("a command");
    let line = line.trim();
    assert!(line.contains(&format!("--port {port}")), "{line}");
    let output = in_a_shell(line, folder.path());
    assert!(
        common::is_measured(&output),
        "{line}\n{}",
        text(&output.stderr)
    );
    let run = model::run::Run::parse(&output.stdout).expect("a run");
    assert!(
        run.samples.iter().any(|s| s.tcp.is_some()),
        "{:?}",
        run.samples
    );
    // The key is remembered, so the command to measure again needs none.
    let asked = run.asked.expect("how the far end was named");
    let again = asked.command();
    assert_eq!(again, format!("pathtwin measure 127.0.0.1 --port {port}"));
    let output = in_a_shell(&again, folder.path());
    assert!(
        common::is_measured(&output),
        "{again}\n{}",
        text(&output.stderr)
    );
}

/// `measure` had no option for the port, and the command to measure again left it out.
#[test]
fn a_server_on_another_port_is_measured_by_host_and_port_and_again_without_a_key() {
    let folder = tempfile::tempdir().expect("make a folder");
    let key = folder.path().join("key");
    let port = free_port();
    let (_server, _) = serve_on(port, &key);
    for target in [
        format!("127.0.0.1 --port {port}"),
        format!("127.0.0.1:{port}"),
    ] {
        let config = folder.path().join("config");
        let _ = std::fs::remove_dir_all(&config);
        let first = format!("pathtwin measure {target} --key {}", key.display());
        let output = in_a_shell(&first, folder.path());
        assert!(
            common::is_measured(&output),
            "{first}\n{}",
            text(&output.stderr)
        );
        let run = model::run::Run::parse(&output.stdout).expect("a run");
        let again = run.asked.expect("how the far end was named").command();
        assert_eq!(again, format!("pathtwin measure {target}"));
        let output = in_a_shell(&again, folder.path());
        assert!(
            common::is_measured(&output),
            "{again}\n{}",
            text(&output.stderr)
        );
    }
}

fn packaging(file: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../packaging");
    std::fs::read_to_string(root.join(file)).expect("read a file of packaging")
}

#[test]
fn the_options_of_the_packages_are_those_of_the_program() {
    let help = |command: &str| {
        let output = pathtwin().args([command, "--help"]).output();
        text(&output.expect("run pathtwin").stdout)
    };
    let (serve, watch) = (help("serve"), help("watch"));
    let both = format!("{serve}{watch}");
    let known = |help: &str, option: &str| {
        help.contains(&format!("{option} ")) || help.contains(&format!("{option}\n"))
    };
    let mut options: Vec<(&str, String)> = Vec::new();
    for (file, help) in [
        ("systemd/pathtwin-serve.service", &serve),
        ("systemd/pathtwin-watch.service", &watch),
        ("openwrt/pathtwin.init", &both),
        ("README.md", &both),
    ] {
        let text = packaging(file);
        // Other programs have different options.
        let others = ["cargo", "systemctl", "apk add", "podman run"];
        let lines = text
            .lines()
            .filter(|l| !others.iter().any(|other| l.contains(other)));
        let words = lines.flat_map(|l| l.split([' ', '`', '"', '(', ')', '=']));
        let flags = words.filter(|w| {
            w.strip_prefix("--").is_some_and(|name| {
                name.starts_with(|c: char| c.is_ascii_lowercase()) && !name.contains('$')
            })
        });
        let flags = flags.map(|f| f.trim_end_matches([',', '.', ';']).to_owned());
        options.extend(flags.map(|flag| (help.as_str(), flag)));
    }
    // Arguments that the init script makes of the names of its configuration.
    let config = packaging("openwrt/pathtwin.config");
    let names = config
        .lines()
        .filter_map(|l| l.trim().trim_start_matches('#').strip_prefix("option "));
    let names = names.filter_map(|l| l.split_whitespace().next());
    options.extend(
        names
            .filter(|n| *n != "enabled")
            .map(|n| (both.as_str(), format!("--{}", n.replace('_', "-")))),
    );
    assert!(options.len() > 10, "{options:?}");
    for (help, option) in options {
        assert!(known(help, &option), "{option} is no option of the program");
    }
}
