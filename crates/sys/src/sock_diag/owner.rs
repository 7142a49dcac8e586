//! Owners of sockets, by the descriptors in /proc.

use std::collections::HashMap;
use std::fs;

/// The owner of a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Process id.
    pub pid: u32,
    /// Its name, at most 15 bytes (`/proc/PID/comm`).
    pub name: String,
}

/// Owners of sockets by inode. Processes whose descriptors cannot be read are left out: without
/// root all except those of the same user. Of several owners the first is used.
pub fn owners() -> HashMap<u32, Owner> {
    let mut pids: Vec<u32> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    pids.sort_unstable();
    let mut found = HashMap::new();
    for pid in pids {
        let inodes = sockets_of(pid);
        if inodes.is_empty() {
            continue;
        }
        // The process may have ended in the meantime.
        let Ok(name) = fs::read_to_string(format!("/proc/{pid}/comm")) else {
            continue;
        };
        for inode in inodes {
            found.entry(inode).or_insert_with(|| Owner {
                pid,
                name: name.trim_end().to_owned(),
            });
        }
    }
    found
}

fn sockets_of(pid: u32) -> Vec<u32> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd"));
    let links = descriptors.into_iter().flatten().flatten();
    links
        .filter_map(|entry| inode_of(fs::read_link(entry.path()).ok()?.to_str()?))
        .collect()
}

/// The inode in `socket:[12345]`.
fn inode_of(link: &str) -> Option<u32> {
    link.strip_prefix("socket:[")?
        .strip_suffix(']')?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sockets_have_an_inode() {
        assert_eq!(inode_of("socket:[4711]"), Some(4711));
        assert_eq!(inode_of("pipe:[4711]"), None);
        assert_eq!(inode_of("/socket:[1]"), None);
        assert_eq!(inode_of("socket:[-1]"), None);
    }
}
