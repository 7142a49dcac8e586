//! Packages of built programs: for Debian, for OpenWrt, and files installed from a checkout.
//!
//! The contents of each are a [`tree::Tree`], computed from the checkout and from the programs' own
//! output (completions, manual pages). Nothing in a package depends on the time or the machine it
//! is packed on: times are the commit's, owners are root, names are sorted.

mod adb;
pub mod apk;
pub mod changelog;
pub mod contents;
pub mod crates;
pub mod deb;
pub mod dist;
pub mod elf;
mod error;
pub mod formats;
pub mod installed;
pub mod ipk;
pub mod openwrt;
pub mod program;
pub mod sbom;
pub mod tar;
pub mod tree;

pub use error::PackageError;

/// Time of all files in a package, seconds since 1970: `SOURCE_DATE_EPOCH`, the time of the commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch(pub u64);

/// The version of all packages.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
