//! The clock of the guest's programs: its vDSO (patch 0019) and its system call are one clock.

#![allow(clippy::expect_used)]

mod common;

use std::path::Path;

use common::{patched, pathtwin, spec, text};
use serde_json::{Value, json};

/// Patch 0019, by the name in the image's description.
const PATCH: &str = "0019-um-vdso-clock.patch";

/// Each read takes 256 ns (docs/limitations.md), whichever way and whatever else happens.
#[test]
fn a_read_of_the_clock_takes_as_long_by_the_vdso_as_by_a_system_call() {
    if !patched(PATCH) {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clock/reads.py");
    let (_folder, path) = spec("[path]\nrtt = \"20ms\"\nrate = \"100mbit\"\n");
    let output = pathtwin()
        .args(["lab", "exec"])
        .arg(&path)
        .args(["--on", "client", "--", "python3", "-B"])
        .arg(&script)
        .output()
        .expect("run pathtwin");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let read: Value = serde_json::from_slice(&output.stdout).expect("one document");
    assert_eq!(read["page"], json!(["rw-s"]), "the vDSO has its page");
    // A system call reads twice when the timekeeper moved meanwhile (ktime_get_ts64, Linux 7.2).
    let is_one = |steps: &Value| [json!([256]), json!([256, 512])].contains(steps);
    assert!(is_one(&read["steps"]), "{}", read["steps"]);
    for clock in ["realtime", "monotonic", "boottime"] {
        let steps = &read["turns"][clock];
        assert!(is_one(steps), "{clock}: {steps}");
    }
    // Timer slack, and the reads around it.
    let slept = read["slept"].as_u64().expect("ns");
    assert!((5_000_000..5_060_000).contains(&slept), "{slept}");
}
