//! Recorded runs in `tests/runs`.

#![allow(clippy::unwrap_used, unreachable_pub)]

use std::path::Path;

use model::{findings::Findings, run::Run};

/// The findings of a recorded Run, by its name.
pub fn findings(name: &str) -> Findings {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runs");
    let packed = std::fs::read(folder.join(format!("{name}.json.zst"))).unwrap();
    let run = Run::parse(&zstd::decode_all(packed.as_slice()).unwrap()).unwrap();
    explain::judge(&run)
}
