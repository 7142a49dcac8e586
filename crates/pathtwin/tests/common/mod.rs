//! Running the real program on the real lab. `make test` builds the guest program and the kernel
//! image first, and prints where they are.

#![allow(clippy::expect_used, dead_code, unreachable_pub)]

pub mod server;

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

/// The program under test. Runs it stores go to a history of the tests, not to the user's.
pub fn pathtwin() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pathtwin"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    command
        .env("PATHTWIN_GUEST", guest())
        .env("PATHTWIN_STORE", folder.join("history.db"))
        .env("XDG_CONFIG_HOME", folder.join("config"));
    command
}

/// Returns true if a run was measured. Over loopback the processors limit the rate, which
/// invalidates samples: a run may then end with the message that too few are valid.
pub fn is_measured(output: &Output) -> bool {
    let lacks = ["too few samples count", "no TCP throughput counts"];
    let is_short = || lacks.iter().any(|what| text(&output.stderr).contains(what));
    output.status.success() || (output.status.code() == Some(4) && is_short())
}

/// The guest program: the one named, or the optimised one of `make build`.
pub fn guest() -> PathBuf {
    std::env::var_os("PATHTWIN_GUEST").map_or_else(
        || {
            let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
            workspace.join("target/x86_64-unknown-linux-musl/release/pathtwin-guest")
        },
        PathBuf::from,
    )
}

/// The agent, the build for routers, for a processor. `make agent` builds it.
pub fn agent(processor: &str) -> PathBuf {
    let targets = std::env::var_os("PATHTWIN_TARGETS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"),
        PathBuf::from,
    );
    let path = targets.join(format!("agent-{processor}/pathtwin"));
    assert!(
        path.exists(),
        "{} is not there; run: make agent",
        path.display()
    );
    path
}

/// The agent for this processor.
pub fn native() -> Command {
    Command::new(agent("x86_64"))
}

/// The agent for aarch64, in QEMU's user mode, on this host's kernel.
pub fn emulated() -> Command {
    let version = Command::new("qemu-aarch64").arg("--version").output();
    assert!(
        version.is_ok_and(|output| output.status.success()),
        "no qemu-aarch64; run: scripts/setup test"
    );
    let mut command = Command::new("qemu-aarch64");
    command.arg(agent("aarch64"));
    command
}

/// The kernel image.
pub fn kernel() -> PathBuf {
    let output = pathtwin()
        .args(["lab", "kernel", "path"])
        .output()
        .expect("run pathtwin");
    assert!(output.status.success(), "{}", text(&output.stderr));
    PathBuf::from(text(&output.stdout).trim())
}

/// Returns true if the image has a patch; one of another series may lack it.
pub fn patched(patch: &str) -> bool {
    let description = kernel().with_file_name("image.json");
    let text = std::fs::read_to_string(description).unwrap_or_default();
    let applied = serde_json::from_str::<Value>(&text).is_ok_and(|meta| {
        let patches = meta["patches"].as_array().cloned().unwrap_or_default();
        patches.contains(&serde_json::json!({"name": patch, "state": "applied"}))
    });
    if !applied {
        eprintln!("skipped: the image is without {patch}");
    }
    applied
}

/// A spec in a separate folder.
pub fn spec(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("make a folder");
    let path = folder.path().join("spec.toml");
    std::fs::write(&path, text).expect("write the spec");
    (folder, path)
}

/// The rows of a spec, run afresh.
pub fn rows(spec: &Path, more: &[&str]) -> Vec<Value> {
    let mut command = pathtwin();
    command
        .args(["lab", "run", "--no-cache", "--output", "jsonl"])
        .args(more)
        .arg(spec);
    let output = command.output().expect("run pathtwin");
    assert!(output.status.success(), "{}", text(&output.stderr));
    parse(&output)
}

/// The rows that were printed.
pub fn parse(output: &Output) -> Vec<Value> {
    let lines = text(&output.stdout);
    lines
        .lines()
        .map(|l| serde_json::from_str(l).expect("a row a line"))
        .collect()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Processes that belong to lab guests started by `parent`.
pub fn guests_of(parent: u32) -> Vec<i32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("read /proc").flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|n| n.parse::<i32>().ok())
        else {
            continue;
        };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        // pid (name) state ppid …; the name may hold anything, so count from the last bracket.
        let Some((_, rest)) = stat.rsplit_once(')') else {
            continue;
        };
        if rest.split_whitespace().nth(1).and_then(|p| p.parse().ok()) == Some(parent) {
            found.push(pid);
            found.extend(guests_of(pid as u32));
        }
    }
    found
}

/// Sandboxes in memory whose owner is `pid`.
pub fn sandboxes_of(pid: u32) -> Vec<PathBuf> {
    let prefix = format!("pathtwin-{pid}-");
    let entries = std::fs::read_dir("/dev/shm")
        .into_iter()
        .flatten()
        .flatten();
    entries
        .filter(|e| e.file_name().to_string_lossy().starts_with(&prefix))
        .map(|e| e.path())
        .collect()
}

/// Copies a file to execute it, by another process: if this one wrote it, a process that another
/// test starts meanwhile could inherit the open file, and executing it would fail with `ETXTBSY`.
pub fn copy_program(from: &Path, to: &Path) {
    let status = Command::new("cp").args([from, to]).status();
    assert!(status.expect("run cp").success(), "{}", to.display());
}

/// The program where programs in the lab find it: the host's temporary folders are hidden from
/// them.
pub fn program() -> (Option<tempfile::TempDir>, PathBuf) {
    let built = PathBuf::from(env!("CARGO_BIN_EXE_pathtwin"));
    let hidden = ["/tmp", "/run", "/var/tmp", "/dev/shm"];
    if !hidden.iter().any(|folder| built.starts_with(folder)) {
        return (None, built);
    }
    let home = std::env::home_dir().expect("a home folder");
    let folder = tempfile::tempdir_in(home).expect("make a folder");
    let copy = folder.path().join("pathtwin");
    copy_program(&built, &copy);
    (Some(folder), copy)
}
