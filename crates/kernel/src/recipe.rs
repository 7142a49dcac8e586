//! The inputs that decide the bytes of an image besides the source.

use std::path::Path;
use std::process::Command;

use super::config::FRAGMENT;
use super::error::{Context as _, KernelError};
use super::patches::{FILES, SERIES};
use super::profile;
use super::tools::static_libc;

/// Raised when the way of building changes.
const SCHEMA: &str = "pathtwin kernel recipe 2";

/// The compiler, as far as it shows in an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Toolchain {
    /// First line of `gcc --version`.
    pub(super) compiler: String,
    /// First line of `ld --version`.
    pub(super) linker: String,
    /// Hash of the C library that is linked in.
    pub(super) libc: String,
}

impl Toolchain {
    /// Queries the installed tools.
    pub(super) fn installed() -> Result<Self, KernelError> {
        let libc = match static_libc() {
            Some(path) => blake3::hash(&std::fs::read(&path).on("read", &path)?)
                .to_hex()
                .to_string(),
            None => String::new(),
        };
        Ok(Self {
            compiler: first_line("gcc")?,
            linker: first_line("ld")?,
            libc,
        })
    }
}

fn first_line(program: &str) -> Result<String, KernelError> {
    let out = Command::new(program)
        .arg("--version")
        .env("LC_ALL", "C")
        .output()
        .on("run", Path::new(program))?;
    Ok(String::from_utf8_lossy(&out.stdout)
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned())
}

/// Hash over the fragment, the patches, and the profile or further options: the inputs of an image
/// besides source and compiler.
pub(super) fn inputs(more: Option<&str>) -> String {
    from_here([SCHEMA, FRAGMENT, SERIES].into_iter(), more)
}

/// Hash over the same and the compiler.
pub(super) fn recipe(tools: &Toolchain, more: Option<&str>) -> String {
    let parts = [
        SCHEMA,
        &tools.compiler,
        &tools.linker,
        &tools.libc,
        FRAGMENT,
        SERIES,
    ];
    from_here(parts.into_iter(), more)
}

fn from_here<'a>(parts: impl Iterator<Item = &'a str>, more: Option<&'a str>) -> String {
    let patches = FILES.iter().flat_map(|(name, text)| [*name, *text]);
    // With further options the profile does not fit.
    let profile = more.is_none().then(profile::digest);
    let mut all: Vec<&str> = parts.chain(patches).chain(more).collect();
    all.extend(profile.as_deref());
    hash(all.into_iter())
}

/// Images that this version's recipe makes of the pinned source.
const KNOWN: &str = include_str!("../images.sha256");

/// Returns true if an image is one of those, by its SHA-256.
pub(super) fn known(sha256: &str) -> bool {
    KNOWN
        .lines()
        .any(|line| line.split_whitespace().next() == Some(sha256))
}

/// The key of an image in the cache: its source and its recipe.
pub(super) fn key(source_sha256: &str, recipe: &str) -> String {
    hash([source_sha256, recipe].into_iter())[..32].to_owned()
}

fn hash<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        // The length first, so that no two lists of parts read the same.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(compiler: &str) -> Toolchain {
        Toolchain {
            compiler: compiler.to_owned(),
            linker: "ld 2".to_owned(),
            libc: "00".to_owned(),
        }
    }

    #[test]
    fn the_key_follows_source_and_recipe() {
        let plain = |compiler| recipe(&tools(compiler), None);
        let (one, two) = (plain("gcc 12"), plain("gcc 13"));
        assert_ne!(one, two);
        assert_eq!(one, plain("gcc 12"));
        assert_ne!(one, recipe(&tools("gcc 12"), Some("CONFIG_SMC=y")));
        assert_ne!(inputs(None), inputs(Some("CONFIG_SMC=y")));
        assert_eq!(key("aa", &one), key("aa", &one));
        assert_ne!(key("aa", &one), key("ab", &one));
        assert_ne!(key("aa", &one), key("aa", &two));
        assert_eq!(key("aa", &one).len(), 32);
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(hash(["ab", "c"].into_iter()), hash(["a", "bc"].into_iter()));
    }
}
