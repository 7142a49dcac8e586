//! The lab's kernel image: a real Linux, built as User Mode Linux from a source that is known
//! by its hash, or signed.
//!
//! [`build`] fetches the pinned `linux-source` package from Debian (or another of a tested series,
//! or a source that the user names), applies the few patches in `patches`, configures it with
//! `lab.config` on top of `allnoconfig`, has the image booted, and stores one static program in the
//! cache. [`locate`] finds it. The same source, patches, options and compiler give the same bytes
//! on any host.
//!
//! How to start an image so that a run repeats:
//! * `PATHTWIN_SEED=<decimal u64>` in its environment replaces the host's entropy (patch 0002);
//! * a constant kernel command line, because `random_init_early()` in `drivers/char/random.c` mixes
//!   it into the generator. `mem=`, `seccomp=`, `umid=`, `uml_dir=` and `hostfs=DIR` are taken out
//!   of it by UML's own early options, so `hostfs=DIR rootfstype=hostfs rootflags=/` names any
//!   folder as the guest's root and still leaves the command line as it was;
//! * the variables of [`ENVIRONMENT`].

mod apt;
mod build;
mod bytes;
mod cache;
mod compile;
mod config;
mod error;
mod find;
mod ikconfig;
mod image;
mod import;
mod missing;
mod note;
mod patches;
mod pool;
mod profile;
mod progress;
mod recipe;
mod run;
mod search;
mod source;
mod sources;
mod tested;
mod tools;
mod version;

#[cfg(test)]
mod tests;

/// Variables to set in the environment of every image.
///
/// glibc 2.35 and later registers a restartable sequence for the thread that UML runs in. In Linux
/// 6.1 a guest's programs run in copies of that process with its memory unmapped, and the host
/// kills them when it cannot write to the registered place ("failed to wait for SIGTRAP ... status
/// = 0xb7f"). 7.2 starts a separate program for them and becomes only a little faster.
pub const ENVIRONMENT: &[(&str, &str)] = &[("GLIBC_TUNABLES", "glibc.pthread.rseq=0")];

pub use build::{BuildOptions, Built, Trial, build};
pub use error::{
    ImageFault, KernelError, Rejection, RejectionReason, SourceFault, StepEnd, TrialError,
};
pub use find::{find, images, locate, named};
pub use image::{Image, Meta, SourceInfo};
pub use import::import;
pub use missing::MissingTool;
pub use note::Note;
pub use patches::{PatchReport, PatchState};
pub use progress::{Progress, Stage};
pub use tested::Refusal;
