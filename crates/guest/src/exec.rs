//! Programs of the host on the nodes of a path.
//!
//! The host's files are mounted read-only; programs can write only to memory of the guest. The
//! guest waits for the last program and then ends the others.

use std::{
    fs::{self, File},
    path::Path,
    process::{Child, Command},
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use model::{
    cell::Cell,
    job::{self, Exec, ExecOutput},
    text,
    text::Value,
};
use sys::{boot, clock::Instant};
use testbed::Testbed;

use crate::{Engine, times::address};

/// Mount point of the host's files.
const HOST: &str = "/host";

/// Programs that read the uptime expect it to be at least this.
const FIRST: Duration = Duration::from_secs(1);

/// From one program's start to the next: time for a server to listen.
const GAP: Duration = Duration::from_millis(200);

/// Runs the programs; their output is in files of the folder.
pub(crate) fn run(engine: Engine<'_>, exec: &Exec) -> anyhow::Result<ExecOutput> {
    let bed = testbed::build(&exec.cell, engine.timers()).context("build the path")?;
    let bed = Arc::new(bed);
    testbed::follow(&bed, Instant(0).after(FIRST)).context("start the changes of rates")?;
    default_congestion(&bed, &exec.cell).context("set the ends' congestion control")?;
    mount_host(&bed).context("mount the host's files")?;
    let limit = Duration::from_nanos(exec.limit_ns);
    watchdog(engine, exec.commands.len(), limit);
    let mut next = Instant(0).after(FIRST);
    let mut children = Vec::new();
    for (number, command) in exec.commands.iter().enumerate() {
        next.wait();
        next = next.after(GAP);
        let child = start(engine, exec, &bed, number, command);
        children.push(child.with_context(|| format!("run {:?}", command.argv.join(" ")))?);
    }
    let statuses = finish(children)?;
    boot::sync();
    Ok(ExecOutput {
        error: None,
        statuses,
        virtual_ns: Instant::now().0,
    })
}

/// The congestion control of programs that do not choose one, and of the facts of a measurement.
/// Flows of this program set theirs on each socket, which a host's kernel allows where it refuses
/// this setting.
pub(crate) fn default_congestion(bed: &Testbed, cell: &Cell) -> anyhow::Result<()> {
    let ends = &cell.ends;
    for (node, end) in [(bed.near(), &ends.near), (bed.far(), &ends.far)] {
        node.ns
            .run(|| sys::sysctl::write("net.ipv4.tcp_congestion_control", &end.cc))??;
    }
    Ok(())
}

fn mount_host(bed: &Testbed) -> anyhow::Result<()> {
    // The cell's folder holds a link to the host's root; the mount follows it.
    boot::mount_foreign("hostfs", HOST, "/host")?;
    boot::mount("devtmpfs", "/host/dev", "")?;
    fs::create_dir_all("/host/dev/shm").and_then(|()| fs::create_dir_all("/host/dev/pts"))?;
    boot::mount("devpts", "/host/dev/pts", "")?;
    boot::mount("proc", "/host/proc", "")?;
    boot::mount("sysfs", "/host/sys", "")?;
    for folder in ["/tmp", "/run", "/var/tmp", "/dev/shm"] {
        let at = format!("{HOST}{folder}");
        if fs::symlink_metadata(&at).is_ok_and(|m| m.is_dir()) {
            boot::mount("tmpfs", &at, "mode=1777")?;
        }
    }
    let mut names = String::from("127.0.0.1 localhost\n::1 localhost\n");
    for node in [bed.near(), bed.far()] {
        names.push_str(&format!("{} {}\n", address(node)?, node.name));
    }
    let file = Path::new("/host/tmp/.hosts");
    fs::write(file, names)?;
    boot::bind(file, Path::new("/host/etc/hosts"))?;
    Ok(())
}

fn start(
    engine: Engine<'_>,
    exec: &Exec,
    bed: &Testbed,
    number: usize,
    command: &job::Command,
) -> anyhow::Result<Child> {
    let node = bed
        .hosts
        .iter()
        .find(|h| h.name == command.node)
        .with_context(|| {
            let names: Vec<&str> = bed.hosts.iter().map(|h| h.name).collect();
            format!("no node {}; there are {}", command.node, names.join(", "))
        })?;
    let (program, arguments) = command.argv.split_first().context("no program")?;
    let file = |end: &str| File::create(engine.folder.join(format!("{number}.{end}")));
    let mut child = Command::new(program);
    child
        .args(arguments)
        .env_clear()
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        .env("HOME", "/tmp")
        .env("LANG", "C.UTF-8")
        // Not Stdio::null(): that opens /dev/null of the guest, which has none.
        .stdin(File::open("/host/dev/null")?)
        .stdout(file("stdout")?)
        .stderr(file("stderr")?);
    boot::inside(&mut child, Path::new(HOST), &exec.directory)?;
    // The child is born in the namespace of the thread that starts it.
    Ok(node.ns.run(|| child.spawn())??)
}

/// Waits for the last program, then ends the others; `None` for those that had to be ended.
fn finish(mut children: Vec<Child>) -> anyhow::Result<Vec<Option<i32>>> {
    use std::os::unix::process::ExitStatusExt;
    let last = children.last_mut().context("no programs")?.wait()?;
    // A server that terminates itself, such as `iperf3 -s -1`, needs a moment.
    std::thread::sleep(Duration::from_secs(1));
    let mut statuses = Vec::new();
    for child in &mut children {
        let status = match child.try_wait()? {
            Some(status) => Some(status),
            None => {
                child.kill()?;
                child.wait()?;
                None
            }
        };
        statuses.push(status.map(|s| s.code().unwrap_or_else(|| 128 + s.signal().unwrap_or(0))));
    }
    if let Some(status) = statuses.last_mut() {
        *status = Some(
            last.code()
                .unwrap_or_else(|| 128 + last.signal().unwrap_or(0)),
        );
    }
    Ok(statuses)
}

fn watchdog(engine: Engine<'_>, programs: usize, limit: Duration) {
    let file = engine.folder.join(job::OUTPUT_FILE);
    std::thread::spawn(move || {
        Instant(0).after(FIRST + limit).wait();
        let error = Some(text!(
            "stopped after {n} s of virtual time (see --limit)",
            n = Value::Count(limit.as_secs_f64())
        ));
        let virtual_ns = Instant::now().0;
        let output = ExecOutput {
            error,
            statuses: vec![None; programs],
            virtual_ns,
        };
        boot::sync();
        if let Ok(bytes) = serde_json::to_vec(&output) {
            let _ = crate::engine::put(&file, &bytes);
        }
        boot::power_off();
    });
}
