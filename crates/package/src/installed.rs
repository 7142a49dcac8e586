//! Files installed from a checkout, and their removal by the stored list.

use std::{
    fs, io,
    path::{Component, Path},
};

use crate::{
    PackageError,
    tree::{Node, Tree},
};

/// The list, below the prefix.
pub const LIST: &str = "share/pathtwin/installed";

/// Writes a tree below a prefix, with a list of its files.
///
/// # Errors
/// A file cannot be written.
pub fn install(tree: &Tree, prefix: &Path) -> Result<(), PackageError> {
    let mut tree = tree.clone();
    let mut list: String = tree.files().map(|(path, _)| format!("{path}\n")).collect();
    list.push_str(LIST);
    list.push('\n');
    tree.file(LIST, list);
    fs::create_dir_all(prefix).map_err(PackageError::file("make", prefix))?;
    tree.write(prefix)
}

/// Removes the files on the list, and folders that become empty and have a name of this program:
/// others may be shared. Prints the number of removed files.
///
/// # Errors
/// There is no list, it names a path outside of the prefix, or a file cannot be removed.
pub fn uninstall(prefix: &Path) -> Result<usize, PackageError> {
    let list = prefix.join(LIST);
    let text = fs::read_to_string(&list).map_err(PackageError::file("read", &list))?;
    let mut tree = Tree::default();
    for line in text.lines() {
        let below = |part: Component<'_>| matches!(part, Component::Normal(_));
        if line.is_empty() || !Path::new(line).components().all(below) {
            let line = line.to_owned();
            return Err(PackageError::Outside { list, line });
        }
        tree.file(line, Vec::new());
    }
    let mut removed = 0;
    for (path, node) in tree.iter().collect::<Vec<_>>().into_iter().rev() {
        let at = prefix.join(path);
        let ours = path.rsplit('/').next() == Some("pathtwin") || path.contains("/pathtwin/");
        let result = match node {
            Node::Folder { .. } if ours => fs::remove_dir(&at),
            Node::Folder { .. } => continue,
            Node::File { .. } | Node::Link { .. } => fs::remove_file(&at),
        };
        match result {
            Ok(()) if matches!(node, Node::File { .. }) => removed += 1,
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) if e.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            Err(e) => return Err(PackageError::file("remove", at)(e)),
        }
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_installed_files_are_removed() {
        let prefix = tempfile::tempdir().unwrap();
        let other = prefix.path().join("share/pathtwin/mine");
        let mut tree = Tree::default();
        tree.program("bin/pathtwin", *b"x");
        tree.file("share/doc/pathtwin/examples/a", *b"y");
        install(&tree, prefix.path()).unwrap();
        fs::write(&other, "kept").unwrap();
        assert_eq!(uninstall(prefix.path()).unwrap(), 3);
        assert!(other.exists());
        assert!(!prefix.path().join("share/doc/pathtwin").exists());
        assert!(prefix.path().join("bin").exists());
        assert!(!prefix.path().join("bin/pathtwin").exists());
    }

    #[test]
    fn a_list_that_leads_outside_removes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let prefix = folder.path().join("prefix");
        install(&Tree::default(), &prefix).unwrap();
        let outside = folder.path().join("outside");
        fs::write(&outside, "").unwrap();
        for line in ["../outside", "/etc/passwd", "bin/../../outside", ""] {
            let text = format!("{LIST}\n{line}\n");
            fs::write(prefix.join(LIST), text).unwrap();
            let refused = uninstall(&prefix);
            assert!(
                matches!(refused, Err(PackageError::Outside { .. })),
                "{line}"
            );
        }
        assert!(outside.exists() && prefix.join(LIST).exists());
    }
}
