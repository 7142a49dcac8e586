//! Sections in files that also belong to other programs.

use std::{fs, io, os::unix::fs::PermissionsExt, path::Path};

use sys::files::{Existing, Readers};

/// Appends a section to a file.
///
/// # Errors
/// The file does not exist, or cannot be written.
pub(super) fn add(path: &Path, section: &str) -> io::Result<()> {
    let mut text = fs::read_to_string(path)?;
    // Before the blank line at the end of a file that `uci commit` wrote.
    let end = match text.ends_with("\n\n") {
        true => text.len() - 1,
        false => text.len(),
    };
    text.insert_str(end, section);
    put(path, &text)
}

/// Removes a section, unless it is gone; `false` if somebody has edited it. Its first line has the
/// name of the change.
///
/// # Errors
/// The file cannot be read or written.
pub(super) fn cut(path: &Path, section: &str) -> io::Result<bool> {
    let text = fs::read_to_string(path)?;
    let first = section.lines().find(|line| !line.is_empty());
    match text.match_indices(section).count() {
        1 => put(path, &text.replacen(section, "", 1)).map(|()| true),
        0 => Ok(!text.lines().any(|line| Some(line) == first)),
        _ => Ok(false),
    }
}

/// Replaces the text of a file, preserving its permissions.
fn put(path: &Path, text: &str) -> io::Result<()> {
    let mode = fs::metadata(path)?.permissions().mode();
    let readers = Readers::Mode(mode & 0o7777);
    sys::files::write(path, readers, Existing::Replace, text.as_bytes())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const SECTION: &str = "\nconfig queue 'pathtwin_1'\n\toption enabled '1'\n";

    #[test]
    fn removing_a_section_restores_the_file_with_any_ending() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sqm");
        for before in ["", "\nconfig a 'b'\n\n", "config a 'b'\n", "config a 'b'"] {
            fs::write(&path, before).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
            add(&path, SECTION).unwrap();
            assert_ne!(fs::read_to_string(&path).unwrap(), before);
            for time in ["once", "after an interruption"] {
                assert!(cut(&path, SECTION).unwrap(), "{time}");
                assert_eq!(fs::read_to_string(&path).unwrap(), before);
            }
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o640);
        }
    }

    #[test]
    fn a_section_that_somebody_edited_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sqm");
        let edited = SECTION.replace("'1'\n", "'0'\n");
        fs::write(&path, &edited).unwrap();
        assert!(!cut(&path, SECTION).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), edited);
    }
}
