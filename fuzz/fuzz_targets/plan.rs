#![no_main]
//! Any text as a plan: read or refused, never a panic. A plan that is read and written is the same
//! plan.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(plan) = measure::plans::parse(text) {
        let again = toml::to_string(&plan).expect("what was read can be written");
        assert_eq!(measure::plans::parse(&again).ok(), Some(plan));
    }
});
