//! Delivery of messages: to a program, or by a POST.

use std::{
    io::{self, Write},
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use sys::clock::Instant;

use crate::{
    config::Alarm,
    message::Message,
    post::{PostError, Url},
};

/// Timeout of a program.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Poll interval.
const PIECE: Duration = Duration::from_millis(50);

/// Error delivering a message.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DeliveryError {
    /// It cannot be written as JSON.
    #[error("write the message as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The program could not be started or waited for.
    #[error("{program}: {error}")]
    Program {
        /// The program.
        program: String,
        /// The I/O error.
        #[source]
        error: io::Error,
    },
    /// The program reported a failure.
    #[error("{program}: ended with {status}")]
    Ended {
        /// The program.
        program: String,
        /// Its exit status.
        status: ExitStatus,
    },
    /// The program took too long.
    #[error("{program}: did not end in {} s", TIMEOUT.as_secs())]
    Late {
        /// The program.
        program: String,
    },
    /// It could not be posted.
    #[error("{url}: {error}")]
    Post {
        /// The URL.
        url: Url,
        /// The error posting it.
        #[source]
        error: PostError,
    },
    /// The server of the webhook did not take it.
    #[error("{url} responded with status {status}")]
    Status {
        /// The URL.
        url: Url,
        /// The status of its response.
        status: u16,
    },
}

/// Delivers a message to all recipients.
///
/// # Errors
/// A recipient failed. Then all get it again: a duplicate is better than a loss.
pub(crate) fn deliver(alarm: &Alarm, message: &Message) -> Result<(), DeliveryError> {
    let body = serde_json::to_vec(message)?;
    if let [program, arguments @ ..] = alarm.command.as_slice() {
        tell(program, arguments, &body)?;
    }
    if let Some(url) = &alarm.webhook {
        let url = || url.clone();
        let posted = url().post(&body);
        let status = posted.map_err(|error| DeliveryError::Post { url: url(), error })?;
        if !(200..300).contains(&status) {
            return Err(DeliveryError::Status { url: url(), status });
        }
    }
    Ok(())
}

fn tell(program: &str, arguments: &[String], body: &[u8]) -> Result<(), DeliveryError> {
    let program = || program.to_owned();
    let failed = |error| DeliveryError::Program {
        program: program(),
        error,
    };
    let mut child = Command::new(program())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A message fits a pipe (64 KiB) unless a run shows hundreds of causes; a program that does
        // not read its input ends and is judged by its status.
        let _ = stdin.write_all(body);
    }
    match end(&mut child).map_err(failed)? {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(DeliveryError::Ended {
            program: program(),
            status,
        }),
        None => Err(DeliveryError::Late { program: program() }),
    }
}

/// Waits for the end of a program, and kills it if it takes too long; then it has no status.
fn end(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let until = Instant::now().after(TIMEOUT);
    while Instant::now() < until {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        Instant::now().after(PIECE).wait();
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_program_gets_the_message_and_its_failure_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("got");
        let script = format!("cat > {}", file.display());
        tell("sh", &["-c".to_owned(), script], b"{\"a\":1}").unwrap();
        assert_eq!(std::fs::read(file).unwrap(), b"{\"a\":1}");
        let error = tell("sh", &["-c".to_owned(), "exit 3".to_owned()], b"x").unwrap_err();
        assert!(error.to_string().contains("exit status: 3"), "{error}");
        assert!(tell("/nonexistent", &[], b"x").is_err());
    }
}
