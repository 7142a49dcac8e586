//! The keeper: a process that undoes a change unless it is confirmed in time.
//!
//! It is started before the first write, in a separate session, and needs only the journal and the
//! kernel: the old values are in its memory from the start, and setting them needs no program,
//! module or network.

mod service;

use std::{
    io::{self, Read},
    process::{Command, Stdio},
    time::Duration,
};

use model::{
    change::{Change, ChangeId, ProcessId, State},
    text,
    text::Text,
};
use sys::process::{Process, start_detached};

use crate::{
    Env,
    error::{Rollback, TuneError},
    progress::undone_because,
    recover::is_alive,
    rollback::roll_back,
};

pub use service::start_keeper_service;

/// Time between two readings of the journal, and the longest delay beyond the deadline.
const INTERVAL: Duration = Duration::from_millis(200);

/// Time for which another process may hold the lock at the deadline before it is killed.
const STUCK: Duration = Duration::from_secs(5);

/// Longest time for the keeper to start.
const START_LIMIT: Duration = Duration::from_secs(10);

/// The word that the keeper prints when it is ready.
const READY: u8 = b'k';

/// Starts a keeper and waits until it is ready. `command` runs [`keep`] and prints its requests to
/// standard output.
///
/// # Errors
/// The program cannot be started, or ends or hangs before it is ready.
pub fn start_keeper(mut command: Command) -> io::Result<ProcessId> {
    command
        .current_dir("/")
        // Of the service that this process may be.
        .env_remove("NOTIFY_SOCKET")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = start_detached(&mut command)?;
    let process = process_of(child.id())?;
    let mut out = child
        .stdout
        .take()
        .ok_or_else(|| io::Error::other("no pipe"))?;
    let ready = is_ready(&mut out);
    match (process, ready) {
        (Some(process), Ok(())) => Ok(process),
        (_, ready) => {
            let _ = child.kill();
            let _ = child.wait();
            ready.and(Err(io::Error::other("it ended at once")))
        }
    }
}

fn process_of(pid: u32) -> io::Result<Option<ProcessId>> {
    let process = Process::of(pid)?;
    Ok(process.map(|process| ProcessId {
        pid: process.pid,
        start_ticks: process.start_ticks,
    }))
}

fn is_ready(out: &mut std::process::ChildStdout) -> io::Result<()> {
    use std::os::fd::AsFd;
    let readable = sys::wait::readable(&[out.as_fd()], START_LIMIT)?;
    if readable != [true] {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let mut word = [0];
    match out.read(&mut word)? {
        1 if word == [READY] => Ok(()),
        _ => Err(io::Error::other("it ended before it was ready")),
    }
}

/// Watches a change until it is confirmed or undone, and undoes it at its deadline, or as soon as
/// the process that applies it dies. `ready` gets the byte to print when everything needed is in
/// memory.
///
/// # Errors
/// The journal cannot be read at the start; later only an interruption.
pub fn keep(
    env: &mut Env<'_>,
    id: &ChangeId,
    ready: &mut dyn FnMut(u8) -> io::Result<()>,
) -> Result<Option<Rollback>, TuneError> {
    let mut known = env.folder.read(id)?;
    ready(READY).map_err(TuneError::NoKeeper)?;
    loop {
        if let Ok(now) = env.folder.read(id) {
            known = now;
        }
        if !known.is_pending() {
            return Ok(None);
        }
        let late = deadline(&known).is_none_or(|at| env.clock.boottime_ns() >= at);
        let orphaned = is_unfinished(&known.state) && !known.controller.is_some_and(is_alive);
        if late || orphaned {
            let why = match late {
                true => text!("not confirmed before its deadline"),
                false => text!("the process that applied it died"),
            };
            if let Some(rollback) = end(env, &known, why)? {
                return Ok(Some(rollback));
            }
            continue;
        }
        let left = deadline(&known).map_or(INTERVAL, |at| {
            Duration::from_nanos(at.saturating_sub(env.clock.boottime_ns()))
        });
        env.clock.sleep(left.min(INTERVAL));
    }
}

/// Undoes it under the lock; `None` if its state has changed meanwhile, so that the decision starts
/// over.
fn end(env: &mut Env<'_>, known: &Change, why: Text) -> Result<Option<Rollback>, TuneError> {
    // A lock file that cannot be opened must not stop the way back.
    let lock = match env.folder.lock(STUCK) {
        Ok(Some(lock)) => Some(lock),
        Ok(None) => {
            kill_controller(known);
            env.folder.lock(STUCK).ok().flatten()
        }
        Err(_) => None,
    };
    // From its journal; or, if it cannot be read, as if every step had been written.
    let mut change = env.folder.read(&known.id).unwrap_or_else(|_| Change {
        state: State::Applied,
        ..known.clone()
    });
    if !change.is_pending() || deadline(&change) != deadline(known) {
        drop(lock);
        return Ok(None);
    }
    undone_because(env, &mut change, why);
    let rollback = roll_back(env, &mut change)?;
    drop(lock);
    Ok(Some(rollback))
}

fn kill_controller(change: &Change) {
    if let Some(controller) = change.controller {
        let process = Process {
            pid: controller.pid,
            start_ticks: controller.start_ticks,
        };
        let _ = process.kill();
    }
}

fn deadline(change: &Change) -> Option<u64> {
    change.deadline_boottime_ns
}

/// Returns true if a process must be working on it.
fn is_unfinished(state: &State) -> bool {
    matches!(
        state,
        State::Planned | State::Armed | State::Applying { .. } | State::RollingBack { .. }
    )
}
