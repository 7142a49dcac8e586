//! Delivery of messages: to a program, or by a POST.

use std::{
    io::{self, Write},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::Duration,
};

use model::{
    text,
    text::{Text, Value},
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
#[error("{}", self.text())]
pub(crate) enum DeliveryError {
    /// It cannot be written as JSON.
    Json(#[from] serde_json::Error),
    /// The program could not be started or waited for.
    Program {
        /// The program.
        program: String,
        /// The I/O error.
        #[source]
        error: io::Error,
    },
    /// The program reported a failure.
    Ended {
        /// The program.
        program: String,
        /// Its exit status.
        status: ExitStatus,
    },
    /// The program took too long.
    Late {
        /// The program.
        program: String,
    },
    /// It could not be posted.
    Post {
        /// The URL.
        url: Url,
        /// The error posting it.
        #[source]
        error: PostError,
    },
    /// The server of the webhook did not take it.
    Status {
        /// The URL.
        url: Url,
        /// The status of its response.
        status: u16,
    },
}

impl DeliveryError {
    /// The error with its values, for reports in any language. Exit statuses are those of the
    /// system.
    pub(crate) fn text(&self) -> Text {
        match self {
            Self::Json(error) => text!("write the message as JSON: {error}", error = error),
            Self::Program { program, error } => {
                text!("{program}: {error}", program = program, error = error)
            }
            Self::Ended { program, status } => text!(
                "{program}: ended with {status}",
                program = program,
                status = status.to_string()
            ),
            Self::Late { program } => text!(
                "{program}: did not end in {time}",
                program = program,
                time = Value::Us(TIMEOUT.as_micros() as f64)
            ),
            Self::Post { url, error } => text!(
                "{url}: {error}",
                url = url.to_string(),
                error = error.text()
            ),
            Self::Status { url, status } => text!(
                "{url} responded with status {status}",
                url = url.to_string(),
                status = u32::from(*status)
            ),
        }
    }
}

/// Delivers a message to all recipients.
///
/// # Errors
/// A recipient failed. Then all get it again: a duplicate is better than a loss.
pub(crate) fn deliver(alarm: &Alarm, message: &Message) -> Result<(), DeliveryError> {
    let body = message.to_json()?;
    if let [program, arguments @ ..] = alarm.command.as_slice() {
        tell(program, arguments, &body, TIMEOUT)?;
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

fn tell(
    program: &str,
    arguments: &[String],
    body: &[u8],
    limit: Duration,
) -> Result<(), DeliveryError> {
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
        // More than a pipe holds (64 KiB) waits for the program to read it: not here, where its
        // time is limited. One that ends without having read it is judged by its status.
        let body = body.to_vec();
        let writes = move || {
            let _ = stdin.write_all(&body);
        };
        if let Err(error) = thread::Builder::new().spawn(writes) {
            let _ = child.kill();
            let _ = child.wait();
            return Err(failed(error));
        }
    }
    match end(&mut child, limit).map_err(failed)? {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(DeliveryError::Ended {
            program: program(),
            status,
        }),
        None => Err(DeliveryError::Late { program: program() }),
    }
}

/// Waits for the end of a program, and kills it if it takes too long; then it has no status.
fn end(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let until = Instant::now().after(limit);
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
        let tell = |program, arguments: &[String], body| tell(program, arguments, body, TIMEOUT);
        tell("sh", &["-c".to_owned(), script], b"{\"a\":1}").unwrap();
        assert_eq!(std::fs::read(file).unwrap(), b"{\"a\":1}");
        let error = tell("sh", &["-c".to_owned(), "exit 3".to_owned()], b"x").unwrap_err();
        assert!(error.to_string().contains("exit status: 3"), "{error}");
        assert!(tell("/nonexistent", &[], b"x").is_err());
    }

    #[test]
    fn a_program_that_does_not_read_a_message_longer_than_a_pipe_is_ended() {
        let body = vec![b'x'; 200_000];
        let arguments = ["-c".to_owned(), "exec sleep 600".to_owned()];
        let error = tell("sh", &arguments, &body, Duration::from_millis(100)).unwrap_err();
        assert!(matches!(error, DeliveryError::Late { .. }), "{error}");
        let arguments = ["-c".to_owned(), "sleep 0.1; wc -c >/dev/null".to_owned()];
        tell("sh", &arguments, &body, TIMEOUT).unwrap();
    }
}
