//! Exclusive locks on files, which the kernel releases when their holder ends.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::Path,
    time::Duration,
};

use rustix::fs::{FlockOperation, flock};

use crate::clock::Instant;

/// Time between two attempts.
const RETRY: Duration = Duration::from_millis(20);

/// A held lock; released on drop, and by the kernel when the process ends in any way (flock(2)).
/// Programs started by the holder do not inherit it.
#[derive(Debug)]
pub struct Lock(#[allow(dead_code)] File);

impl Lock {
    /// Locks a file, which is created with mode 0600 if it does not exist; `None` if another
    /// process still holds it after `limit`.
    ///
    /// # Errors
    /// The file cannot be created or opened.
    pub fn exclusive(file: &Path, limit: Duration) -> io::Result<Option<Lock>> {
        let open = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(file)?;
        let until = Instant::now().after(limit);
        loop {
            match flock(&open, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(Lock(open))),
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            if Instant::now() >= until {
                return Ok(None);
            }
            Instant::now().after(RETRY).wait();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_lock_is_held_by_one_and_free_after_it() {
        let file = std::env::temp_dir().join(format!("pathtwin-lock-{}", std::process::id()));
        let first = Lock::exclusive(&file, Duration::ZERO).unwrap().unwrap();
        let second = Lock::exclusive(&file, Duration::from_millis(30)).unwrap();
        assert!(second.is_none());
        drop(first);
        let third = Lock::exclusive(&file, Duration::ZERO).unwrap();
        assert!(third.is_some());
        std::fs::remove_file(&file).unwrap();
    }
}
