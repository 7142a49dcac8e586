//! Kernel parameters under /proc/sys, by dotted name.
//!
//! Parameters under `net.` belong to the network namespace of the task that opens them:
//! /proc/sys/net looks it up at every path walk from `current` (fs/proc/proc_sysctl.c:
//! `net_ctl_root`, `current->nsproxy`, Linux 7.2), so inside [`crate::Netns::run`] they are the
//! namespace's, on any thread.

use std::fs;
use std::io;
use std::path::PathBuf;

use model::{text, text::Text};
use rustix::fs::{CWD, Mode, OFlags, openat};

/// A parameter that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub enum SysctlError {
    /// Reading failed.
    Read {
        /// Dotted name.
        key: String,
        /// The I/O error.
        #[source]
        error: io::Error,
    },
    /// Writing failed.
    Write {
        /// Dotted name.
        key: String,
        /// The value refused.
        value: String,
        /// The I/O error.
        #[source]
        error: io::Error,
    },
}

impl SysctlError {
    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::Read { key, error } => {
                text!(
                    "cannot read sysctl {key}: {error}",
                    key = key,
                    error = error
                )
            }
            Self::Write { key, value, error } => text!(
                "cannot set sysctl {key} to \"{value}\": {error}",
                key = key,
                value = value,
                error = error
            ),
        }
    }

    /// The cause.
    pub fn io(&self) -> &io::Error {
        match self {
            SysctlError::Read { error, .. } | SysctlError::Write { error, .. } => error,
        }
    }
}

/// Reads a parameter such as `net.ipv4.tcp_rmem`; several values are separated by tabs, as in the
/// kernel. A name may use slashes, so that a link named `eth0.1` can be written
/// `net/ipv4/conf/eth0.1/mtu`.
///
/// # Errors
/// It does not exist, or may not be read.
pub fn read(key: &str) -> Result<String, SysctlError> {
    let text = path(key).and_then(fs::read_to_string);
    text.map(|t| t.trim_end().to_owned())
        .map_err(|error| SysctlError::Read {
            key: key.to_owned(),
            error,
        })
}

/// Writes a parameter.
///
/// # Errors
/// It does not exist, may not be written, or the kernel rejects the value.
pub fn write(key: &str, value: &str) -> Result<(), SysctlError> {
    // A parameter that does not exist must not be created where /proc/sys is an ordinary folder.
    // By openat(), one system call: musl's open() makes two.
    let opened = path(key).and_then(|path| {
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        Ok(fs::File::from(openat(CWD, path, flags, Mode::empty())?))
    });
    opened
        .and_then(|mut file| io::Write::write_all(&mut file, value.as_bytes()))
        .map_err(|error| SysctlError::Write {
            key: key.to_owned(),
            value: value.to_owned(),
            error,
        })
}

/// Returns true if a parameter exists.
pub fn exists(key: &str) -> bool {
    path(key).is_ok_and(|p| p.exists())
}

/// A name with a slash is already a path; otherwise dots are separators.
fn path(key: &str) -> io::Result<PathBuf> {
    let relative = if key.contains('/') {
        key.to_owned()
    } else {
        key.replace('.', "/")
    };
    let plain = relative
        .split('/')
        .all(|part| !part.is_empty() && part != "." && part != "..");
    if plain && !relative.contains('\0') {
        Ok(PathBuf::from("/proc/sys").join(relative))
    } else {
        Err(io::Error::from(io::ErrorKind::InvalidInput))
    }
}

#[cfg(test)]
mod tests;
