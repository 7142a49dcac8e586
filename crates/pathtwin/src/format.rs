//! Output: data to standard output, messages to standard error. A closed pipe is not an error.

use std::{
    fs::OpenOptions,
    io::{self, BufWriter, IsTerminal, StdoutLock, Write},
    path::Path,
};

use anyhow::Context;
use model::safe;
use report::answer::Screen;
use sys::files::{Existing, Readers};

use crate::exit::{Failure, code};

/// Prints a message to standard error, as a line of this program. Text of others in it is made
/// safe.
pub fn say(message: std::fmt::Arguments<'_>) {
    let message = message.to_string();
    let _ = writeln!(io::stderr().lock(), "pathtwin: {}", safe::lines(&message));
}

/// Standard output, buffered.
#[must_use]
pub fn stdout() -> Output<BufWriter<StdoutLock<'static>>> {
    Output {
        to: BufWriter::new(io::stdout().lock()),
        gone: false,
    }
}

/// Standard output, whose reader may close the pipe.
pub struct Output<W> {
    to: W,
    gone: bool,
}

impl<W: Write> Output<W> {
    /// The result, without the error of a closed pipe.
    fn or_gone(&mut self, result: io::Result<()>) -> io::Result<()> {
        match result {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => {
                self.gone = true;
                Ok(())
            }
            result => result,
        }
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.gone {
            let result = self.to.write_all(bytes);
            self.or_gone(result)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.gone {
            return Ok(());
        }
        let result = self.to.flush();
        self.or_gone(result)
    }
}

/// Prints text for people to standard output. Text from other hosts and documents in it is escaped
/// for a terminal.
///
/// # Errors
///
/// Standard output cannot be written; a closed pipe is not an error.
pub fn text(text: &str) -> Result<(), Failure> {
    print(safe::lines(text).as_bytes())
}

/// The terminal of standard output; `None` if it is not a terminal.
pub fn screen() -> Option<Screen> {
    let out = io::stdout();
    if !out.is_terminal() {
        return None;
    }
    let (width, height) =
        sys::terminal::size(&out).unwrap_or((Screen::MIN.width, Screen::MIN.height));
    Some(Screen { width, height })
}

/// Maximum columns of a table: the width of the terminal of standard output, else `COLUMNS` in the
/// environment, else unlimited.
pub fn width() -> Option<usize> {
    let set = || std::env::var("COLUMNS").ok()?.parse().ok();
    screen().map(|screen| screen.width).or_else(set)
}

/// Prints bytes to standard output.
///
/// # Errors
///
/// Standard output cannot be written; a closed pipe is not an error.
pub fn print(bytes: &[u8]) -> Result<(), Failure> {
    print_while_read(bytes).map(|_| ())
}

/// Prints bytes to standard output; `false` if its reader has closed the pipe.
///
/// # Errors
///
/// Standard output cannot be written; a closed pipe is not an error.
pub fn print_while_read(bytes: &[u8]) -> Result<bool, Failure> {
    let mut out = stdout();
    let written = out.write_all(bytes).and_then(|()| out.flush());
    written
        .map(|()| !out.gone)
        .map_err(|e| Failure::new(code::FAILED, e))
}

/// Prints a value as one JSON document.
///
/// # Errors
///
/// Standard output cannot be written; a closed pipe is not an error.
pub fn json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let mut text =
        serde_json::to_string_pretty(value).map_err(|e| Failure::new(code::FAILED, e))?;
    text.push('\n');
    print(safe::json(&text).as_bytes())
}

/// Prints values as one JSON line each.
///
/// # Errors
///
/// Standard output cannot be written; a closed pipe is not an error.
pub fn json_lines<T: serde::Serialize>(values: &[T]) -> Result<(), Failure> {
    json_lines_while_read(values).map(|_| ())
}

/// Prints values as one JSON line each; `false` if their reader has closed the pipe.
///
/// # Errors
///
/// Standard output cannot be written; a closed pipe is not an error.
pub fn json_lines_while_read<T: serde::Serialize>(values: &[T]) -> Result<bool, Failure> {
    let mut text = String::new();
    for value in values {
        let line = serde_json::to_string(value).map_err(|e| Failure::new(code::FAILED, e))?;
        text.push_str(&safe::json(&line));
        text.push('\n');
    }
    print_while_read(text.as_bytes())
}

/// Checks that [`file()`] can write a file, if one is given, before hours of work whose result goes
/// there.
///
/// # Errors
///
/// It is a folder, or its folder neither exists nor can be made, or cannot be written.
pub fn check(file: Option<&Path>) -> Result<(), Failure> {
    let Some(file) = file else {
        return Ok(());
    };
    sys::files::check(file)
        .with_context(|| format!("write {}", file.display()))
        .map_err(|e| Failure::new(code::USE, e))
}

/// Writes a file atomically; missing parent folders are created. Devices and pipes are written
/// directly.
///
/// # Errors
///
/// The file cannot be written.
pub fn file(file: &Path, readers: Readers, bytes: &[u8]) -> Result<(), Failure> {
    let written = if sys::files::is_stream(file) {
        let open = OpenOptions::new().write(true).open(file);
        open.and_then(|mut out| out.write_all(bytes))
    } else {
        let made = file.parent().map_or(Ok(()), std::fs::create_dir_all);
        made.and_then(|()| sys::files::write(file, readers, Existing::Replace, bytes))
    };
    written
        .with_context(|| format!("write {}", file.display()))
        .map_err(Failure::from)
}
