//! Changes that are interrupted: end states compared as dumps of the kernel, by iproute2.
//!
//! Each case is a seed: a host with links, routes and queues, a random plan, and a random
//! interruption of it. The processes are real and are killed by SIGKILL. Cases run in the lab's
//! guest, where time is virtual and every queue exists; and in network namespaces of this host, if
//! this is root. `PATHTWIN_TUNE_CASES` sets their number.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    missing_docs,
    unreachable_pub
)]

mod after;
mod case;
mod disk;
mod kind;
mod modules;
mod process;
#[path = "../scene/mod.rs"]
mod scene;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use kind::{KINDS, Kind};

/// Image of a kernel with the options of `host.config`, which `make host-kernel` builds: the
/// guest's host has more that can be set.
const KERNEL: &str = "PATHTWIN_HOST_KERNEL";
/// Cases in the guest.
const IN_GUEST: u64 = 50;
/// Cases of one boot.
const BATCH: u64 = 10;
/// Cases in namespaces of this host, where time is real.
const ON_HOST: u64 = 8;
/// Share of the cases of `PATHTWIN_TUNE_CASES` that run there, too: one in this many.
const OF_HOST: u64 = 5;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--case", seed] => case::run(seed.parse().unwrap()),
        ["--cases", first, count, modules @ ..] => {
            if let [folder] = modules {
                modules::mount(Path::new(folder)).unwrap();
            }
            all(first.parse().unwrap(), count.parse().unwrap())
        }
        ["--controller", folder, seed, stop, window, turns, probe] => process::controller(
            folder,
            seed.parse().unwrap(),
            stop,
            window.parse().unwrap(),
            turns.parse().unwrap(),
            probe,
        ),
        ["--act", act, folder, id, root, stop] => {
            process::act(act, folder, id, root, stop.parse().unwrap())
        }
        ["--keeper", folder, id, stop] => process::keeper(folder, id, stop.parse().unwrap()),
        _ => test(),
    }
}

fn test() -> ExitCode {
    let missing = scene::missing();
    if !missing.is_empty() {
        println!("skipped: dumps by {}, not installed", missing.join(" and "));
    }
    let count = std::env::var("PATHTWIN_TUNE_CASES").ok();
    let count: Option<u64> = count.and_then(|c| c.parse().ok());
    let on_host = match sys::privilege::has_net_admin() {
        true => all(0, count.map_or(ON_HOST, |count| count.div_ceil(OF_HOST))),
        false => {
            println!("skipped: cases in namespaces of this host need root");
            ExitCode::SUCCESS
        }
    };
    if on_host != ExitCode::SUCCESS {
        return on_host;
    }
    in_guest(count.unwrap_or(IN_GUEST))
}

/// Runs cases sequentially, each in a separate process and namespace.
fn all(first: u64, count: u64) -> ExitCode {
    let own = std::env::current_exe().unwrap();
    let mut failed = Vec::new();
    for seed in first..first + count {
        // Its mounts are private.
        let ended = Command::new("unshare")
            .args(["--mount", "--propagation", "private", "--"])
            .arg(&own)
            .args(["--case", &seed.to_string()])
            .status()
            .unwrap();
        if !ended.success() {
            failed.push(seed);
        }
    }
    println!(
        "{count} interruptions, {} left the host changed: {failed:?}",
        failed.len()
    );
    ExitCode::from(u8::from(!failed.is_empty()))
}

fn in_guest(count: u64) -> ExitCode {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/release/pathtwin");
    if !program.exists() {
        println!("skipped: cases in the lab's guest need `make build`");
        return ExitCode::SUCCESS;
    }
    let folder = tempfile::tempdir().unwrap();
    let spec = folder.path().join("spec.toml");
    std::fs::write(&spec, "[path]\nrtt = \"2ms\"\nrate = \"1gbit\"\n").unwrap();
    let mut said = String::new();
    for first in (0..count).step_by(BATCH as usize) {
        let batch = BATCH.min(count - first);
        let (code, out) = guest(&program, &spec, 1000 + first, batch);
        print!("{out}");
        if code != Some(0) {
            println!("cases from {}: {code:?}", 1000 + first);
            return ExitCode::FAILURE;
        }
        said.push_str(&out);
    }
    let settings = settings(&said);
    println!("settings of these plans: {settings:?}");
    // Modules are there to be loaded with that kernel, and in half of the plans.
    if count >= IN_GUEST && std::env::var_os(KERNEL).is_some() && !settings.contains_key("Module") {
        println!("no module was loaded");
        return ExitCode::FAILURE;
    }
    // Every kind took place, and the plan of a case had steps.
    let took_place = |kind: &&Kind| {
        let ends = |line: &str| line.starts_with("ok ") && line.ends_with(&format!(" {kind:?}"));
        said.lines().any(ends)
    };
    let never: Vec<_> = KINDS.iter().filter(|kind| !took_place(kind)).collect();
    match count < IN_GUEST || never.is_empty() {
        true => ExitCode::SUCCESS,
        false => {
            println!("kinds that never took place: {never:?}");
            ExitCode::FAILURE
        }
    }
}

/// Numbers of settings by kind.
fn settings(said: &str) -> BTreeMap<&str, u64> {
    let mut all = BTreeMap::new();
    for kind in said.lines().filter_map(|line| line.strip_prefix("  of ")) {
        *all.entry(kind).or_default() += 1;
    }
    all
}

/// Runs cases in one boot of a guest; its exit code and output.
fn guest(program: &Path, spec: &Path, first: u64, count: u64) -> (Option<i32>, String) {
    let mut command = Command::new(program);
    let kernel = std::env::var_os(KERNEL).map(PathBuf::from);
    if let Some(kernel) = &kernel {
        command.env("PATHTWIN_KERNEL", kernel);
    }
    let modules = kernel.and_then(|kernel| modules::of(&kernel));
    let output = command
        .args(["lab", "exec", "--wall-limit", "600"])
        .args(["--limit", &(count * 60).to_string()])
        .arg(spec)
        .args(["--on", "client", "--"])
        .arg(std::env::current_exe().unwrap())
        .args(["--cases", &first.to_string(), &count.to_string()])
        .args(modules)
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code(), out)
}
