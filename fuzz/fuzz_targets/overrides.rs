#![no_main]
//! Any text as a spec, and any as an override of it on the command line: read or refused, never a
//! panic. Values that are taken are in the cells, whatever the file had there before.

use libfuzzer_sys::fuzz_target;
use model::spec::Spec;

/// A spec of every table that overrides reach, beside the arbitrary one.
const SPEC: &str =
    "[path]\nrtt = \"24ms\"\nrate = \"10mbit\"\n[matrix]\n\"path.loss\" = [\"0%\", \"1%\"]\n";

fuzz_target!(|input: (&str, Vec<(&str, &str)>)| {
    let (text, overrides) = input;
    for text in [text, SPEC] {
        let Ok(mut spec) = Spec::parse("fuzz.toml", text) else {
            continue;
        };
        for (key, value) in overrides.iter().take(4) {
            let before = spec.clone();
            if spec.set(key, value).is_err() {
                // What was refused has changed nothing.
                assert_eq!(spec.cells().ok(), before.cells().ok());
            }
        }
        if let Ok(cells) = spec.cells() {
            assert!(!cells.is_empty());
        }
    }
});
