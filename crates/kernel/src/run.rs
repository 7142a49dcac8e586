//! Programs of the build, run with their output in the log.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::{Context as _, KernelError, StepEnd};

/// Number of lines of the log in an error.
const TAIL_LINES: usize = 15;

/// The log of one build, and its flag to stop.
#[derive(Debug)]
pub(super) struct Runner {
    log: PathBuf,
    cancel: Option<&'static AtomicBool>,
}

impl Runner {
    /// Starts a new log.
    pub(super) fn new(
        log: PathBuf,
        cancel: Option<&'static AtomicBool>,
    ) -> Result<Self, KernelError> {
        File::create(&log).on("write", &log)?;
        Ok(Self { log, cancel })
    }

    /// Fails after the user requested to stop.
    pub(super) fn check_cancelled(&self) -> Result<(), KernelError> {
        match self.cancel {
            Some(flag) if flag.load(Ordering::Relaxed) => Err(KernelError::Cancelled),
            _ => Ok(()),
        }
    }

    /// Runs a program; both its outputs go to the log.
    pub(super) fn run(&self, step: &str, command: &mut Command) -> Result<(), KernelError> {
        self.lines(step, command, &mut |_| ())
    }

    /// Runs a program, passes each line of both its outputs to `on_line`, and logs it.
    pub(super) fn lines(
        &self,
        step: &str,
        command: &mut Command,
        on_line: &mut dyn FnMut(&str),
    ) -> Result<(), KernelError> {
        let (mut log, from) = self.begin(command)?;
        // One pipe for both, so that an error message is in the log where it occurred.
        let (reader, writer) = std::io::pipe().on("open a pipe for", &self.log)?;
        let copy = writer.try_clone().on("open a pipe for", &self.log)?;
        let child = command
            .stdin(Stdio::null())
            .stdout(copy)
            .stderr(writer)
            .spawn();
        // The command holds its ends of the pipe until it is dropped, otherwise the pipe would
        // never end.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = child.map_err(|error| self.not_started(step, command, error, from))?;
        let followed = self.follow(reader, &mut log, on_line);
        if followed.is_err() {
            // make ends its own children on SIGTERM; SIGKILL would leave compilers running.
            stop(&child);
        }
        let status = child.wait().on("wait for", &self.log)?;
        followed?;
        if status.success() {
            Ok(())
        } else {
            Err(self.failed(step, StepEnd::Status(status), from))
        }
    }

    /// Writes a command to the log; returns where that begins.
    fn begin(&self, command: &Command) -> Result<(File, u64), KernelError> {
        self.check_cancelled()?;
        let mut log = OpenOptions::new()
            .append(true)
            .open(&self.log)
            .on("write", &self.log)?;
        let from = log.seek(SeekFrom::End(0)).on("write", &self.log)?;
        write!(log, "$ {}", command.get_program().display()).on("write", &self.log)?;
        for argument in command.get_args() {
            write!(log, " {}", argument.display()).on("write", &self.log)?;
        }
        writeln!(log).on("write", &self.log)?;
        Ok((log, from))
    }

    fn follow(
        &self,
        pipe: impl Read,
        log: &mut File,
        on_line: &mut dyn FnMut(&str),
    ) -> Result<(), KernelError> {
        let mut reader = BufReader::new(pipe);
        let mut line = Vec::new();
        while reader
            .read_until(b'\n', &mut line)
            .on("read from", &self.log)?
            > 0
        {
            log.write_all(&line).on("write", &self.log)?;
            on_line(String::from_utf8_lossy(&line).trim_end());
            line.clear();
            self.check_cancelled()?;
        }
        Ok(())
    }

    /// Runs a program and returns its standard output; its standard error goes to the log.
    pub(super) fn output(&self, step: &str, command: &mut Command) -> Result<String, KernelError> {
        let (log, from) = self.begin(command)?;
        let out = command.stdin(Stdio::null()).stderr(log).output();
        let out = out.map_err(|error| self.not_started(step, command, error, from))?;
        if !out.status.success() {
            return Err(self.failed(step, StepEnd::Status(out.status), from));
        }
        Ok(String::from_utf8_lossy(&out.stdout).into_owned())
    }

    fn not_started(
        &self,
        step: &str,
        command: &Command,
        why: std::io::Error,
        from: u64,
    ) -> KernelError {
        let program = command.get_program().display().to_string();
        self.failed(step, StepEnd::NotStarted { program, why }, from)
    }

    /// The error of a step whose part of the log begins at `from`.
    fn failed(&self, step: &str, end: StepEnd, from: u64) -> KernelError {
        KernelError::Step {
            step: step.to_owned(),
            end,
            tail: tail_of(&self.log, from, TAIL_LINES).unwrap_or_default(),
            log: self.log.clone(),
        }
    }

    /// The last lines of the log.
    pub(super) fn tail(&self) -> String {
        tail_of(&self.log, 0, TAIL_LINES).unwrap_or_default()
    }
}

fn stop(child: &Child) {
    if let Some(pid) = i32::try_from(child.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    {
        // It may have already ended.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
}

fn tail_of(file: &Path, from: u64, lines: usize) -> std::io::Result<String> {
    let mut file = File::open(file)?;
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(16384).max(from)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    // The lines of make on each compiled object would push the reason out of sight.
    let all: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("  ") || line.contains('|'))
        .filter(|line| !line.starts_with("$ "))
        .collect();
    Ok(all[all.len().saturating_sub(lines)..].join("\n"))
}

/// A command that sees none of the caller's settings except the folders of programs and temporary
/// files, with English messages.
pub(super) fn plain(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("LC_ALL", "C");
    for name in [
        "PATH",
        "HOME",
        "TMPDIR",
        "http_proxy",
        "https_proxy",
        "no_proxy",
    ] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_carries_the_end_of_the_log() {
        let dir = tempfile::tempdir().unwrap();
        let runner = Runner::new(dir.path().join("log"), None).unwrap();
        let script = "for i in $(seq 100); do echo line $i; done; echo why >&2; exit 3";
        let error = runner
            .run("trying", plain("sh").args(["-c", script]))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("trying failed (exit status: 3)"),
            "{error}"
        );
        assert!(
            error.contains("why") && error.contains("line 100") && !error.contains("line 50\n"),
            "{error}"
        );
    }

    /// Four suites could not be read, and the reason of each repeated those of the ones before.
    #[test]
    fn a_failure_carries_no_lines_of_earlier_steps() {
        let dir = tempfile::tempdir().unwrap();
        let runner = Runner::new(dir.path().join("log"), None).unwrap();
        let fails = |why: &str| {
            let script = format!("echo E: {why}; exit 1");
            let failed = runner.run("trying", plain("sh").args(["-c", &script]));
            failed.unwrap_err().to_string()
        };
        let (first, second) = (fails("first"), fails("second"));
        assert!(first.contains("E: first"), "{first}");
        assert!(
            second.contains("E: second") && !second.contains("first"),
            "{second}"
        );
    }

    #[test]
    fn a_request_to_stop_ends_the_program() {
        static FLAG: AtomicBool = AtomicBool::new(false);
        let dir = tempfile::tempdir().unwrap();
        let runner = Runner::new(dir.path().join("log"), Some(&FLAG)).unwrap();
        let result = runner.lines(
            "waiting",
            plain("sh").args(["-c", "echo up; exec sleep 60"]),
            &mut |_| {
                FLAG.store(true, Ordering::Relaxed);
            },
        );
        assert!(matches!(result, Err(KernelError::Cancelled)), "{result:?}");
    }
}
