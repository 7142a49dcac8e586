//! How many files and sockets this process may have open.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Lets this process have up to `wanted` descriptors, as far as the host's hard limit goes; a
/// higher limit stays. Says how many it may have. The usual soft limit of 1024 is for programs that
/// use `select` (getrlimit(2)).
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

/// How many descriptors this process may have.
pub fn allowed() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}
