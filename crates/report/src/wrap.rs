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

/// Wraps text at a width, with each line indented by `indent`. Leading newlines are preserved.
pub(crate) fn within(text: &str, indent: &str, width: usize) -> String {
    let body = text.trim_start_matches('\n');
    let mut out = "\n".repeat(text.len() - body.len());
    let mut line = indent.to_owned();
    for word in body.split_whitespace() {
        if line.len() > indent.len() {
            if line.chars().count() + 1 + word.chars().count() > width {
                out.push_str(&line);
                out.push('\n');
                line = indent.to_owned();
            } else {
                line.push(' ');
            }
        }
        line.push_str(word);
    }
    out.push_str(&line);
    out.push('\n');
    out
}

/// The lines, with those of more than `width` columns wrapped at the same indent.
pub(crate) fn lines(text: &str, width: usize) -> String {
    let fitting = |line: &str| match line.chars().count() > width {
        true => {
            let indent = &line[..line.len() - line.trim_start().len()];
            within(line, indent, width)
        }
        false => format!("{line}\n"),
    };
    text.lines().map(fitting).collect()
}

/// A command of a shell in lines of at most `width` columns, each with the indent. All but the last
/// end with a backslash, so that the command can be copied unchanged.
pub(crate) fn command(text: &str, indent: &str, width: usize) -> String {
    let mut out = String::new();
    let mut line = String::new();
    let mut words = words(text).into_iter().peekable();
    while let Some(word) = words.next() {
        // The backslash has a column and the space before it.
        let more = if words.peek().is_some() { 2 } else { 0 };
        let full = line.chars().count() + 1 + word.chars().count() + more > width;
        if !line.is_empty() && full {
            let _ = writeln!(out, "{line} \\");
            line = format!("{indent}  {word}");
            continue;
        }
        line += if line.is_empty() { indent } else { " " };
        line += word;
    }
    let _ = writeln!(out, "{line}");
    out
}

/// The words of a command; a space between quotes does not end one.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut from = 0;
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (' ', None) => {
                words.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    words.push(&text[from..]);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = "tc filter add dev 'a device of two words' ingress matchall action \
                        mirred egress redirect dev pt-ifb7";

    /// A shell reads the same words from the lines as from the command.
    #[test]
    fn a_command_in_several_lines_is_the_same_to_a_shell() {
        let read = |command: &str| {
            let shell = std::process::Command::new("sh")
                .args(["-c", &format!("printf '%s|' {command}")])
                .output();
            String::from_utf8(shell.unwrap().stdout).unwrap()
        };
        for width in [40, 60, 80] {
            let lines = command(LONG, "  ", width);
            assert!(lines.lines().all(|l| l.chars().count() <= width), "{lines}");
            assert!(lines.lines().count() > 1);
            assert_eq!(read(lines.trim()), read(LONG), "{lines}");
        }
        assert_eq!(command("sysctl -w a=1", "  ", 80), "  sysctl -w a=1\n");
    }
}
