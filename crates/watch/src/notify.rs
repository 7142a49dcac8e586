//! Delivery of messages: to a program, or by a POST.

use std::{
    io::{self, Write},
    process::{Child, Command, Stdio},
    time::Duration,
};

use sys::clock::Instant;

use crate::{config::Alarm, message::Message};

/// How long a program may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How often it is polled.
const PIECE: Duration = Duration::from_millis(50);

/// Delivers a message to all that are to get it.
///
/// # Errors
/// One of them did not take it. All get it again then: better twice than never.
pub(crate) fn deliver(alarm: &Alarm, message: &Message) -> io::Result<()> {
    let body = serde_json::to_vec(message)?;
    if let [program, arguments @ ..] = alarm.command.as_slice() {
        tell(program, arguments, &body)?;
    }
    if let Some(url) = &alarm.webhook {
        let status = url.post(&body)?;
        if !(200..300).contains(&status) {
            return Err(io::Error::other(format!("{url} answered {status}")));
        }
    }
    Ok(())
}

fn tell(program: &str, arguments: &[String], body: &[u8]) -> io::Result<()> {
    let named = |e: io::Error| io::Error::new(e.kind(), format!("{program}: {e}"));
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .map_err(named)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A message fits a pipe (64 KiB) unless a run shows hundreds of causes; a program that does
        // not read its input ends and is judged by its status.
        let _ = stdin.write_all(body);
    }
    end(&mut child).map_err(named)
}

/// Waits for the end of a program, and kills it if it takes too long.
fn end(child: &mut Child) -> io::Result<()> {
    let until = Instant::now().after(TIMEOUT);
    while Instant::now() < until {
        if let Some(status) = child.try_wait()? {
            return match status.success() {
                true => Ok(()),
                false => Err(io::Error::other(format!("ended with {status}"))),
            };
        }
        Instant::now().after(PIECE).wait();
    }
    child.kill()?;
    child.wait()?;
    Err(io::Error::new(
        io::ErrorKind::TimedOut,
        "did not end in 30 s",
    ))
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
