//! Limit of open file descriptors of this process.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit to `wanted` descriptors, up to the hard limit; a higher limit is not
/// changed. Returns the resulting limit. The usual soft limit of 1024 exists for programs that use
/// `select` (getrlimit(2)).
///
/// # Errors
/// The kernel refused.
pub fn allow(wanted: u64) -> io::Result<u64> {
    let limit = getrlimit(Resource::Nofile);
    let now = limit.current.unwrap_or(u64::MAX);
    let most = wanted.min(limit.maximum.unwrap_or(u64::MAX));
    if most <= now {
        return Ok(now);
    }
    let higher = Rlimit {
        current: Some(most),
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, higher)?;
    Ok(most)
}

/// The current soft limit.
pub fn allowed() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}
