//! Others that write the same settings: running programs, and files of configuration management.

mod files;
mod programs;

use std::path::Path;

use model::{change::Setting, text::Text};

/// Returns one sentence for each program or file that may write these settings, and what to do
/// about it. Programs in containers count: they share the kernel. `root` is the folder of the
/// system's files.
pub fn writers<'a>(settings: impl IntoIterator<Item = &'a Setting>, root: &Path) -> Vec<Text> {
    let settings: Vec<&Setting> = settings.into_iter().collect();
    let mut all = programs::running(&settings);
    all.extend(files::others(&settings, root));
    all
}
