//! Helpers of this crate's tests.

use std::io;

use crate::Netns;

/// A throwaway namespace, or `None` with a printed reason where the test may not make one.
pub(crate) fn netns() -> Option<Netns> {
    match Netns::create() {
        Ok(ns) => Some(ns),
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
            println!("skipped: {e}");
            None
        }
        Err(e) => panic!("{e}"),
    }
}

/// Bytes from hexadecimal text; white space is ignored.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap())
        .collect()
}

/// Hexadecimal text of bytes, 32 bytes a line, so that a difference is easy to find.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    let lines: Vec<String> = bytes
        .chunks(32)
        .map(|line| line.iter().map(|b| format!("{b:02x}")).collect())
        .collect();
    lines.join("\n")
}
