//! Folders of the user.

use std::{ffi::OsString, path::PathBuf};

/// A folder of the user: the value of a variable such as `$XDG_CONFIG_HOME`, else `usual` below
/// `$HOME`; `None` if neither is known. A relative path is ignored, and so is an empty one (XDG
/// Base Directory Specification 0.8): the files would be in whatever folder is the current one.
pub fn of_user(variable: Option<OsString>, home: Option<OsString>, usual: &str) -> Option<PathBuf> {
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    variable
        .and_then(absolute)
        .or_else(|| Some(home.and_then(absolute)?.join(usual)))
}
