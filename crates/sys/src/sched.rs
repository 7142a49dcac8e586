//! What a process says about itself and its threads to the scheduler.

use std::{io, os::unix::process::CommandExt, process::Command};

use rustix::{
    process::{Pid, Signal},
    thread::CpuSet,
};

/// Makes the timers of this thread end within `ns` of what was asked, in place of 50 µs.
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
pub fn allowed_cpus() -> io::Result<Vec<usize>> {
    let set = rustix::thread::sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .collect())
}

/// Lets the child run on one processor only, lead a process group of its own, and die with the
/// thread that starts it.
///
/// A guest whose user processes and kernel share one processor hands over without waking another
/// one, which makes its system calls several times cheaper.
pub fn confine(command: &mut Command, cpu: Option<usize>) {
    let parent = rustix::process::getpid();
    command.process_group(0);
    // SAFETY: between fork and exec only system calls without allocation are made.
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            if rustix::process::getppid() != Some(parent) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            if let Some(cpu) = cpu {
                let mut set = CpuSet::new();
                set.set(cpu);
                rustix::thread::sched_setaffinity(None, &set)?;
            }
            Ok(())
        });
    }
}

/// Kills every process of the group led by `leader`; nothing if it is gone.
pub fn kill_group(leader: u32) {
    if let Some(pid) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        let _ = rustix::process::kill_process_group(pid, Signal::KILL);
    }
}

/// Whether the process has the rights of root over networks here (its effective user is root).
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// CPU time the ended children of this process have used, in seconds.
pub fn children_cpu_seconds() -> f64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: getrusage fills the whole struct it is given, or fails and leaves the zeroes.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
