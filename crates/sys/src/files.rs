//! Files written whole or not at all, and secrets read only where they are secret.
//!
//! A new file begins under a name of its own beside the one it is meant for, made by `O_CREAT |
//! O_EXCL`: whatever another user has put there, a file or a symbolic link, is neither followed nor
//! reused (open(2)). It takes its name once it is on the disk, and the folder is written back after
//! that: a loss of power leaves the old file or the new one.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Read, Write},
    os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

/// Who may read a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Its owner: mode 0600 under any umask.
    Owner,
    /// Whom the umask lets: what a user hands on.
    ByUmask,
}

/// What becomes of a file that has the name already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It is replaced, in one step. A symbolic link is replaced, not followed.
    Replace,
    /// It stays, and writing fails with [`io::ErrorKind::AlreadyExists`].
    Keep,
}

/// Writes `bytes` to `file`, whole or not at all.
///
/// # Errors
/// As [`write_by`].
pub fn write(file: &Path, readers: Readers, existing: Existing, bytes: &[u8]) -> io::Result<()> {
    write_by(file, readers, existing, |out| out.write_all(bytes))
}

/// As [`write()`], by whoever writes it piece by piece.
///
/// # Errors
/// What `write` returns; the folder is not there or not writable, the disk is full, or the file
/// exists and is to stay. Nothing is left behind then.
pub fn write_by(
    file: &Path,
    readers: Readers,
    existing: Existing,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let (partial, out) = Partial::new(folder, readers)?;
    let mut out = BufWriter::with_capacity(64 << 10, out);
    write(&mut out)?;
    out.into_inner()
        .map_err(io::IntoInnerError::into_error)?
        .sync_all()?;
    match existing {
        Existing::Replace => fs::rename(&partial.0, file)?,
        // Unlike a rename, a link never replaces.
        Existing::Keep => fs::hard_link(&partial.0, file)?,
    }
    drop(partial);
    sync_folder(folder)
}

/// A file under its first name, which goes when this is dropped.
struct Partial(PathBuf);

impl Partial {
    fn new(folder: &Path, readers: Readers) -> io::Result<(Self, File)> {
        /// Names that may be taken by what a killed process left, or by somebody who means harm.
        const TRIES: u32 = 100;
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let mode = match readers {
            Readers::Owner => 0o600,
            Readers::ByUmask => 0o666,
        };
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(mode);
        let mut tries = 0;
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!(".pathtwin-{}-{number}.partial", std::process::id());
            let path = folder.join(name);
            tries += 1;
            match options.open(&path) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && tries < TRIES => {}
                Err(e) => return Err(e),
                Ok(file) => return Ok((Self(path), file)),
            }
        }
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After a rename it is gone already.
        let _ = fs::remove_file(&self.0);
    }
}

/// Writes back a folder, so that a new name in it survives a loss of power. File systems that
/// cannot do that for folders say EINVAL.
fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        Err(e) if e.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}

/// Makes a folder, and those above it that are missing, for their owner alone (mode 0700). What is
/// there stays as it is.
///
/// # Errors
/// It cannot be made, or is no folder.
pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

/// Takes from other users what they may do with a file or folder of this user's; `false` if nothing
/// had to be done, or it is not this user's.
///
/// # Errors
/// It is not there, or its mode cannot be changed.
pub fn make_private(path: &Path) -> io::Result<bool> {
    // The link itself would be the wrong thing to judge, and nobody else can put one into a folder
    // of this user's.
    let open = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)?;
    let meta = open.metadata()?;
    let mode = meta.mode() & 0o7777;
    if mode & 0o077 == 0 || meta.uid() != rustix::process::geteuid().as_raw() {
        return Ok(false);
    }
    open.set_permissions(fs::Permissions::from_mode(mode & !0o077))?;
    Ok(true)
}

/// Whether a path leads to something that takes what is written to it, and cannot be replaced by a
/// file: a device, a pipe, a socket, or a descriptor under /dev or /proc.
pub fn is_stream(file: &Path) -> bool {
    let kind = fs::metadata(file).map(|m| m.file_type());
    file.starts_with("/dev")
        || file.starts_with("/proc")
        || kind.is_ok_and(|k| {
            k.is_fifo() || k.is_char_device() || k.is_block_device() || k.is_socket()
        })
}

/// Why a secret was not read.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// It cannot be read.
    #[error("read {0}: {1}")]
    Read(PathBuf, io::Error),
    /// Others can read or change it, so that it may be no secret any more.
    #[error(
        "{0} is open to other users (mode {1:03o}): make it yours alone with `chmod 600 {0}`, and make a new one if others \
         may have read it"
    )]
    Open(PathBuf, u32),
    /// It is longer than any secret.
    #[error("{0} is longer than {1} bytes: not a secret of ours")]
    TooLong(PathBuf, u64),
}

/// Reads a secret of at most `longest` bytes from a file that other users can neither read nor
/// change. The group `root` does not count as others: credentials of systemd are readable for it.
///
/// # Errors
/// The file cannot be read, is open to others, or is longer.
pub fn read_secret(file: &Path, longest: u64) -> Result<Vec<u8>, SecretError> {
    let cannot = |e| SecretError::Read(file.to_owned(), e);
    let open = File::open(file).map_err(cannot)?;
    // Of the open file: nobody can put another one in its place in between.
    let meta = open.metadata().map_err(cannot)?;
    let others = if meta.gid() == 0 { 0o007 } else { 0o077 };
    if meta.is_file() && meta.mode() & others != 0 {
        return Err(SecretError::Open(file.to_owned(), meta.mode() & 0o7777));
    }
    match read_to(open, longest).map_err(cannot)? {
        Some(bytes) => Ok(bytes),
        None => Err(SecretError::TooLong(file.to_owned(), longest)),
    }
}

/// Reads a file that a program of less trust has written: an ordinary file of at most `longest`
/// bytes, never the target of a link, never a pipe that nobody writes to.
///
/// # Errors
/// It cannot be read, is no ordinary file, or is longer.
pub fn read_untrusted(file: &Path, longest: u64) -> io::Result<Vec<u8>> {
    let open = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(file)?;
    if !open.metadata()?.is_file() {
        return Err(io::Error::other("not an ordinary file"));
    }
    let too_long = || io::Error::other(format!("longer than {longest} bytes"));
    read_to(open, longest)?.ok_or_else(too_long)
}

fn read_to(file: File, longest: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.take(longest.saturating_add(1))
        .read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= longest).then_some(bytes))
}

#[cfg(test)]
mod tests;
