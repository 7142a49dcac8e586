#![no_main]
//! Arbitrary bytes as a line of an archive, as the location of a history, or as the name of a
//! series: accepted or rejected without a panic, and accepted names round-trip.

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
