//! No text makes the spec parser panic, and what it accepts gives cells or errors that name a file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::spec::Spec;

fuzz_target!(|text: &str| {
    if let Err(error) = Spec::parse("fuzz.toml", text).and_then(|spec| spec.cells()) {
        assert!(error.to_string().starts_with("fuzz.toml:"));
    }
});
