//! Running text in lines of a terminal.

use std::fmt::Write;

/// Widest line.
pub(crate) const WIDTH: usize = 80;

/// Running text in lines of at most [`WIDTH`] columns, each with the indent.
pub(crate) fn wrap(text: &str, indent: &str) -> String {
    let mut out = String::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let full = line.chars().count() + 1 + word.chars().count() > WIDTH;
        if !line.is_empty() && full {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "{line}");
            line.clear();
        }
        line += if line.is_empty() { indent } else { " " };
        line += word;
    }
    if !line.is_empty() {
        let _ = writeln!(out, "{line}");
    }
    out
}
