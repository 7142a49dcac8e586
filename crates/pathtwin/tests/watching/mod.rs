//! A real watch of a real server on loopback, shared by several programs of tests.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, ChildStderr, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::common::{pathtwin, server::Server};

/// The state, if it exists.
pub(crate) fn state(folder: &Path) -> Option<Value> {
    let text = fs::read(folder.join("watch.json")).ok()?;
    Some(serde_json::from_slice(&text).expect("a state is whole at any time"))
}

/// A config with the host's own congestion control: ordinary users may not use every one, such as
/// cubic where the kernel was built with bbr as its default.
pub(crate) fn config(folder: &Path, server: &Server, key: &Path, more: &str) -> std::path::PathBuf {
    let file = folder.join("watch.toml");
    let text = format!(
        "state = {:?}\nstore = {:?}\n{more}\n[[path]]\nname = \"loop\"\nhost = \"{}\"\nkey = {:?}\n\
         probe = \"10s\"\nload_bytes = \"40MB\"\nmetered = \"no\"\nrate = \"10gbit\"\n\
         cc = [\"default\"]\n",
        folder.join("state"),
        folder.join("history.db"),
        server.address,
        key
    );
    fs::write(&file, text).expect("write the config");
    file
}

pub(crate) fn start(config: &Path, socket: &Path) -> Child {
    let mut command = pathtwin();
    command.args(["watch", "--config"]).arg(config);
    command
        .env("NOTIFY_SOCKET", socket)
        .env("WATCHDOG_USEC", "60000000");
    command
        .stderr(Stdio::piped())
        .spawn()
        .expect("start the watch")
}

/// A free port, which the watch names in its log.
pub(crate) const LISTEN: &str = "listen = \"127.0.0.1:0\"";

/// The port of a watch with [`LISTEN`], and the rest of its log.
pub(crate) fn listening(watch: &mut Child) -> (u16, BufReader<ChildStderr>) {
    let mut log = BufReader::new(watch.stderr.take().expect("its log"));
    let mut said = String::new();
    loop {
        let from = said.len();
        let n = log.read_line(&mut said).expect("its log");
        assert!(n > 0, "it listens nowhere: {said}");
        let line = said[from..].trim_end().trim_end_matches('/');
        if let Some((_, port)) = line.split_once("metrics at http://127.0.0.1:") {
            return (port.parse().expect("a port"), log);
        }
    }
}

/// A wait that is longer has failed. Bug: it was 90 s, and a far end that hangs while a probe runs
/// is in the state only after the timeout of that probe (60 s), the wait for the next one, and its
/// begin: up to 80 s on two processors.
const LONGEST: Duration = Duration::from_secs(400);

pub(crate) fn until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < LONGEST, "{what} did not come");
        std::thread::sleep(Duration::from_millis(50));
    }
    println!("{what} after {:.1} s", start.elapsed().as_secs_f64());
}

/// Sets the time of the next load to now in the state of a watch that does not run.
pub(crate) fn make_a_load_due(folder: &Path) -> bool {
    let Some(mut state) = state(folder) else {
        return false;
    };
    let Some(path) = state["paths"]["loop"].as_object_mut() else {
        return false;
    };
    path.insert("load_due".to_owned(), 1.into());
    fs::write(folder.join("watch.json"), state.to_string()).expect("write the state");
    true
}
