//! No Run makes a rule panic, and no text the reader of Findings or its remedies' commands.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::{
    findings::Findings,
    remedy::{Dialect, commands},
    run::Run,
};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(run) = Run::parse(bytes) {
        let findings = explain::judge(&run);
        assert!(!findings.summary.is_empty());
    }
    if let Ok(findings) = Findings::parse(bytes) {
        let _ = serde_json::to_vec(&findings).expect("what was read can be written");
        for remedy in findings.findings.iter().flat_map(|f| &f.remedies) {
            let _ = remedy.sentence().to_string();
            for dialect in [Dialect::Linux, Dialect::OpenWrt] {
                let one_line = |command: &String| !command.contains(char::is_control);
                assert!(commands(remedy, dialect).iter().all(one_line));
            }
        }
    }
});
