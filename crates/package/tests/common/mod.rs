//! Paths and tools of the tests.

#![allow(clippy::expect_used, dead_code, unreachable_pub)]

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// The checkout.
pub fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of built programs.
pub fn targets() -> PathBuf {
    std::env::var_os("PATHTWIN_TARGETS").map_or_else(|| checkout().join("target"), PathBuf::from)
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A program that the tests need must be there.
pub fn tool(name: &str) {
    let found = Command::new(name).arg("--version").output();
    assert!(found.is_ok(), "no {name}; run: scripts/setup test");
}

pub fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout == b"0\n")
}
