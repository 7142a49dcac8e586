//! Programs and libraries that a build needs, each with its Debian package.
//!
//! The list was found by building Linux 7.2 and 6.1 with a `PATH` that contains nothing else.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{error::KernelError, missing::MissingTool};

/// Always needed: configure, patch, compile, link.
const BUILD: &[(&str, &str)] = &[
    ("gcc", "gcc"),
    ("as", "binutils"),
    ("ld", "binutils"),
    ("ar", "binutils"),
    ("nm", "binutils"),
    ("objcopy", "binutils"),
    ("strip", "binutils"),
    ("make", "make"),
    ("flex", "flex"),
    ("bison", "bison"),
    ("bc", "bc"),
    ("perl", "perl"),
    ("patch", "patch"),
    ("tar", "tar"),
    ("gzip", "gzip"),
    ("bash", "bash"),
    ("sh", "dash"),
    ("awk", "mawk"),
    ("sed", "sed"),
    ("grep", "grep"),
    ("find", "findutils"),
    ("xargs", "findutils"),
    ("cmp", "diffutils"),
];

/// Further needs of the chosen kind of source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SourceKind {
    /// Fetched from an archive: apt, and a package to open.
    Archive,
    /// A `linux-source` package on disk.
    Package,
    /// A tarball on disk; the program that unpacks it.
    Tarball(Option<(&'static str, &'static str)>),
    /// An unpacked tree.
    Directory,
}

impl SourceKind {
    fn needs(self) -> Vec<(&'static str, &'static str)> {
        match self {
            Self::Archive => {
                vec![
                    ("apt-get", "apt"),
                    ("apt-cache", "apt"),
                    ("dpkg-deb", "dpkg"),
                    ("xz", "xz-utils"),
                ]
            }
            Self::Package => vec![("dpkg-deb", "dpkg"), ("xz", "xz-utils")],
            Self::Tarball(tool) => tool.into_iter().collect(),
            Self::Directory => Vec::new(),
        }
    }
}

/// Looks a program up in a list of folders.
pub(super) fn find_in(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    folders
        .iter()
        .map(|folder| folder.join(name))
        .find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// The folders of `PATH`.
pub(super) fn path_folders() -> Vec<PathBuf> {
    std::env::var_os("PATH")
        .map(|path| std::env::split_paths(&path).collect())
        .unwrap_or_default()
}

/// Returns everything that is missing, before anything is downloaded. A kernel with `modules` has
/// an index of them.
pub(super) fn check(kind: SourceKind, modules: bool) -> Result<(), KernelError> {
    if std::env::consts::ARCH != "x86_64" {
        return Err(KernelError::Architecture(std::env::consts::ARCH));
    }
    let folders = path_folders();
    let mut missing = missing_programs(kind, &folders);
    if find_in("gcc", &folders).is_some() && !has_static_libc() {
        missing.push(MissingTool {
            name: "libc.a and the C headers",
            package: "libc6-dev",
        });
    }
    // Also searched there by scripts/depmod.sh of the kernel.
    let system = ["/sbin", "/usr/sbin"].map(PathBuf::from);
    let has = |name| find_in(name, &folders).or_else(|| find_in(name, &system));
    if modules && has("depmod").is_none() {
        missing.push(MissingTool {
            name: "depmod",
            package: "kmod",
        });
    }
    if missing.is_empty() {
        Ok(())
    } else {
        Err(KernelError::MissingTools(missing))
    }
}

fn missing_programs(kind: SourceKind, folders: &[PathBuf]) -> Vec<MissingTool> {
    BUILD
        .iter()
        .copied()
        .chain(kind.needs())
        .filter(|(name, _)| find_in(name, folders).is_none())
        .map(|(name, package)| MissingTool { name, package })
        .collect()
}

/// Returns the path of the C library that the compiler links statically; `None` if it finds none.
pub(super) fn static_libc() -> Option<PathBuf> {
    let out = Command::new("gcc")
        .args(["-m64", "-print-file-name=libc.a"])
        .output()
        .ok()?;
    let path = PathBuf::from(String::from_utf8(out.stdout).ok()?.trim());
    // If the file is missing, gcc prints the bare name.
    path.is_absolute().then_some(path)
}

fn has_static_libc() -> bool {
    let headers = Command::new("gcc")
        .args([
            "-E",
            "-include",
            "stdio.h",
            "-include",
            "linux/futex.h",
            "-x",
            "c",
            "/dev/null",
            "-o",
            "/dev/null",
        ])
        .output();
    static_libc().is_some() && headers.is_ok_and(|out| out.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::missing::describe;

    #[test]
    fn all_missing_programs_are_named_at_once() {
        let empty = tempfile::tempdir().unwrap();
        let missing = missing_programs(SourceKind::Archive, &[empty.path().to_path_buf()]);
        assert_eq!(missing.len(), BUILD.len() + 4);
        let text = describe(&missing);
        assert!(text.contains("  bison (package bison)"), "{text}");
        assert!(text.contains("apt-get install gcc binutils make"), "{text}");
        assert_eq!(
            text.matches(" xz-utils").count(),
            2,
            "named with its program and once to install"
        );
    }

    #[test]
    fn a_directory_needs_no_unpacker() {
        assert!(SourceKind::Directory.needs().is_empty());
    }
}
