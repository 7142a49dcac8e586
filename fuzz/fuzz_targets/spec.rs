//! Arbitrary text as a spec: accepted or rejected without a panic; accepted specs give cells, or
//! errors that name a file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::spec::Spec;

fuzz_target!(|text: &str| {
    let _ = model::spec::steps::trace("trace.csv", text);
    let cells = Spec::parse("fuzz.toml", text)
        .and_then(|spec| spec.with_files(|_| Ok(text.to_owned())))
        .and_then(|spec| spec.cells());
    if let Err(error) = cells {
        assert!(error.to_string().starts_with("fuzz.toml:"));
    }
});
