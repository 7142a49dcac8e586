//! Reproducibility: the same spec, seed and image give the same bytes, under any load of the host.
//!
//! `PATHTWIN_REPLAYS` sets how often each cell is replayed in each of the five conditions. The
//! default is for every test run; `make sameness` does 20, a hundred a cell.

#![allow(clippy::expect_used)]

mod common;

use std::{
    collections::BTreeSet,
    io::Read,
    path::Path,
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use common::{copy_program, guest, guests_of, is_root, kernel, parse, rows, spec, text};

const LOSSY_CUBIC: &str = r#"
name = "lossy-cubic"
duration = "3s"
warmup = "1s"
[path]
rtt = "24ms"
rate = "50mbit"
[path.down]
loss = "0.2%"
"#;

const TUNNELLED_BBR: &str = r#"
name = "tunnelled-bbr"
duration = "2s"
warmup = "1s"
[path]
rtt = "24ms"
rate = "50mbit"
jitter = "1ms"
[tunnel]
kind = "wireguard"
[ends]
cc = "bbr"
"#;

const CROSSED_DUALPI2: &str = r#"
name = "crossed-dualpi2"
duration = "3s"
warmup = "1s"
[path]
rtt = "24ms"
rate = "50mbit"
queue = "dualpi2"
[ends]
ecn = true
[[cross]]
kind = "tcp"
cc = "reno"
start = "1s"
stop = "3s"
[[cross]]
kind = "udp"
rate = "5mbit"
"#;

const CELLS: [&str; 3] = [LOSSY_CUBIC, TUNNELLED_BBR, CROSSED_DUALPI2];

fn replays() -> usize {
    std::env::var("PATHTWIN_REPLAYS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(1)
}

fn digests(spec: &Path) -> BTreeSet<String> {
    rows(spec, &[]).iter().map(digest).collect()
}

fn digest(row: &serde_json::Value) -> String {
    row["digest"].as_str().expect("a digest").to_owned()
}

/// Runs `body` while `load` runs in `threads` threads.
fn beside<T>(threads: usize, load: impl Fn(&AtomicBool) + Sync, body: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| load(&done));
        }
        let result = body();
        done.store(true, Ordering::Relaxed);
        result
    })
}

fn spin(done: &AtomicBool) {
    while !done.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
}

fn busy(spec: &Path) -> BTreeSet<String> {
    beside(4, spin, || digests(spec))
}

fn pinned(spec: &Path) -> BTreeSet<String> {
    let mut command = Command::new("taskset");
    command.args(["-c", "0", env!("CARGO_BIN_EXE_pathtwin")]);
    command
        .args(["lab", "run", "--no-cache", "--output", "jsonl"])
        .arg(spec);
    let output = command
        .env("PATHTWIN_GUEST", guest())
        .output()
        .expect("taskset of util-linux");
    assert!(output.status.success(), "{}", text(&output.stderr));
    parse(&output).iter().map(digest).collect()
}

/// Stops and continues every process of the guest every few milliseconds.
fn stuttering(spec: &Path) -> BTreeSet<String> {
    let mut child = common::pathtwin()
        .args(["lab", "run", "--no-cache", "--output", "jsonl"])
        .arg(spec)
        .stdout(Stdio::piped())
        .spawn()
        .expect("run pathtwin");
    let pid = child.id();
    let mut stdout = child.stdout.take().expect("piped");
    let mut printed = String::new();
    let stutter = |done: &AtomicBool| {
        while !done.load(Ordering::Relaxed) {
            let guests = guests_of(pid);
            for signal in [rustix::process::Signal::STOP, rustix::process::Signal::CONT] {
                for guest in guests
                    .iter()
                    .filter_map(|&g| rustix::process::Pid::from_raw(g))
                {
                    let _ = rustix::process::kill_process(guest, signal);
                }
                thread::sleep(Duration::from_millis(3));
            }
        }
    };
    beside(1, stutter, || {
        stdout.read_to_string(&mut printed).expect("read rows")
    });
    assert!(child.wait().expect("wait").success());
    let rows = printed
        .lines()
        .map(|l| serde_json::from_str(l).expect("a row a line"));
    rows.map(|row: serde_json::Value| digest(&row)).collect()
}

/// Another working folder, user (if this one is root) and environment, and other names of all
/// files.
fn elsewhere(spec: &Path) -> BTreeSet<String> {
    let folder = tempfile::Builder::new()
        .prefix("another place ")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .tempdir()
        .expect("make a folder");
    let copy = |from: &Path, name: &str| {
        let to = folder.path().join(name);
        copy_program(from, &to);
        to
    };
    let program = copy(Path::new(env!("CARGO_BIN_EXE_pathtwin")), "program");
    let (guest, kernel) = (
        copy(&guest(), "another-guest"),
        copy(&kernel(), "another-kernel"),
    );
    let spec = copy(spec, "another.toml");
    let mut command = if is_root() {
        let mut command = Command::new("setpriv");
        command.args([
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "--inh-caps=-all",
        ]);
        command.args(["--bounding-set=-all", "--"]).arg(&program);
        command
    } else {
        Command::new(&program)
    };
    command
        .args(["lab", "run", "--no-cache", "--output", "jsonl"])
        .arg(spec.file_name().expect("a name"))
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "zh_CN.UTF-8")
        .env("PATHTWIN_SEED", "99")
        .env("PATHTWIN_GUEST", guest)
        .env("PATHTWIN_KERNEL", kernel);
    let output = command.output().expect("setpriv of util-linux");
    assert!(output.status.success(), "{}", text(&output.stderr));
    parse(&output).iter().map(digest).collect()
}

/// A condition under which a spec is replayed.
type Condition = (&'static str, fn(&Path) -> BTreeSet<String>);

const CONDITIONS: [Condition; 5] = [
    ("idle", digests),
    ("both processors busy", busy),
    ("held to one processor", pinned),
    ("stopped and continued", stuttering),
    ("another folder, user and environment", elsewhere),
];

#[test]
fn replays_are_the_same_bytes_under_five_host_conditions() {
    for cell in CELLS {
        let (_folder, path) = spec(cell);
        let expected = digests(&path);
        assert_eq!(expected.len(), 1, "all rows of a cell carry its one digest");
        for (name, condition) in CONDITIONS {
            for replay in 0..replays() {
                assert_eq!(
                    condition(&path),
                    expected,
                    "{name}, replay {replay}:\n{cell}"
                );
            }
        }
    }
}

#[test]
fn another_seed_is_another_run() {
    for cell in CELLS {
        let (_folder, path) = spec(cell);
        let seeds: BTreeSet<String> = ["1", "2", "3"]
            .iter()
            .map(|seed| digest(&rows(&path, &["--seed", seed])[0]))
            .collect();
        assert_eq!(seeds.len(), 3, "{cell}");
    }
}
