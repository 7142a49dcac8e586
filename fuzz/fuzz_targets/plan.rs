#![no_main]
//! Arbitrary text as a plan: accepted or rejected without a panic. Accepted plans round-trip.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(plan) = measure::plans::parse(text) {
        let again = toml::to_string(&plan).expect("what was read can be written");
        assert_eq!(measure::plans::parse(&again).ok(), Some(plan));
    }
});
