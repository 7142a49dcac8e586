//! The contents of a package: files, folders and links by path, sorted.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
};

use crate::PackageError;

/// Entry at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A folder.
    Folder {
        /// Permissions.
        mode: u32,
    },
    /// A file.
    File {
        /// Permissions.
        mode: u32,
        /// Contents.
        bytes: Vec<u8>,
    },
    /// A symbolic link.
    Link {
        /// Target of the link.
        target: String,
    },
}

/// Files, folders and links. Paths are relative to the root, without a leading slash; the folders
/// of a file are added with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree(BTreeMap<String, Node>);

impl Tree {
    /// Adds a file that everybody may read.
    pub fn file(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.add(path, 0o644, bytes);
    }

    /// Adds a program.
    pub fn program(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.add(path, 0o755, bytes);
    }

    /// Adds a file with permissions.
    pub fn add(&mut self, path: &str, mode: u32, bytes: impl Into<Vec<u8>>) {
        let bytes = bytes.into();
        self.put(path, Node::File { mode, bytes });
    }

    /// Adds an empty folder.
    pub fn folder(&mut self, path: &str, mode: u32) {
        self.put(path, Node::Folder { mode });
    }

    /// Adds a symbolic link.
    pub fn link(&mut self, path: &str, target: &str) {
        let target = target.to_owned();
        self.put(path, Node::Link { target });
    }

    fn put(&mut self, path: &str, node: Node) {
        for (at, _) in path.match_indices('/') {
            let folder = path[..at].to_owned();
            self.0.entry(folder).or_insert(Node::Folder { mode: 0o755 });
        }
        self.0.insert(path.to_owned(), node);
    }

    /// All paths with their entries; a folder comes before its contents.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.0.iter().map(|(path, node)| (path.as_str(), node))
    }

    /// Paths and contents of the files.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.iter().filter_map(|(path, node)| match node {
            Node::File { bytes, .. } => Some((path, bytes.as_slice())),
            Node::Folder { .. } | Node::Link { .. } => None,
        })
    }

    /// Size as Debian counts it: files in KiB, rounded up each, and one for each other entry.
    pub fn installed_kib(&self) -> usize {
        let size = |node: &Node| match node {
            Node::File { bytes, .. } => bytes.len().div_ceil(1024),
            Node::Folder { .. } | Node::Link { .. } => 1,
        };
        self.0.values().map(size).sum()
    }

    /// Writes the tree below a folder. Existing folders keep their permissions; files are replaced
    /// by a rename, so that running programs are not affected.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&self, root: &Path) -> Result<(), PackageError> {
        for (path, node) in self.iter() {
            let at = root.join(path);
            let error = |what| PackageError::file(what, &at);
            match node {
                Node::Folder { .. } if at.is_dir() => {}
                Node::Folder { mode } => {
                    fs::create_dir_all(&at).map_err(error("make"))?;
                    permit(&at, *mode)?;
                }
                Node::File { mode, bytes } => {
                    let new = root.join(format!("{path}.new"));
                    fs::write(&new, bytes).map_err(PackageError::file("write", &new))?;
                    permit(&new, *mode)?;
                    fs::rename(&new, &at).map_err(error("replace"))?;
                }
                Node::Link { target } => {
                    match fs::remove_file(&at) {
                        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                            return Err(error("replace")(e));
                        }
                        _ => symlink(target, &at).map_err(error("link"))?,
                    };
                }
            }
        }
        Ok(())
    }
}

fn permit(path: &Path, mode: u32) -> Result<(), PackageError> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .map_err(PackageError::file("set permissions of", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_before_their_contents_and_are_made_once() {
        let mut tree = Tree::default();
        tree.program("usr/bin/a", *b"x");
        tree.file("usr/bin/b", *b"");
        tree.folder("usr", 0o700);
        let paths: Vec<_> = tree.iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["usr", "usr/bin", "usr/bin/a", "usr/bin/b"]);
    }

    #[test]
    fn a_program_that_runs_is_replaced() {
        let root = tempfile::tempdir().unwrap();
        let mut tree = Tree::default();
        tree.program("bin/sleep", fs::read("/bin/sleep").unwrap());
        tree.write(root.path()).unwrap();
        let mut child = std::process::Command::new(root.path().join("bin/sleep"))
            .arg("60")
            .spawn()
            .unwrap();
        // Writing into it would be refused (ETXTBSY).
        let again = tree.write(root.path());
        child.kill().unwrap();
        child.wait().unwrap();
        again.unwrap();
    }
}
