//! Standard output: data only, and standard error: talk. A reader that goes away is no error.

use std::{
    fs::OpenOptions,
    io::{self, Write},
    path::Path,
};

use anyhow::Context;
use sys::files::{Existing, Readers};

use crate::exit::{Failure, code};

/// Says something on standard error, as a line of this program.
pub fn say(what: std::fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "pathtwin: {what}");
}

/// Prints bytes to standard output.
///
/// # Errors
///
/// Standard output cannot be written; a reader that went away is no error.
pub fn print(bytes: &[u8]) -> Result<(), Failure> {
    print_while_read(bytes).map(|_| ())
}

/// Prints bytes to standard output; `false` if nobody reads it any more.
///
/// # Errors
///
/// Standard output cannot be written; a reader that went away is no error.
pub fn print_while_read(bytes: &[u8]) -> Result<bool, Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(e) => Err(Failure::new(code::FAILED, e)),
    }
}

/// Prints a value as one JSON document.
///
/// # Errors
///
/// Standard output cannot be written; a reader that went away is no error.
pub fn json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_vec_pretty(value).map_err(|e| Failure::new(code::FAILED, e))?;
    text.push(b'\n');
    print(&text)
}

/// Prints values as one JSON line each.
///
/// # Errors
///
/// Standard output cannot be written; a reader that went away is no error.
pub fn json_lines<T: serde::Serialize>(values: &[T]) -> Result<(), Failure> {
    json_lines_while_read(values).map(|_| ())
}

/// Prints values as one JSON line each; `false` if nobody reads them any more.
///
/// # Errors
///
/// Standard output cannot be written; a reader that went away is no error.
pub fn json_lines_while_read<T: serde::Serialize>(values: &[T]) -> Result<bool, Failure> {
    let mut text = Vec::new();
    for value in values {
        serde_json::to_writer(&mut text, value).map_err(|e| Failure::new(code::FAILED, e))?;
        text.push(b'\n');
    }
    print_while_read(&text)
}

/// Writes a file whole or not at all; folders above it are made. A device or pipe takes the bytes as they are.
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
