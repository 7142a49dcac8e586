//! Progress of a build, for display.

use std::fmt;

/// A step of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Another process is building; its result may be usable.
    Wait,
    /// The source is being found and downloaded.
    Fetch,
    /// The source is being unpacked.
    Unpack,
    /// The patches are being applied.
    Patch,
    /// The configuration is being made and checked.
    Configure,
    /// Objects are being compiled.
    Compile,
    /// The image is being booted.
    Try,
    /// The image is being installed.
    Install,
}

/// Progress of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The step.
    pub stage: Stage,
    /// Its object: an archive, a file, an option that was not accepted.
    pub detail: &'a str,
    /// Objects that were compiled.
    pub done: u32,
    /// Objects in all: an estimate, 0 outside of [`Stage::Compile`].
    pub total: u32,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Wait => "waiting for another build",
            Self::Fetch => "downloading the source",
            Self::Unpack => "unpacking",
            Self::Patch => "patching",
            Self::Configure => "configuring",
            Self::Compile => "compiling",
            Self::Try => "booting",
            Self::Install => "installing",
        })
    }
}

impl fmt::Display for Progress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = self.stage;
        match self.total {
            0 => write!(f, "{stage} {}", self.detail),
            total => write!(f, "{stage}: {} of about {total} objects", self.done),
        }
    }
}

/// The caller's function that receives progress.
pub(super) type Report<'a> = &'a mut dyn FnMut(Progress<'_>);

/// Reports a stage without a count.
pub(super) fn report_stage(report: Report<'_>, stage: Stage, detail: &str) {
    report(Progress {
        stage,
        detail,
        done: 0,
        total: 0,
    });
}
