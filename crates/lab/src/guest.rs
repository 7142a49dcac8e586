//! Guests: a kernel process with one job each.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use kernel::Image;
use model::{
    job::{JOB_FILE, Job, OUTPUT_FILE},
    units::Seed,
};

use crate::{LabError, images::Known, mappings::Mappings, sandbox::Sandbox};

/// Parameters of a guest's boot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Boot<'a> {
    /// The kernel image.
    pub kernel: &'a Known,
    /// How it runs programs.
    pub mode: Mode,
    /// Its folders.
    pub sandbox: &'a Sandbox,
    /// Real time after which it is ended.
    pub wall_limit: Duration,
    /// Set when the user stops the program.
    pub stop: &'a AtomicBool,
}

/// Time that a guest took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Real time, s.
    pub wall_s: f64,
    /// Processor time, s.
    pub cpu_s: f64,
}

/// How a kernel runs the programs of its guest. The results are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A program passes its system calls on by itself: less work for the host.
    Seccomp,
    /// The kernel traces the program.
    Ptrace,
}

impl Mode {
    /// The mode of an image: the faster one that it has, unless the user turned that off.
    pub(crate) fn of(image: &Image, seccomp_allowed: bool) -> Self {
        match &image.meta {
            Some(meta) if meta.seccomp && seccomp_allowed => Self::Seccomp,
            _ => Self::Ptrace,
        }
    }

    /// An argument that the kernel takes out of its command line before it is mixed into random
    /// numbers. Kernels without the mode know no such argument, and trace.
    fn argument(self) -> Option<&'static str> {
        (self == Self::Seccomp).then_some("seccomp=on")
    }
}

/// Whether the faster mode may be used, by `PATHTWIN_SECCOMP`.
///
/// # Errors
/// It is neither yes nor no.
pub(crate) fn seccomp_allowed() -> Result<bool, LabError> {
    match std::env::var_os("PATHTWIN_SECCOMP") {
        None => Ok(true),
        Some(value) => allowed(&value.to_string_lossy()),
    }
}

fn allowed(value: &str) -> Result<bool, LabError> {
    match value {
        "" | "yes" => Ok(true),
        "no" => Ok(false),
        other => Err(LabError::Seccomp(other.to_owned())),
    }
}

/// The command line: the same for all cells of a memory size, because the kernel mixes it into its
/// random numbers (drivers/char/random.c, `random_init_early`). `/proc/self/cwd` is the cell's
/// folder, independent of its name.
pub(crate) fn arguments(memory_mb: u64, is_mostly_idle: bool) -> Vec<String> {
    let mut arguments = vec![format!("mem={memory_mb}M")];
    arguments.extend(
        [
            "time-travel=inf-cpu",
            "time-travel-start=1700000000000000000",
            "root=/dev/root",
            "rootfstype=hostfs",
            "rootflags=/../root",
            "hostfs=/proc/self/cwd",
            "ro",
            "init=/init",
            "con=null",
            "con0=null,fd:1",
            "quiet",
            "panic=-1",
        ]
        .map(str::to_owned),
    );
    if is_mostly_idle {
        // The lab's kernel goes on ticking when it is idle, unless told otherwise.
        arguments.push("nohz=on".to_owned());
    }
    arguments
}

/// Runs a job in a guest. Its output is then in `folder`, the only part of the host that the
/// guest's process can write, as far as the host has means for that ([`sys::isolation`]).
pub(crate) fn run(
    boot: Boot<'_>,
    folder: &Path,
    job: &Job,
    seed: Seed,
    arguments: Vec<String>,
) -> Result<Cost, LabError> {
    let file = folder.join(JOB_FILE);
    let text = serde_json::to_vec(job).map_err(LabError::GuestJob)?;
    fs::write(&file, text).map_err(LabError::file("write", &file))?;
    let console = folder.join("console.txt");
    let output = fs::File::create(&console).map_err(LabError::file("create", &console))?;
    let errors = output
        .try_clone()
        .map_err(LabError::file("use", &console))?;
    let kernel = &boot.kernel.image.path;
    let mut command = Command::new(kernel);
    command
        .args(boot.mode.argument())
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .envs(kernel::ENVIRONMENT.iter().copied())
        .env("PATHTWIN_SEED", seed.to_string())
        .env("TMPDIR", folder)
        .env("HOME", folder)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors);
    // Until it ends, guests of other programs use other processors.
    let claim = sys::processor::Claim::any();
    sys::sched::confine(&mut command, claim.as_ref().map(|claim| claim.cpu()));
    // After that, since it writes to /proc.
    sys::isolation::isolate(&mut command, folder, sys::isolation::Means::here())
        .map_err(LabError::file("isolate a guest in", folder))?;
    let started = Instant::now();
    let child = command
        .spawn()
        .map_err(|e| LabError::Start(kernel.clone(), e))?;
    let mut mappings = Mappings::new(started);
    let end = wait(
        child.id(),
        boot.wall_limit,
        boot.stop,
        kernel,
        &console,
        || mappings.check(Instant::now(), child.id()),
    )?;
    if !folder.join(OUTPUT_FILE).exists() {
        return Err(LabError::NoResult {
            how: end.code.into(),
            console: tail(&console),
        });
    }
    Ok(Cost {
        wall_s: started.elapsed().as_secs_f64(),
        cpu_s: end.cpu_s,
    })
}

/// Waits for the leader of a process group to end, and ends the whole group: no process of a guest
/// may outlive it. Kills it at the limit, when `check` finds a fault, or when the user stops.
pub(crate) fn wait(
    pid: u32,
    limit: Duration,
    stop: &AtomicBool,
    program: &Path,
    console: &Path,
    mut check: impl FnMut() -> Result<(), LabError>,
) -> Result<sys::sched::ChildEnd, LabError> {
    const INTERVAL: Duration = Duration::from_millis(50);
    let started = Instant::now();
    let mut fault = None;
    let end = loop {
        let end = sys::sched::wait_child(pid, INTERVAL)
            .map_err(|e| LabError::Start(program.to_owned(), e))?;
        if end.is_some() || stop.load(Ordering::Relaxed) || started.elapsed() > limit {
            break end;
        }
        fault = check().err();
        if fault.is_some() {
            break None;
        }
    };
    sys::sched::kill_group(pid);
    if let Some(end) = end {
        return Ok(end);
    }
    let _ = sys::sched::wait_child(pid, Duration::from_secs(10));
    Err(if let Some(fault) = fault {
        fault
    } else if stop.load(Ordering::Relaxed) {
        LabError::Stopped
    } else {
        LabError::TooLong {
            seconds: limit.as_secs(),
            console: tail(console),
        }
    })
}

/// Largest file of a guest that is read, bytes; a long plan writes some 100 MB.
const LARGEST: u64 = 4 << 30;

/// Reads a file of a guest. Programs in the guest may have created links to files of the host, or
/// pipes, there.
pub(crate) fn read(file: &Path) -> Result<Vec<u8>, LabError> {
    sys::files::read_untrusted(file, LARGEST).map_err(LabError::file("read", file))
}

/// The last lines of a console.
pub(crate) fn tail(console: &Path) -> String {
    let text = read(console).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

/// The guest program: `PATHTWIN_GUEST`, or `pathtwin-guest` next to this program.
///
/// # Errors
/// There is no such file.
pub fn program() -> Result<std::path::PathBuf, LabError> {
    let path = match std::env::var_os("PATHTWIN_GUEST") {
        Some(path) => path.into(),
        None => {
            let own = std::env::current_exe().map_err(LabError::file("find", "this program"))?;
            own.with_file_name("pathtwin-guest")
        }
    };
    if path.is_file() {
        Ok(path)
    } else {
        Err(LabError::NoGuest(path))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn image(bytes: &[u8]) -> (tempfile::TempDir, Image) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("linux");
        fs::write(&file, bytes).unwrap();
        let image = Image::open(&file).unwrap();
        (folder, image)
    }

    #[test]
    fn an_image_that_is_not_known_to_have_the_seccomp_mode_is_booted_without_its_argument() {
        let (_folder, image) = image(b"\x7fELF time-travel=");
        assert_eq!(Mode::of(&image, true), Mode::Ptrace);
        assert_eq!(Mode::Ptrace.argument(), None);
        assert_eq!(Mode::Seccomp.argument(), Some("seccomp=on"));
        // The mode changes no result, so a cached one is used in either.
        assert!(!arguments(256, false).iter().any(|a| a.contains("seccomp")));
    }

    #[test]
    fn the_user_can_turn_the_seccomp_mode_off() {
        assert!(allowed("").unwrap() && allowed("yes").unwrap());
        assert!(!allowed("no").unwrap());
        let error = allowed("off").unwrap_err().to_string();
        assert!(error.contains("PATHTWIN_SECCOMP"), "{error}");
    }
}
