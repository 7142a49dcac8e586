//! Words of a shell command. Names come from the facts of two hosts, of which one may be another's:
//! what is copied into a shell must stay one word there, whatever is in it.

/// A value as one word of a POSIX shell; what no name can be is replaced by a placeholder.
pub(super) fn word(value: &str, placeholder: &str) -> String {
    let printable = value.bytes().all(|b| (b' '..=b'~').contains(&b));
    // In front a dash would make it an option.
    if value.is_empty() || value.len() > 64 || !printable || value.starts_with('-') {
        return unknown(placeholder);
    }
    let safe = |b: u8| b.is_ascii_alphanumeric() || b"._-+:@%/,".contains(&b);
    match value.bytes().all(safe) {
        true => value.to_owned(),
        false => format!("'{}'", value.replace('\'', r"'\''")),
    }
}

/// What the Run does not know: a word that no command takes for a name.
pub(super) fn unknown(placeholder: &str) -> String {
    format!("'<{placeholder}>'")
}

/// A device's name. The kernel takes up to 15 bytes, without blanks, slashes and colons
/// (`dev_valid_name` of net/core/dev.c, Linux 6.12).
pub(super) fn device(name: Option<&str>) -> String {
    let valid = |name: &&str| {
        name.len() < 16 && !name.contains(['/', ' ', ':']) && !matches!(*name, "." | "..")
    };
    match name.filter(valid) {
        Some(name) => word(name, "device"),
        None => unknown("device"),
    }
}
