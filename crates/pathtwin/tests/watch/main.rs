//! `pathtwin watch` against `pathtwin serve`, both real, on loopback.

#![cfg(feature = "history")]
#![allow(clippy::expect_used)]

mod agent;
#[path = "../common/mod.rs"]
mod common;
mod kills;
mod metrics;
#[path = "../watching/mod.rs"]
mod watching;

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    os::unix::net::UnixDatagram,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use common::{pathtwin, server::Server, text};
use watching::{LISTEN, config, listening, make_a_load_due, start, state, until};

#[test]
fn a_watch_reports_to_its_manager_probes_and_ends_on_a_signal() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = folder.path().join("key");
    let server = Server::start(pathtwin(), &key, &[]);
    let config = config(folder.path(), &server, &key, "");
    let socket = folder.path().join("notify");
    let manager = UnixDatagram::bind(&socket).expect("a socket");
    manager
        .set_read_timeout(Some(Duration::from_secs(60)))
        .expect("a timeout");
    let mut watch = start(&config, &socket);
    let mut said = String::new();
    while !(said.contains("READY=1") && said.contains("WATCHDOG=1")) {
        let mut piece = [0; 256];
        let n = manager.recv(&mut piece).expect("a sign of life");
        said += &String::from_utf8_lossy(&piece[..n]);
        said.push('\n');
    }
    let state_folder = folder.path().join("state");
    // The first group of probes is charged by the hour, and answered.
    until("a probe", || {
        state(&state_folder).is_some_and(|s| s["ledger"].as_object().is_some_and(|l| !l.is_empty()))
    });
    let pid = i32::try_from(watch.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    let pid = pid.expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("ask it to end");
    let status = watch.wait().expect("it ends");
    assert!(status.success(), "{status}");
    let reach = &state(&state_folder).expect("a state")["paths"]["loop"]["reach"];
    assert_eq!(reach["failures"], 0, "{reach}");
}

/// A full disk: probes continue, saved data remains, and new data is written when there is space
/// again.
#[test]
fn a_watch_continues_during_and_after_a_full_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = folder.path().join("key");
    let server = Server::start(pathtwin(), &key, &[]);
    let config = config(folder.path(), &server, &key, LISTEN);
    let state_folder = folder.path().join("state");
    fs::create_dir(&state_folder).expect("make it");
    let mount = "mount -t tmpfs -o size=192k none \"$1\" && shift && exec \"$@\"";
    let mut command = Command::new("unshare");
    command
        .args(["-m", "sh", "-c", mount, "sh"])
        .arg(&state_folder);
    command
        .arg(pathtwin().get_program())
        .args(["watch", "--config"])
        .arg(&config);
    let mut watch = command.stderr(Stdio::piped()).spawn().expect("start it");
    // The folder as the watch sees it.
    let seen = PathBuf::from(format!(
        "/proc/{}/root{}",
        watch.id(),
        state_folder.display()
    ));
    until("a state or no right to mount", || {
        state(&seen).is_some() || watch.try_wait().expect("its state").is_some()
    });
    if watch.try_wait().expect("its state").is_some() {
        eprintln!("skipped: needs root and unshare");
        return;
    }
    let (port, mut log) = listening(&mut watch);
    let mut fill = fs::File::create(seen.join("fill")).expect("a file");
    while fill.write_all(&[1; 512]).is_ok() {}
    let probes = || count(&get(port).unwrap_or_default(), "pathtwin_probes_total");
    let before = probes();
    until("probes on a full disk", || probes() > before);
    let old = state(&seen).expect("the old state is whole");
    assert!(old["paths"].is_object());
    assert!(watch.try_wait().expect("its state").is_none(), "it ended");
    drop(fill);
    fs::remove_file(seen.join("fill")).expect("make space");
    let file = seen.join("watch.json");
    let written = || {
        fs::metadata(&file)
            .and_then(|m| m.modified())
            .expect("its time")
    };
    let at = written();
    until("a state after it", || written() > at);
    assert!(state(&seen).is_some());
    watch.kill().expect("kill it");
    watch.wait().expect("it is gone");
    let mut said = String::new();
    log.read_to_string(&mut said).expect("its log");
    assert!(said.contains("the state is written again"), "{said}");
}

/// The sum of a counter's values in metrics.
fn count(metrics: &str, name: &str) -> u64 {
    let lines = metrics.lines().filter(|line| line.starts_with(name));
    let values = lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
    values.sum()
}

/// A far end that is down for a while.
#[test]
fn a_watch_continues_while_its_far_end_is_down() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = folder.path().join("key");
    let server = Server::start(pathtwin(), &key, &[]);
    let config = config(folder.path(), &server, &key, LISTEN);
    let mut watch = start(&config, &folder.path().join("none"));
    let (port, _log) = listening(&mut watch);
    let probes = || count(&get(port).unwrap_or_default(), "pathtwin_probes_total");
    until("a probe", || probes() > 0);
    let overview = page(port, "/").expect("the page of all paths");
    assert!(overview.contains("Charged this month: "), "{overview}");
    assert!(overview.contains(" of 2000 MB"), "{overview}");
    let port_of_far = server.address.port().to_string();
    drop(server);
    until("a failure in the state", || {
        let state = state(&folder.path().join("state"));
        state.is_some_and(|s| s["paths"]["loop"]["reach"]["failures"].as_u64() > Some(0))
    });
    let before = probes();
    let mut again = pathtwin();
    again.args(["serve", "--listen", "127.0.0.1", "--port", &port_of_far]);
    let again = again.arg("--key").arg(&key).stderr(Stdio::null()).spawn();
    let mut again = again.expect("start the server again");
    until("probes after it", || probes() > before);
    for child in [&mut watch, &mut again] {
        child.kill().expect("kill it");
        child.wait().expect("it is gone");
    }
}

#[test]
fn flash_without_a_folder_in_memory_is_refused_and_with_one_the_state_is_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = folder.path().join("key");
    let server = Server::start(pathtwin(), &key, &[]);
    let config = config(folder.path(), &server, &key, "flash = true");
    let refused = run(&["watch", "--config"], &config);
    assert_eq!(refused.status.code(), Some(2));
    let said = text(&refused.stderr);
    assert!(
        said.contains("watch.toml: flash:") && said.contains("runtime = "),
        "{said}"
    );
    let memory = folder.path().join("memory");
    let mut watch = pathtwin();
    watch
        .args(["watch", "--config"])
        .arg(&config)
        .stderr(Stdio::null());
    let mut watch = watch
        .env("RUNTIME_DIRECTORY", &memory)
        .spawn()
        .expect("start it");
    until("a charge in memory", || {
        state(&memory).is_some_and(|s| s["ledger"].as_object().is_some_and(|l| !l.is_empty()))
    });
    // Its copy on disk is older, and has the bytes of a day charged.
    let charged = |folder: &Path| {
        let months = state(folder).expect("a state")["ledger"].clone();
        let months = months.as_object().expect("months").values();
        months
            .map(|month| month["all"].as_u64().expect("bytes"))
            .max()
    };
    let disk = folder.path().join("state");
    assert!(charged(&disk) > charged(&memory));
    watch.kill().expect("kill it");
    watch.wait().expect("it is gone");
}

#[test]
fn a_second_watch_of_the_same_state_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = folder.path().join("key");
    let server = Server::start(pathtwin(), &key, &[]);
    let config = config(folder.path(), &server, &key, "");
    let mut first = start(&config, &folder.path().join("none"));
    until("a state", || state(&folder.path().join("state")).is_some());
    let second = pathtwin().args(["watch", "--config"]).arg(&config).output();
    let second = second.expect("run the second");
    assert_eq!(second.status.code(), Some(3), "{}", text(&second.stderr));
    assert!(text(&second.stderr).contains("another pathtwin watch"));
    first.kill().expect("kill it");
    first.wait().expect("it is gone");
}

#[test]
fn a_wrong_config_is_refused_with_its_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("w.toml");
    fs::write(&file, "[[path]]\nhots = \"a\"\n").expect("write it");
    let output = run(&["watch", "--check", "--config"], &file);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(
        said.contains("w.toml:2: path[0].hots: unknown key; did you mean \"host\"?"),
        "{said}"
    );
    let example = pathtwin()
        .args(["watch", "--example"])
        .output()
        .expect("run it");
    fs::write(&file, &example.stdout).expect("write it");
    let output = run(&["watch", "--check", "--config"], &file);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        text(&output.stdout).contains("office"),
        "{}",
        text(&output.stdout)
    );
}

fn run(arguments: &[&str], file: &Path) -> std::process::Output {
    let mut command: Command = pathtwin();
    command.args(arguments).arg(file).output().expect("run it")
}

fn get(port: u16) -> std::io::Result<String> {
    page(port, "/metrics")
}

fn page(port: u16, name: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    let request = format!("GET {name} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let (_, body) = text.split_once("\r\n\r\n").unwrap_or_default();
    Ok(body.to_owned())
}

/// A far end that hangs: its kernel accepts connections, and nobody answers them. Of all tests here
/// it waits longest, and by its name it starts first.
#[test]
fn a_far_end_that_hangs_fails_probes_until_it_returns() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = folder.path().join("key");
    let server = Server::start(pathtwin(), &key, &[]);
    let config = config(folder.path(), &server, &key, LISTEN);
    let mut watch = start(&config, &folder.path().join("none"));
    let (port, _log) = listening(&mut watch);
    let probes = || count(&get(port).unwrap_or_default(), "pathtwin_probes_total");
    until("a probe", || probes() > 0);
    let far = rustix::process::Pid::from_child(&server.child);
    let signal = |signal| rustix::process::kill_process(far, signal).expect("send it");
    signal(rustix::process::Signal::STOP);
    let failures = || {
        let state = state(&folder.path().join("state"));
        state.and_then(|s| s["paths"]["loop"]["reach"]["failures"].as_u64())
    };
    until("a failure in the state", || failures() > Some(0));
    let before = probes();
    signal(rustix::process::Signal::CONT);
    until("probes after it", || probes() > before);
    until("an answer in the state", || failures() == Some(0));
    watch.kill().expect("kill it");
    watch.wait().expect("it is gone");
}
