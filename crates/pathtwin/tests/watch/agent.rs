//! The watch of the build for routers, on this processor and, in QEMU, on another. `make agent`
//! builds it.

use std::{
    io::BufRead,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

use super::{
    LISTEN,
    common::{emulated, native, pathtwin, server::Server, text},
    fs, get, listening, make_a_load_due, page, state, until,
};

/// The config of a router: nothing about a history.
fn config(folder: &Path, more: &str) -> PathBuf {
    let file = folder.join("watch.toml");
    let text = format!("state = {:?}\n{more}\n", folder.join("state"));
    fs::write(&file, text).expect("write the config");
    file
}

/// As while it serves.
const MOST_RESIDENT_KIB: u64 = 12_000_000 / 1024;

fn start(mut agent: Command, config: &Path) -> Child {
    agent.args(["watch", "--config"]).arg(config);
    agent.stderr(Stdio::piped()).spawn().expect("start it")
}

/// Watches loopback by a probe, and after a restart by a load; returns the watch, which still runs.
fn measures_a_load(agent: fn() -> Command, server: &Server, folder: &Path) -> Child {
    let path = format!(
        "{LISTEN}\n[[path]]\nname = \"loop\"\nhost = \"{}\"\nkey = {:?}\nprobe = \"10s\"\n\
         load_bytes = \"40MB\"\nmetered = \"no\"\nrate = \"10gbit\"",
        server.address,
        folder.join("key")
    );
    let config = config(folder, &path);
    let state_folder = folder.join("state");
    let mut watch = start(agent(), &config);
    let (port, _log) = listening(&mut watch);
    until("a probe in the metrics", || {
        get(port).is_ok_and(|metrics| metrics.contains("pathtwin_probe_rtt_seconds_count"))
    });
    let other = page(port, "/").expect("a page");
    assert!(other.contains("there is /metrics"), "{other}");
    watch.kill().expect("kill it");
    watch.wait().expect("it is gone");
    assert!(make_a_load_due(&state_folder), "{:?}", state(&state_folder));
    let mut watch = start(agent(), &config);
    let (_, mut log) = listening(&mut watch);
    let mut said = String::new();
    while !said.contains("measured: ") {
        assert_ne!(log.read_line(&mut said).expect("its log"), 0, "{said}");
    }
    assert!(said.contains("measured: not in the history"), "{said}");
    watch
}

/// Ends it as procd does. Its far end was always reached.
fn ends(mut watch: Child, folder: &Path) {
    kill_process(Pid::from_child(&watch), Signal::TERM).expect("ask it to end");
    let status = watch.wait().expect("it ends");
    assert!(status.success(), "{status}");
    let state = state(&folder.join("state")).expect("a state");
    let reach = &state["paths"]["loop"]["reach"];
    assert_eq!(reach["failures"], 0, "{reach}");
}

#[test]
fn the_agent_measures_loads_without_a_history_and_serves_metrics() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::start(pathtwin(), &folder.path().join("key"), &[]);
    let watch = measures_a_load(native, &server, folder.path());
    let status = fs::read_to_string(format!("/proc/{}/status", watch.id())).expect("its status");
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let most = most.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    println!("it took {most:?} KiB");
    assert!(
        most.is_some_and(|most| most <= MOST_RESIDENT_KIB),
        "{most:?}"
    );
    ends(watch, folder.path());
}

/// Its memory is that of the emulation.
#[test]
fn the_one_for_aarch64_measures_loads_and_serves_metrics() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::start(pathtwin(), &folder.path().join("key"), &[]);
    let watch = measures_a_load(emulated, &server, folder.path());
    ends(watch, folder.path());
}

#[test]
fn the_agent_refuses_a_history_and_a_webhook_by_tls() {
    for agent in [native, emulated] {
        refuses(agent);
    }
}

#[test]
fn the_example_for_aarch64_is_the_same_and_it_takes_it() {
    let [example, other] = [emulated(), native()].map(|mut agent| {
        let output = agent.args(["watch", "--example"]).output().expect("run it");
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    });
    assert_eq!(example, other);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("watch.toml");
    fs::write(&file, example).expect("write it");
    let mut check = emulated();
    let check = check.args(["watch", "--check", "--config"]).arg(&file);
    let output = check.output().expect("run it");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("office"), "{output:?}");
}

fn refuses(agent: fn() -> Command) {
    let folder = tempfile::tempdir().expect("a folder");
    for (more, line, why) in [
        (
            "flash = true",
            2,
            "flash: this pathtwin was built without a history",
        ),
        (
            "store = \"x.db\"",
            2,
            "store: this pathtwin was built without a history",
        ),
        (
            "[alarm]\nwebhook = \"https://ntfy.example/secret\"",
            3,
            "alarm.webhook: this pathtwin was built without TLS",
        ),
    ] {
        let config = config(folder.path(), &format!("{more}\n[[path]]\nhost = \"far\""));
        let output = agent()
            .args(["watch", "--check", "--config"])
            .arg(&config)
            .output()
            .expect("run it");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{more}: {said}");
        assert!(
            said.contains(&format!("watch.toml:{line}: {why}")),
            "{said}"
        );
        assert!(!said.contains("secret"), "{said}");
    }
}
