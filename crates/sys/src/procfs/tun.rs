//! Owners of tun devices, and processes of a program.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A process that holds a tun device open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// Process id.
    pub pid: u32,
    /// Name of its program without the folder.
    pub program: String,
    /// True if it is in the calling thread's network namespace; false also if unknown.
    pub same_namespace: bool,
}

/// The processes that have the tun device `link` open, by their descriptors of /dev/net/tun (`iff:`
/// in fdinfo, drivers/net/tun.c: `tun_chr_show_fdinfo`, Linux 7.2); those of the calling thread's
/// network namespace first. Processes of other users are seen by root only.
pub fn tun_holders(link: &str) -> Vec<Holder> {
    let own = namespace("thread-self");
    let mut holders: Vec<Holder> = processes()
        .filter(|pid| holds(*pid, link))
        .map(|pid| Holder {
            pid,
            program: program(pid).unwrap_or_default(),
            same_namespace: own.is_some() && own == namespace(&pid.to_string()),
        })
        .collect();
    holders.sort_by_key(|h| (!h.same_namespace, h.pid));
    holders
}

/// The processes that run a program of this name in the calling thread's network namespace, and,
/// after them, those whose namespace cannot be read. A daemon in another known namespace, such as a
/// container, does not belong to this host.
pub fn with_program(name: &str) -> Vec<u32> {
    let own = namespace("thread-self");
    let mut found: Vec<(bool, u32)> = processes()
        .filter(|pid| program(*pid).as_deref() == Some(name))
        .map(|pid| (namespace(&pid.to_string()), pid))
        .filter(|(theirs, _)| theirs.is_none() || own.is_none() || *theirs == own)
        .map(|(theirs, pid)| (theirs.is_none(), pid))
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, pid)| pid).collect()
}

/// Name of a process's program without the folder; without permission, its first 15 bytes.
pub fn program(pid: u32) -> Option<String> {
    let target = fs::read_link(format!("/proc/{pid}/exe")).ok();
    let name = target.as_deref().and_then(Path::file_name);
    if let Some(name) = name {
        // The kernel marks programs whose file was deleted, for example by an upgrade.
        let name = name.to_string_lossy();
        return Some(name.trim_end_matches(" (deleted)").to_owned());
    }
    let comm = super::read(&format!("/proc/{pid}/comm")).ok()?;
    Some(comm.trim_end().to_owned())
}

/// The visible processes.
pub fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Device and inode of a task's network namespace.
fn namespace(task: &str) -> Option<(u64, u64)> {
    let meta = fs::metadata(format!("/proc/{task}/ns/net")).ok()?;
    Some((meta.dev(), meta.ino()))
}

fn holds(pid: u32, link: &str) -> bool {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten();
    descriptors.flatten().any(|entry| {
        let to = fs::read_link(entry.path()).unwrap_or_default();
        if to != Path::new("/dev/net/tun") && to != Path::new("/dev/tun") {
            return false;
        }
        let fd = entry.file_name();
        let info = super::read(&format!("/proc/{pid}/fdinfo/{}", fd.to_string_lossy()));
        info.is_ok_and(|info| tun_of(&info) == Some(link))
    })
}

/// The name of the device in the fdinfo of a descriptor of /dev/net/tun.
pub(super) fn tun_of(fdinfo: &str) -> Option<&str> {
    let line = fdinfo.lines().find_map(|l| l.strip_prefix("iff:"))?;
    Some(line.trim()).filter(|name| !name.is_empty())
}
