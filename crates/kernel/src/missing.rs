//! Missing programs and files of a build.

use std::fmt::Write as _;

/// A missing requirement of the build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingTool {
    /// The program or file.
    pub name: &'static str,
    /// The package of Debian and Ubuntu that contains it.
    pub package: &'static str,
}

/// The missing pieces and one command that installs them all.
pub(super) fn describe(missing: &[MissingTool]) -> String {
    let mut text = String::new();
    let mut packages: Vec<&str> = Vec::new();
    for tool in missing {
        let _ = writeln!(text, "  {} (package {})", tool.name, tool.package);
        if !packages.contains(&tool.package) {
            packages.push(tool.package);
        }
    }
    let _ = write!(
        text,
        "on Debian and Ubuntu: apt-get install {}",
        packages.join(" ")
    );
    text
}
