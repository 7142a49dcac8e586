#![no_main]
//! Any bytes as a line of an archive of the history, or the address of one: read or refused, never
//! a panic.

use libfuzzer_sys::fuzz_target;
use store::{Document, Place};

fuzz_target!(|bytes: &[u8]| {
    let _ = Document::of_line(bytes, "fuzz");
    if let Ok(text) = str::from_utf8(bytes) {
        let _ = Place::parse(text);
    }
});
