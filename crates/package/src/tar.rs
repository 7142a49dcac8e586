//! Archives in the format that dpkg, opkg and apk read (POSIX ustar; POSIX.1-2017, pax, "ustar
//! Interchange Format").

use std::io::Write;

use flate2::{Compression, GzBuilder};

use crate::{
    Epoch, PackageError,
    tree::{Node, Tree},
};

const BLOCK: usize = 512;

/// The archive of a tree. With `dot`, names begin with `./`, and the root is a member, as dpkg and
/// OpenWrt's tools write them.
///
/// # Errors
/// A path is longer than the format allows.
pub fn archive(tree: &Tree, dot: bool, epoch: Epoch) -> Result<Vec<u8>, PackageError> {
    let mut out = Vec::new();
    let lead = if dot { "./" } else { "" };
    if dot {
        out.extend(header("./", 0o755, 0, b'5', "", epoch)?);
    }
    for (path, node) in tree.iter() {
        let name = format!("{lead}{path}");
        match node {
            Node::Folder { mode } => {
                out.extend(header(&format!("{name}/"), *mode, 0, b'5', "", epoch)?);
            }
            Node::Link { target } => out.extend(header(&name, 0o777, 0, b'2', target, epoch)?),
            Node::File { mode, bytes } => {
                out.extend(header(&name, *mode, bytes.len(), b'0', "", epoch)?);
                out.extend(bytes);
                out.resize(out.len().next_multiple_of(BLOCK), 0);
            }
        }
    }
    // Two blocks of zeroes end it.
    out.resize(out.len() + 2 * BLOCK, 0);
    Ok(out)
}

/// An archive of a few files in a given order, with names that begin with `./`.
///
/// # Errors
/// A name is longer than the format allows.
pub fn members(files: &[(&str, Vec<u8>)], epoch: Epoch) -> Result<Vec<u8>, PackageError> {
    let mut out = Vec::new();
    for (name, bytes) in files {
        let name = format!("./{name}");
        out.extend(header(&name, 0o644, bytes.len(), b'0', "", epoch)?);
        out.extend(bytes);
        out.resize(out.len().next_multiple_of(BLOCK), 0);
    }
    out.resize(out.len() + 2 * BLOCK, 0);
    Ok(out)
}

fn header(
    name: &str,
    mode: u32,
    size: usize,
    kind: u8,
    link: &str,
    epoch: Epoch,
) -> Result<[u8; BLOCK], PackageError> {
    let too_long = || PackageError::LongPath(name.to_owned());
    let (prefix, short) = split(name).ok_or_else(too_long)?;
    if link.len() > 100 {
        return Err(PackageError::LongPath(link.to_owned()));
    }
    let mut block = [0; BLOCK];
    let mut put =
        |at: usize, text: &str| block[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, short);
    put(100, &format!("{mode:07o}"));
    // Owner and group: root.
    put(108, "0000000");
    put(116, "0000000");
    put(124, &format!("{size:011o}"));
    put(136, &format!("{:011o}", epoch.0));
    // The checksum counts its own field as spaces.
    put(148, "        ");
    put(156, char::from(kind).encode_utf8(&mut [0; 4]));
    put(157, link);
    put(257, "ustar\x0000");
    put(265, "root");
    put(297, "root");
    put(345, prefix);
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    Ok(block)
}

/// A name in the two fields of the header: at most 155 and 100 bytes around a slash.
fn split(name: &str) -> Option<(&str, &str)> {
    if name.len() <= 100 {
        return Some(("", name));
    }
    let cuts = name.match_indices('/').map(|(at, _)| at);
    let mut cuts = cuts.filter(|at| *at <= 155 && *at + 1 < name.len());
    cuts.find(|at| name.len() - at - 1 <= 100)
        .map(|at| (&name[..at], &name[at + 1..]))
}

/// Bytes as gzip compresses them, without name and time.
///
/// # Errors
/// None in practice: it writes to memory.
pub fn gzip(bytes: &[u8]) -> Result<Vec<u8>, PackageError> {
    let mut encoder = GzBuilder::new().write(Vec::new(), Compression::best());
    let done = encoder.write_all(bytes).and_then(|()| encoder.finish());
    done.map_err(PackageError::file("compress", "memory"))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use proptest::prelude::*;

    use super::*;

    /// Returns the members of an archive as GNU tar lists them: mode, owner, size, time and name.
    fn listed(archive: &[u8]) -> String {
        let mut tar = Command::new("tar")
            .args(["--list", "--verbose", "--utc", "--full-time", "--file", "-"])
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        tar.stdin.take().unwrap().write_all(archive).unwrap();
        let output = tar.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn gnu_tar_reads_the_archive() {
        let mut tree = Tree::default();
        tree.program("usr/bin/a", vec![7; 513]);
        tree.link("usr/bin/b", "a");
        let text = listed(&archive(&tree, true, Epoch(86_400)).unwrap());
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        let time = ["1970-01-02", "00:00:00"];
        let member = |mode, size, name| [&[mode, "root/root", size][..], &time, &[name]].concat();
        assert_eq!(lines[0], member("drwxr-xr-x", "0", "./"));
        assert_eq!(lines[2], member("drwxr-xr-x", "0", "./usr/bin/"));
        assert_eq!(lines[3], member("-rwxr-xr-x", "513", "./usr/bin/a"));
        assert_eq!(lines[4][5..], ["./usr/bin/b", "->", "a"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn a_split_name_is_complete_again(parts in prop::collection::vec("[a-z]{1,60}", 1..6)) {
            let name = parts.join("/");
            match split(&name) {
                Some(("", short)) => prop_assert_eq!(short, &name),
                Some((prefix, short)) => {
                    prop_assert!(prefix.len() <= 155 && short.len() <= 100);
                    prop_assert_eq!(format!("{prefix}/{short}"), name);
                }
                None => prop_assert!(name.len() > 100),
            }
        }
    }
}
