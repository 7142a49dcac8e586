//! The lab's kernel image: a real Linux, built as User Mode Linux from a signed source.
//!
//! [`build`] fetches the newest `linux-source` package that Debian offers (or takes a source that
//! the user names), applies the few patches in `kernel/patches`, configures it with
//! `kernel/lab.config` on top of `allnoconfig`, and puts one static program into the cache.
//! [`locate`] finds it again. The same source, patches, options and compiler give the same bytes,
//! wherever they are built.
//!
//! How to start an image so that a run repeats:
//! * `PATHTWIN_SEED=<decimal u64>` in its environment replaces the host's entropy (patch 0002);
//! * a constant kernel command line, because `random_init_early()` in `drivers/char/random.c` mixes
//!   it into the generator. `mem=`, `seccomp=`, `umid=`, `uml_dir=` and `hostfs=DIR` are taken out of
//!   it by UML's own early options, so `hostfs=DIR rootfstype=hostfs rootflags=/` names any folder as
//!   the guest's root and still leaves the command line as it was.

mod apt;
mod build;
mod cache;
mod config;
mod error;
mod ikconfig;
mod image;
mod patches;
mod recipe;
mod run;
mod source;
mod sources;
mod tools;
mod version;

#[cfg(test)]
mod tests;

pub use build::{BuildOptions, Built, Progress, Stage, build};
pub use error::KernelError;
pub use image::{Image, Meta, SourceInfo, locate};
pub use patches::{PatchReport, PatchState};
pub use tools::MissingTool;
