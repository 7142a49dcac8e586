//! Documents to store, and a database server.

#![allow(dead_code, missing_docs, unreachable_pub, unused_imports)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

mod certificates;
mod server;

use std::path::Path;

pub use certificates::Authority;
use model::history::Kind;
pub use server::{Server, succeed};
use store::{Document, Place};

/// A Run in JSON: one figure of one step for each value, taken an hour apart.
pub fn run_text(number: u64, goodput_bps: f64, kernel: &str) -> String {
    format!(
        r#"{{"schema": 1, "id": "{number:016x}", "program": "0.1.0",
 "started_us": {}, "took_s": 60.0,
 "plan": {{"step": []}},
 "near": {{"program": "0.1.0", "facts": {{"schema": 1, "kernel": "{kernel}"}}}},
 "far": {{"program": "0.1.0", "facts": {{"schema": 1, "kernel": "6.1"}}}},
 "layers": [{{"layer": "underlay", "family": "v4", "near": "192.0.2.1", "far": "192.0.2.2"}}],
 "samples": [],
 "figures": [
  {{"key": {{"step": "tcp", "layer": "underlay", "family": "v4", "direction": "down", "flows": 1}},
   "kind": "goodput_bps", "n": 5, "median": {goodput_bps}, "mean": {goodput_bps},
   "low": {}, "high": {}}},
  {{"key": {{"step": "idle", "layer": "underlay", "family": "v4"}},
   "kind": "rtt_p50_us", "n": 1, "median": 24000.0, "mean": 24000.0}}
 ],
 "ratios": []}}"#,
        1_700_000_000_000_000 + number * 3_600_000_000,
        0.99 * goodput_bps,
        1.01 * goodput_bps,
    )
}

pub fn run(number: u64, goodput_bps: f64, kernel: &str) -> Document {
    Document::of_run(run_text(number, goodput_bps, kernel).into_bytes(), "test").unwrap()
}

/// A document that cannot be compressed.
pub fn noise(number: u64, bytes: usize) -> Document {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let body: Vec<u8> = (0..bytes)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        })
        .collect();
    Document::new(Kind::Advice, &format!("{number:016x}"), number, "p", body)
}

pub fn file(folder: &Path) -> Place {
    Place::File(folder.join("history.db"))
}
