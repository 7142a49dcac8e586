//! Locations of files, and widths of their comments.

use std::path::{Path, PathBuf};

/// Maximum columns of a comment line.
const COLUMNS: usize = 100;

/// Source files in places that the rules do not allow.
pub fn misplaced(workspace: &Path) -> Vec<PathBuf> {
    let wrong = |file: &PathBuf| {
        let name = file.file_name().map(|n| n.to_string_lossy().into_owned());
        name.is_some_and(|name| name == "mod.rs" || name.ends_with("_tests.rs"))
    };
    let mut files = sources(workspace);
    files.retain(|file| in_source(file) && wrong(file));
    files
}

/// Uses of `#[path]`, also inside of `cfg_attr` on one line: file and line. Only
/// `"../NAME/mod.rs"` outside of `src` is allowed, for helpers that a test program in a folder
/// shares with others.
pub fn path_attributes(workspace: &Path) -> Vec<(PathBuf, usize)> {
    let mut found = Vec::new();
    for file in sources(workspace) {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim_start();
            let plain = line.strip_prefix("#[path = ");
            let conditional = line.starts_with("#[cfg_attr(") && line.contains(", path = ");
            if plain.is_none() && !conditional {
                continue;
            }
            let is_helper = |path: &str| path.starts_with("\"../") && path.ends_with("/mod.rs\"]");
            let helpers = plain.is_some_and(is_helper);
            if in_source(&file) || !helpers {
                found.push((file.clone(), index + 1));
            }
        }
    }
    found
}

fn in_source(file: &Path) -> bool {
    file.components().any(|c| c.as_os_str() == "src")
}

/// Comment lines with more than 100 columns: file and line. A link may be longer.
pub fn long_comments(workspace: &Path) -> Vec<(PathBuf, usize)> {
    let mut long = Vec::new();
    for file in sources(workspace) {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        for (index, line) in text.lines().enumerate() {
            let comment = line.trim_start().starts_with("//");
            if comment && !line.contains("://") && line.chars().count() > COLUMNS {
                long.push((file.clone(), index + 1));
            }
        }
    }
    long
}

/// All Rust files in the crates and fuzz targets of a workspace.
pub(crate) fn sources(workspace: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![
        workspace.join("crates"),
        workspace.join("fuzz/fuzz_targets"),
    ];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
