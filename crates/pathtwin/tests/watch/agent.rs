//! The watch of the build for routers. `make agent` builds it.

use std::{
    io::BufRead,
    process::{Command, Stdio},
};

use super::{
    LISTEN,
    common::{agent, pathtwin, server::Server, text},
    fs, get, listening, make_a_load_due, page, state, until,
};

/// The config of a router: nothing about a history.
fn config(folder: &std::path::Path, more: &str) -> std::path::PathBuf {
    let file = folder.join("watch.toml");
    let text = format!("state = {:?}\n{more}\n", folder.join("state"));
    fs::write(&file, text).expect("write the config");
    file
}

/// As while it serves.
const MOST_RESIDENT_KIB: u64 = 12_000_000 / 1024;

#[test]
fn the_agent_measures_loads_without_a_history_and_serves_metrics() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = folder.path().join("key");
    let server = Server::start(pathtwin(), &key, &[]);
    let path = format!(
        "{LISTEN}\n[[path]]\nname = \"loop\"\nhost = \"{}\"\nkey = {key:?}\nprobe = \"10s\"\n\
         load_bytes = \"40MB\"\nmetered = \"no\"\nrate = \"10gbit\"",
        server.address
    );
    let config = config(folder.path(), &path);
    let start = || {
        let mut command = Command::new(agent("x86_64"));
        command.args(["watch", "--config"]).arg(&config);
        command.stderr(Stdio::piped()).spawn().expect("start it")
    };
    let state_folder = folder.path().join("state");
    let mut watch = start();
    let (port, _log) = listening(&mut watch);
    until("a probe in the metrics", || {
        get(port).is_ok_and(|metrics| metrics.contains("pathtwin_probe_rtt_seconds_count"))
    });
    let other = page(port, "/");
    assert!(
        other
            .as_ref()
            .is_ok_and(|text| text.contains("there is /metrics")),
        "{other:?}"
    );
    watch.kill().expect("kill it");
    watch.wait().expect("it is gone");
    assert!(make_a_load_due(&state_folder), "{:?}", state(&state_folder));
    let mut watch = start();
    let (_, mut log) = listening(&mut watch);
    let mut said = String::new();
    while !said.contains("measured: ") {
        assert_ne!(log.read_line(&mut said).expect("its log"), 0, "{said}");
    }
    assert!(said.contains("measured: not in the history"), "{said}");
    let status = fs::read_to_string(format!("/proc/{}/status", watch.id())).expect("its status");
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let most = most.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    println!("it took {most:?} KiB");
    assert!(
        most.is_some_and(|most| most <= MOST_RESIDENT_KIB),
        "{most:?}"
    );
    watch.kill().expect("kill it");
    watch.wait().expect("it is gone");
}

#[test]
fn the_agent_refuses_a_history_and_a_webhook_by_tls() {
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
        let output = Command::new(agent("x86_64"))
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
