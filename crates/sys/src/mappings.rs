//! Numbers of memory mappings of processes, and their limit (`vm.max_map_count`,
//! Documentation/admin-guide/sysctl/vm.rst).

use std::{fs, io};

/// The limit per process on this host.
///
/// # Errors
/// /proc/sys cannot be read.
pub fn limit() -> io::Result<usize> {
    let text = fs::read_to_string("/proc/sys/vm/max_map_count")?;
    text.trim()
        .parse()
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, text))
}

/// The number of mappings of a process if it may be `least` or more; `None` if it is lower, or the
/// process is gone.
///
/// Counting many mappings takes milliseconds. Each has at least one page, so a process with fewer
/// than `least` pages is not counted (proc_pid_statm(5): the first field is its size in pages).
pub fn at_least(pid: u32, least: usize) -> Option<usize> {
    let sizes = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let pages: usize = sizes.split(' ').next()?.parse().ok()?;
    if pages < least {
        return None;
    }
    let maps = fs::read(format!("/proc/{pid}/maps")).ok()?;
    let count = maps.iter().filter(|&&byte| byte == b'\n').count();
    (count >= least).then_some(count)
}

/// The children of a process; empty if the kernel does not report them (CONFIG_PROC_CHILDREN).
pub fn children(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task"));
    let threads = threads.into_iter().flatten().flatten();
    threads
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|line| {
            line.split_whitespace()
                .filter_map(|n| n.parse().ok())
                .collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_mappings_of_this_process_are_counted() {
        let own = std::process::id();
        let most = limit().unwrap();
        let count = at_least(own, 1).unwrap();
        assert!((10..most).contains(&count), "{count}");
        assert_eq!(at_least(own, most), None);
        assert_eq!(at_least(u32::MAX - 1, 1), None);
    }

    #[test]
    fn a_child_is_found() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let found = children(std::process::id());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.contains(&child.id()), "{found:?}");
    }
}
