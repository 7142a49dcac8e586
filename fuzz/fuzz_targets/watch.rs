#![no_main]
//! Any text as a config of `watch`: read or refused with lines of the text, never a panic. A config
//! that is read has a schedule.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| match watch::config::parse("fuzz", text) {
    Ok(config) => {
        assert!(!config.paths.is_empty());
        assert_eq!(watch::schedule::paces(&config).len(), config.paths.len());
    }
    Err(error) => {
        let lines = text.lines().count().max(1);
        assert!(!error.problems.is_empty());
        assert!(error.problems.iter().all(|p| p.line <= lines + 1), "{error}");
    }
});
