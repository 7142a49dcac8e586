//! Pages of the documentation whose tables are generated from stored results.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The stored results of a file, one a line.
pub(crate) fn results<T: DeserializeOwned>(file: &Path) -> Vec<T> {
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

/// Checks the part of a page between two lines, or writes it if `UPDATE_DOCS` is set.
pub(crate) fn check_section(page: &str, [begin, end]: [&str; 2], expected: &str) {
    let file = root().join(page);
    let text = std::fs::read_to_string(&file).unwrap();
    let (before, rest) = text.split_once(begin).expect("the begin of the results");
    let (shown, after) = rest.split_once(end).expect("the end of the results");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let text = format!("{before}{begin}{expected}{end}{after}");
        std::fs::write(file, text).unwrap();
        return;
    }
    assert!(shown == expected, "{page} is old: run with UPDATE_DOCS=1");
}
