//! No Run makes a rule panic, and no text the reader of Findings.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::{findings::Findings, run::Run};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(run) = Run::parse(bytes) {
        let findings = explain::judge(&run);
        assert!(!findings.summary.is_empty());
    }
    let _ = Findings::parse(bytes);
});
