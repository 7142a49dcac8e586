//! The profile by which an image is compiled: how often branches are taken in code that a packet
//! passes through (patch 0022). It is of one source and one compiler, and any other image does
//! without: it is slower, and gives the same results.

use std::path::Path;

use super::cache::write_file;
use super::error::KernelError;
use super::run::{Runner, plain};

/// Counts in the format of gcov, `.gcda`, at the places of the object files; made by
/// `scripts/profile`.
const ARCHIVE: &[u8] = include_bytes!("../profile/counts.tar.xz");

/// What they were counted on: lines of a word and a value.
const ORIGIN: &str = include_str!("../profile/origin.txt");

/// The option that compiles by it.
pub(super) const OPTION: &str = "CONFIG_UM_PROFILE_USE";

/// Returns true for an image of that source and compiler without options of its own.
pub(super) fn fits(source_sha256: &str, compiler: &str, config: Option<&str>) -> bool {
    config.is_none()
        && origin("source") == Some(source_sha256)
        && origin("compiler") == Some(compiler)
}

fn origin(word: &str) -> Option<&'static str> {
    ORIGIN
        .lines()
        .find_map(|line| line.strip_prefix(word)?.strip_prefix(' '))
}

/// Identifies the profile.
pub(super) fn digest() -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(ORIGIN.as_bytes()).update(ARCHIVE);
    hasher.finalize().to_hex().to_string()
}

/// Puts the counts into a source tree.
pub(super) fn unpack(runner: &Runner, tree: &Path) -> Result<(), KernelError> {
    let file = tree.join("profile.tar.xz");
    write_file(&file, ARCHIVE)?;
    let mut command = plain("tar");
    command
        .args(["--no-same-owner", "--extract", "--file"])
        .arg(&file)
        .arg("--directory")
        .arg(tree);
    runner.run("unpacking the profile", &mut command)
}

#[cfg(test)]
mod tests {
    use super::super::tested::PINNED;
    use super::*;

    #[test]
    fn the_profile_is_of_the_pinned_source() {
        let compiler = origin("compiler").unwrap();
        assert!(fits(PINNED.sha256, compiler, None));
        assert!(!fits("00", compiler, None));
        assert!(!fits(PINNED.sha256, "gcc (GCC) 99.1.0", None));
        assert!(!fits(PINNED.sha256, compiler, Some("CONFIG_SMC=y")));
    }
}
