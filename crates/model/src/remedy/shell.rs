//! Escaping of words in shell commands. Names come from the facts of both hosts, one of which may
//! not be trusted: a name copied into a shell must remain one word, whatever it contains.

/// A value as one word of a POSIX shell; invalid names are replaced by a placeholder.
pub(crate) fn word(value: &str, placeholder: &str) -> String {
    bounded(value, placeholder, 64)
}

/// A host as one word: a name of the DNS has up to 253 bytes, and a protocol and a port beside it.
pub(crate) fn host(value: &str) -> String {
    bounded(value, "host", 280)
}

fn bounded(value: &str, placeholder: &str, longest: usize) -> String {
    let printable = value.bytes().all(|b| (b' '..=b'~').contains(&b));
    // A leading dash would make it an option.
    if value.is_empty() || value.len() > longest || !printable || value.starts_with('-') {
        return unknown(placeholder);
    }
    quoted(value)
}

/// A text as one word of a POSIX shell, as it is.
pub fn quoted(text: &str) -> String {
    let safe = |b: u8| b.is_ascii_alphanumeric() || b"._-+:@%/,".contains(&b);
    match !text.is_empty() && text.bytes().all(safe) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// A placeholder for an unknown value, which is not a valid name.
pub(crate) fn unknown(placeholder: &str) -> String {
    format!("'<{placeholder}>'")
}

/// A device name: up to 15 bytes without spaces, slashes and colons (`dev_valid_name` of
/// net/core/dev.c, Linux 6.12).
pub(crate) fn device(name: Option<&str>) -> String {
    let valid = |name: &&str| {
        name.len() < 16 && !name.contains(['/', ' ', ':']) && !matches!(*name, "." | "..")
    };
    match name.filter(valid) {
        Some(name) => word(name, "device"),
        None => unknown("device"),
    }
}
