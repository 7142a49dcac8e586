//! Output of a program, with limits on its time and length.

use std::{
    io::{self, Read},
    process::{Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use model::{text, text::Text};

/// Timeout of a program.
const TIMEOUT: Duration = Duration::from_secs(3);
/// The longest output that is read, bytes: the status of a network of ten thousand peers is
/// shorter.
const LONGEST: u64 = 32 * 1024 * 1024;

/// Reason why a program has no output.
#[derive(Debug)]
pub(super) enum CommandError {
    /// It could not be started.
    Start {
        /// The command line.
        line: String,
        /// The reason.
        source: io::Error,
    },
    /// Its output could not be read.
    Read {
        /// The command line.
        line: String,
        /// The reason.
        source: io::Error,
    },
    /// It took too long.
    Timeout {
        /// The command line.
        line: String,
    },
}

impl CommandError {
    /// The error with its values.
    pub(super) fn text(&self) -> Text {
        match self {
            Self::Start { line, source } => text!(
                "cannot run {command}: {error}",
                command = line,
                error = source
            ),
            Self::Read { line, source } => text!(
                "cannot read the output of {command}: {error}",
                command = line,
                error = source
            ),
            Self::Timeout { line } => text!(
                "{command} did not answer within {n} s",
                command = line,
                n = TIMEOUT.as_secs()
            ),
        }
    }
}

/// Runs a program, its name first, and returns its standard output.
pub(super) fn output(argv: &[&str]) -> Result<String, CommandError> {
    let line = argv.join(" ");
    let (program, arguments) = argv.split_first().unwrap_or((&"", &[]));
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(source) => return Err(CommandError::Start { line, source }),
    };
    let (sender, receiver) = mpsc::channel();
    if let Some(out) = child.stdout.take() {
        // It ends when the program ends or is killed, since that closes the pipe.
        std::thread::spawn(move || {
            let mut text = String::new();
            let read = out.take(LONGEST).read_to_string(&mut text);
            // After the timeout the receiver is gone.
            let _ = sender.send(read.map(|_| text));
        });
    }
    let received = receiver.recv_timeout(TIMEOUT);
    let _ = child.kill();
    let _ = child.wait();
    match received {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(source)) => Err(CommandError::Read { line, source }),
        Err(_) => Err(CommandError::Timeout { line }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_a_program_or_why_there_is_none() {
        assert_eq!(output(&["echo", "a", "b"]).unwrap(), "a b\n");
        let error = output(&["/nonexistent/program", "status"]).unwrap_err();
        let text = error.text().to_string();
        assert!(text.contains("/nonexistent/program status"), "{text}");
    }
}
