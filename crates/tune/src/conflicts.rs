//! Others that write the same settings: running programs, files of configuration management, and
//! files that are read later at boot.

mod boot;
mod files;
mod programs;

use std::path::Path;

use model::{
    change::{Change, Setting},
    text::Text,
};

/// Returns one sentence for each program or file that may write the settings of a change, and what
/// to do about it. Programs in containers count: they share the kernel. `root` is the folder of the
/// system's files.
pub fn writers(change: &Change, root: &Path) -> Vec<Text> {
    let settings: Vec<&Setting> = change.steps.iter().map(|step| &step.setting).collect();
    let mut all = programs::running(&settings);
    all.extend(files::others(&settings, root));
    all.extend(boot::later(change, root));
    all
}
