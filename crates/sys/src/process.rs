//! Other processes: identity that survives reuse of numbers, death, and processes that outlive
//! their session.

use std::{
    fs, io,
    os::unix::process::CommandExt,
    process::{Child, Command},
};

use rustix::process::{Pid, Signal, kill_process};

/// A process: its number, and its start time, which distinguishes it from a later one with the
/// same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number in this process's namespace.
    pub pid: u32,
    /// Start, ticks since boot (proc(5), field 22 of `stat`).
    pub start_ticks: u64,
}

impl Process {
    /// The calling process.
    ///
    /// # Errors
    /// /proc is not mounted.
    pub fn own() -> io::Result<Self> {
        Self::of(std::process::id())?.ok_or_else(|| io::Error::other("/proc has no own process"))
    }

    /// The process with a number; `None` if it does not exist, or is a zombie.
    ///
    /// # Errors
    /// /proc cannot be read.
    pub fn of(pid: u32) -> io::Result<Option<Self>> {
        match fs::read_to_string(format!("/proc/{pid}/stat")) {
            Ok(stat) => Ok(running(&stat).map(|start_ticks| Self { pid, start_ticks })),
            // ESRCH: it ended between open and read.
            Err(e) if e.raw_os_error() == Some(libc::ESRCH) => Ok(None),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Returns true if it still runs.
    pub fn is_alive(self) -> bool {
        matches!(Self::of(self.pid), Ok(Some(now)) if now == self)
    }

    /// Kills it, if it still runs.
    ///
    /// # Errors
    /// It belongs to another user.
    pub fn kill(self) -> io::Result<()> {
        if !self.is_alive() {
            return Ok(());
        }
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        match pid.map(|pid| kill_process(pid, Signal::KILL)) {
            None | Some(Ok(()) | Err(rustix::io::Errno::SRCH)) => Ok(()),
            Some(Err(error)) => Err(error.into()),
        }
    }
}

/// The start time of a process that is not a zombie, from its `stat`: `pid (name) state …`, where
/// the name may contain anything, so fields are counted from the last bracket.
fn running(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

/// Starts a program in a separate session, so that neither a hangup of this terminal nor its
/// signals reach it (setsid(2)).
///
/// # Errors
/// The program cannot be started.
pub fn start_detached(command: &mut Command) -> io::Result<Child> {
    // SAFETY: between fork and exec only one system call without allocation is made.
    unsafe {
        command.pre_exec(|| {
            rustix::process::setsid()?;
            Ok(())
        });
    }
    command.spawn()
}

/// Makes this process ignore SIGHUP, SIGINT, SIGTERM and SIGPIPE.
///
/// # Errors
/// The kernel refused: `sigaction(2)`.
pub fn ignore_requests_to_end() -> io::Result<()> {
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM, libc::SIGPIPE] {
        // SAFETY: SIG_IGN is a valid handler; no memory is involved.
        if unsafe { libc::signal(signal, libc::SIG_IGN) } == libc::SIG_ERR {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_move_the_fields() {
        let stat = "7 (a) b) (c) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 99 0";
        assert_eq!(running(stat), Some(4711));
        assert_eq!(running(&stat.replace(" S ", " Z ")), None);
        assert_eq!(running("7 (x"), None);
    }

    #[test]
    fn a_process_is_known_by_its_start_too() {
        let own = Process::own().unwrap();
        assert!(own.is_alive());
        let reused = Process {
            start_ticks: own.start_ticks + 1,
            ..own
        };
        assert!(!reused.is_alive());
        // Another process with the same number is never killed.
        reused.kill().unwrap();
    }

    #[test]
    fn a_detached_program_leads_its_own_session_and_can_be_killed() {
        let mut child = start_detached(Command::new("sleep").arg("60")).unwrap();
        let process = Process::of(child.id()).unwrap().unwrap();
        let stat = fs::read_to_string(format!("/proc/{}/stat", process.pid)).unwrap();
        let session = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(3);
        assert_eq!(session, Some(process.pid.to_string().as_str()));
        process.kill().unwrap();
        child.wait().unwrap();
        assert!(!process.is_alive());
    }
}
