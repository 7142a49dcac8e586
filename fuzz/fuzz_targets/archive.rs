#![no_main]
//! Any bytes as a line of an archive of the history, as the address of one, or as the name of a
//! series: read or refused, never a panic, and a name that is read is written the same.

use libfuzzer_sys::fuzz_target;
use model::run::Key;
use store::{Document, Place};

fuzz_target!(|bytes: &[u8]| {
    let _ = Document::of_line(bytes, "fuzz");
    if let Ok(text) = str::from_utf8(bytes) {
        let _ = Place::parse(text);
        if let Ok(key) = text.parse::<Key>() {
            assert_eq!(key.to_string(), text);
        }
    }
});
