//! Ways to cut a host off or to leave it changed, each tried in a separate network namespace.

#![allow(clippy::unwrap_used)]

mod again;
mod first;
mod hardware;
mod ifupdown;
mod lockout;
mod mtu;
mod owners;
mod parts;
mod probes;
mod queues;
mod reversal;
mod routes;
mod settings;
mod system;
mod typed;

use std::{os::fd::AsRawFd, path::Path, process::Command, time::Duration};

use model::change::{Change, ProcessId, Setting, State, parse::Scope};
use sys::{Netns, process::Process};
use tune::{
    Arm, BootClock, Env, Folder, Live, NewFlows, Prober, Refusal, RefusalReason, Request,
    TuneError, Unobserved, fresh_id, plan,
};

/// Moves this thread into a namespace with a device `v0`; `false`, with a message, without root.
fn scene() -> bool {
    match Netns::create().and_then(|ns| ns.enter()) {
        Ok(()) => {}
        Err(error) => {
            println!("skipped: {error}");
            return false;
        }
    }
    for line in [
        "ip link set lo up",
        "ip link add v0 type veth peer name v1",
        "ip link set v1 up",
        "ip link set v0 up",
        "ip addr add 10.1.0.1/24 dev v0",
    ] {
        sh(line);
    }
    true
}

/// Moves `v1`, the other end of the scene's device, into a host of its own.
fn other_host() -> Netns {
    let ns = Netns::create().unwrap();
    let (own, fd) = (std::process::id(), ns.fd().as_raw_fd());
    sh(&format!("ip link set v1 netns /proc/{own}/fd/{fd}"));
    ns
}

fn sh(line: &str) -> String {
    let output = Command::new("sh").args(["-c", line]).output().unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The shells of hosts and of routers. BusyBox's is left out where it is missing, and where it has
/// commands of its own in place of the programs of `PATH`: so Debian's `busybox-static` is built.
fn shells() -> Vec<&'static str> {
    let runs_programs = |shell: &str| {
        let line = format!("{shell} -c 'type tc'");
        let ran = Command::new("sh").args(["-c", &line]).output().unwrap();
        ran.status.success() && ran.stdout.contains(&b'/')
    };
    let mut all = vec!["sh", "busybox ash"];
    all.retain(|shell| {
        let fits = *shell == "sh" || runs_programs(shell);
        if !fits {
            println!("skipped: no {shell} that runs the tc of this host; install busybox");
        }
        fits
    });
    all
}

fn planned(settings: &[Setting]) -> Result<Change, TuneError> {
    planned_with(settings, &[])
}

fn planned_with(settings: &[Setting], probes: &[&str]) -> Result<Change, TuneError> {
    let request = Request {
        settings: settings.iter().map(|s| (s.clone(), None)).collect(),
        probes: probes.iter().map(|probe| (*probe).to_owned()).collect(),
        program: "test".to_owned(),
        ..Request::default()
    };
    plan(&mut Live::open().unwrap(), &request, fresh_id().unwrap())
}

fn refused(setting: Setting) -> Refusal {
    match planned(&[setting]) {
        Err(TuneError::Refused(mut all)) if all.len() == 1 => all.remove(0),
        other => panic!("{other:?}"),
    }
}

/// Applies settings, calls `during`, and undoes them.
fn applied(settings: &[Setting], during: impl FnOnce()) -> tune::Rollback {
    applied_with(settings, |_| during())
}

fn applied_with(settings: &[Setting], during: impl FnOnce(&mut Env<'_>)) -> tune::Rollback {
    applied_with_probe(settings, &[], during)
}

fn own() -> ProcessId {
    let own = Process::own().unwrap();
    ProcessId {
        pid: own.pid,
        start_ticks: own.start_ticks,
    }
}

fn applied_with_probe(
    settings: &[Setting],
    probes: &[&str],
    during: impl FnOnce(&mut Env<'_>),
) -> tune::Rollback {
    in_env(|env| {
        let change = apply(env, settings, probes);
        assert_eq!(change.state, State::Applied);
        during(env);
        tune::undo(env, Some(change.id.as_str())).unwrap().1
    })
}

/// Applies settings and keeps them.
fn keep(env: &mut Env<'_>, settings: &[Setting]) -> tune::Confirmed {
    let change = apply(env, settings, &[]);
    tune::confirm(env, Some(change.id.as_str()), &mut NewFlows).unwrap()
}

fn apply(env: &mut Env<'_>, settings: &[Setting], probes: &[&str]) -> Change {
    let own = own();
    let mut arm = Arm {
        window: Duration::from_secs(60),
        controller: own,
        // No process is killed here, so that this one may act as the keeper.
        keeper: &mut |_| Ok(own),
        prober: &mut NewFlows,
    };
    let plan = planned_with(settings, probes).unwrap();
    tune::apply(env, &plan, &mut arm).unwrap()
}

/// Calls `during` with journals in a new folder.
fn in_env<T>(during: impl FnOnce(&mut Env<'_>) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let folder = Folder::open(&folder.path().join("tune")).unwrap();
    during(&mut Env {
        folder: &folder,
        host: &mut Live::open().unwrap(),
        clock: &BootClock,
        observer: &mut Unobserved,
    })
}

/// Number of kept changes with settings that somebody else has set since.
fn drifted(env: &mut Env<'_>) -> usize {
    let kept = tune::kept(env.folder.path()).unwrap();
    tune::drifted(kept, env.host).unwrap().drifted.len()
}

fn cc(name: &str, scope: &str) -> Setting {
    let scope: Scope = scope.parse().unwrap();
    Setting::parse_set(&format!("cc={name}"), scope).unwrap()
}

fn sysctl(text: &str) -> Setting {
    Setting::parse_set(text, Scope::Host).unwrap()
}

/// Runs a test again in a process with separate network, mounts and sysfs; returns `true` in that
/// process. Its mounts end with it.
fn in_own_process(name: &str) -> bool {
    const VARIABLE: &str = "PATHTWIN_OWN_PROCESS";
    if std::env::var_os(VARIABLE).is_some() {
        sh("mount -t sysfs sysfs /sys");
        return true;
    }
    if !sys::privilege::has_net_admin() {
        println!("skipped: needs root");
        return false;
    }
    let status = Command::new("unshare")
        .args(["--net", "--mount", "--propagation", "private", "--"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(VARIABLE, "1")
        .status();
    assert!(status.unwrap().success(), "{name}");
    false
}

/// Runs a test of this program in the lab's guest, whose kernel has every queue.
fn in_guest(name: &str) {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/release/pathtwin");
    if !program.exists() {
        println!("skipped: the lab's guest needs `make build`");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let spec = folder.path().join("spec.toml");
    std::fs::write(&spec, "[path]\nrtt = \"2ms\"\nrate = \"1gbit\"\n").unwrap();
    let output = Command::new(program)
        .args(["lab", "exec", "--wall-limit", "600", "--limit", "600"])
        .arg(&spec)
        .args(["--on", "client", "--"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    println!("{out}");
    assert!(output.status.success(), "{name} in the guest: {output:?}");
    assert!(out.contains("1 passed"), "{name} in the guest: {out}");
}
