//! A program that says something in a document, with a limit on its time and its words.

use std::{
    io::Read,
    process::{Command, Stdio},
    sync::mpsc,
    time::Duration,
};

/// How long a program is waited for.
const PATIENCE: Duration = Duration::from_secs(3);
/// The longest document that is read, bytes: the status of a network of ten thousand peers is
/// shorter.
const LONGEST: u64 = 32 * 1024 * 1024;

/// What a program prints to standard output; or why it could not be had.
pub(super) fn output(argv: &[&str]) -> Result<String, String> {
    let line = argv.join(" ");
    let [program, arguments @ ..] = argv else {
        return Err("no program".to_owned());
    };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| format!("cannot run {line}: {e}"))?;
    let (give, take) = mpsc::channel();
    if let Some(out) = child.stdout.take() {
        // It ends when the program ends or is killed, since that closes the pipe.
        std::thread::spawn(move || {
            let mut text = String::new();
            let read = out.take(LONGEST).read_to_string(&mut text);
            // The receiver may have gone; then nobody wants the text.
            let _ = give.send(read.map(|_| text));
        });
    }
    let said = take.recv_timeout(PATIENCE);
    let _ = child.kill();
    let _ = child.wait();
    match said {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(e)) => Err(format!("cannot read what {line} says: {e}")),
        Err(_) => Err(format!(
            "{line} did not answer within {} s",
            PATIENCE.as_secs()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_program_or_why_there_are_none() {
        assert_eq!(output(&["echo", "a", "b"]).as_deref(), Ok("a b\n"));
        let error = output(&["/nonexistent/program", "status"]).unwrap_err();
        assert!(error.contains("/nonexistent/program status"), "{error}");
    }
}
