//! The keeper as a transient service of systemd, which outlives the session of its change.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::Path,
    process::{Command, Output, Stdio},
    time::Duration,
};

use model::change::{ChangeId, ProcessId};

use super::{START_LIMIT, process_of};
use crate::{BootClock, Clock};

/// Exists where systemd is the first process (sd_booted(3)).
const BOOTED: &str = "/run/systemd/system";

/// A service is started by the first process, in its namespaces.
const NAMESPACES: [&str; 5] = ["net", "mnt", "pid", "user", "time"];

/// Time between two looks whether a program has ended.
const INTERVAL: Duration = Duration::from_millis(20);

/// Properties of the service. It starts again if it is killed; a stop is at once, because the
/// keeper ignores other signals; standard output has only the word for a parent.
const PROPERTIES: [&str; 4] = [
    "Restart=on-failure",
    "KillSignal=SIGKILL",
    "StandardOutput=null",
    "TimeoutStartSec=10s",
];

/// Starts a keeper as a service, and waits until it is ready. `command` runs [`keep`](super::keep)
/// and notifies the service manager. `None` where it must be a process of its own: the first
/// process is not systemd or is in other namespaces, or this is not root.
///
/// # Errors
/// The service could not be started; none is left.
pub fn start_keeper_service(command: &Command, id: &ChangeId) -> Option<io::Result<ProcessId>> {
    let is_possible = Path::new(BOOTED).is_dir() && sys::sched::is_root() && is_at_home();
    is_possible.then(|| {
        let unit = format!("pathtwin-keeper-{id}.service", id = id.as_str());
        started(command, &unit).inspect_err(|_| {
            let _ = run(Command::new("systemctl").args(["stop", &unit]));
        })
    })
}

fn started(command: &Command, unit: &str) -> io::Result<ProcessId> {
    let mut start = Command::new("systemd-run");
    start
        .args(["--quiet", "--collect", "--no-ask-password"])
        .args(["--service-type=notify", "--unit", unit])
        .args(["--description", "Keeper of a change by pathtwin tune"])
        .args(PROPERTIES.map(|property| format!("--property={property}")))
        .arg("--")
        .arg(command.get_program());
    // systemd expands variables in arguments (systemd.service(5)).
    let words = command.get_args().map(|word| word.to_string_lossy());
    start.args(words.map(|word| word.replace('$', "$$")));
    run(&mut start)?;
    let mut show = Command::new("systemctl");
    let shown = run(show.args(["show", "--property=MainPID", "--value", unit]))?;
    let pid = String::from_utf8_lossy(&shown.stdout).trim().parse();
    let process = pid.ok().and_then(|pid| process_of(pid).transpose());
    process.unwrap_or_else(|| Err(io::Error::other("it ended at once")))
}

/// Returns true if this thread sees the files, devices, processes and clocks of the first process.
fn is_at_home() -> bool {
    let namespace = |process, name: &str| fs::read_link(format!("/proc/{process}/ns/{name}")).ok();
    let is_same = |name: &&str| namespace("thread-self", name) == namespace("1", name);
    let root = |path: &str| fs::metadata(path).map(|m| (m.dev(), m.ino())).ok();
    namespace("1", "net").is_some()
        && NAMESPACES.iter().all(is_same)
        && root("/proc/1/root/") == root("/")
}

/// Runs a program to its end, for a limited time.
fn run(command: &mut Command) -> io::Result<Output> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| io::Error::other(format!("{name}: {error}")))?;
    // It reports the timeout of the service itself.
    let limit = START_LIMIT + Duration::from_secs(5);
    let end = BootClock.boottime_ns() + limit.as_nanos() as u64;
    while child.try_wait()?.is_none() {
        if BootClock.boottime_ns() >= end {
            let _ = child.kill();
            let _ = child.wait();
            return Err(io::Error::other(format!("{name} hangs")));
        }
        BootClock.sleep(INTERVAL);
    }
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim().lines().next().unwrap_or_default();
    let status = output.status;
    Err(io::Error::other(format!("{name}: {status}: {said}")))
}
