//! Input of a job from the engine.

use std::path::Path;

use sys::files::{Existing, Readers};
use traffic::load::probe::Timing;

/// The folder of a job, and the kernel it is done in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Engine<'a> {
    /// The cell's folder.
    pub(crate) folder: &'a Path,
    /// True if this is a guest, with virtual time and a separate kernel.
    pub(crate) guest: bool,
}

impl Engine<'_> {
    /// Source of the times of probes.
    pub(crate) fn timing(&self) -> Timing {
        if self.guest {
            Timing::Virtual
        } else {
            Timing::Kernel
        }
    }

    /// Returns the precision of its kernel's timers.
    pub(crate) fn timers(&self) -> testbed::Timers {
        if self.guest {
            testbed::Timers::Exact
        } else {
            testbed::Timers::Late
        }
    }
}

/// Writes all bytes or none.
pub(crate) fn put(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    sys::files::write(file, Readers::Owner, Existing::Replace, bytes)
}
