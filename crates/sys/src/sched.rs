//! Scheduler settings of processes and threads.

use std::{io, os::unix::process::CommandExt, process::Command};

use rustix::{
    process::{Pid, Signal},
    thread::CpuSet,
};

/// Sets the timer slack of this thread, ns; the default is 50 µs.
///
/// # Errors
/// The kernel refused: `prctl(2)`.
pub fn set_timer_slack(ns: u64) -> io::Result<()> {
    // SAFETY: PR_SET_TIMERSLACK takes one integer and touches no memory.
    let rc = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, ns, 0, 0, 0) };
    if rc == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// The processors this process may run on, lowest first.
///
/// # Errors
/// The kernel does not report it: `sched_getaffinity(2)`.
pub fn allowed_cpus() -> io::Result<Vec<usize>> {
    let set = rustix::thread::sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .collect())
}

/// Pins the child to one processor, makes it the leader of a new process group, and kills it when
/// the starting thread ends.
///
/// If a guest's user processes and kernel share one processor, switching does not wake another
/// processor, which makes its system calls several times cheaper.
pub fn confine(command: &mut Command, cpu: Option<usize>) {
    let parent = rustix::process::getpid();
    // SAFETY: between fork and exec only system calls without allocation are made.
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            if rustix::process::getppid() != Some(parent) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            // A new session is also a new process group, and can get a low priority in kernels with
            // autogroups (sched(7)). Otherwise a guest and its user process, which wake each other
            // continuously, starve other programs.
            rustix::process::setsid()?;
            stand_back();
            if let Some(cpu) = cpu {
                let mut set = CpuSet::new();
                set.set(cpu);
                rustix::thread::sched_setaffinity(None, &set)?;
            }
            Ok(())
        });
    }
}

/// Gives the session of the calling process the lowest priority. Kernels without autogroups lack
/// this file, and use the niceness of each process.
fn stand_back() {
    use rustix::fs::{Mode, OFlags, open};
    if let Ok(file) = open(c"/proc/self/autogroup", OFlags::WRONLY, Mode::empty()) {
        let _ = rustix::io::write(&file, b"19");
    }
}

/// Kills every process of the group led by `leader`; ignored if it has ended.
pub fn kill_group(leader: u32) {
    if let Some(pid) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        let _ = rustix::process::kill_process_group(pid, Signal::KILL);
    }
}

/// Returns true if the effective user is root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Exit status of a child.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChildEnd {
    /// Exit code; absent if a signal ended it.
    pub code: Option<i32>,
    /// Processor time of the child and the descendants it waited for, seconds.
    pub cpu_s: f64,
}

/// Waits up to `timeout` for a child to end, and reaps it; `None` if it still runs.
///
/// # Errors
/// It is not a child of this process.
pub fn wait_child(pid: u32, timeout: std::time::Duration) -> io::Result<Option<ChildEnd>> {
    use rustix::{event, process};
    let raw = i32::try_from(pid)
        .ok()
        .and_then(Pid::from_raw)
        .ok_or(io::ErrorKind::InvalidInput)?;
    let handle = process::pidfd_open(raw, process::PidfdFlags::empty())?;
    let mut polled = [event::PollFd::new(&handle, event::PollFlags::IN)];
    let timeout = event::Timespec::try_from(timeout).map_err(|_| io::ErrorKind::InvalidInput)?;
    match event::poll(&mut polled, Some(&timeout)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(None),
        other => other?,
    };
    let mut status = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are to local memory of the right types, which wait4 fills.
    let (rc, usage) = unsafe {
        let rc = libc::wait4(pid as libc::pid_t, &mut status, 0, usage.as_mut_ptr());
        (rc, usage.assume_init())
    };
    if rc < 0 {
        return Err(io::Error::last_os_error());
    }
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    let code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
    Ok(Some(ChildEnd {
        code,
        cpu_s: seconds(usage.ru_utime) + seconds(usage.ru_stime),
    }))
}
