//! Atomic writing of files, and reading of secrets with permission checks.
//!
//! A new file is created with `O_CREAT | O_EXCL` under a temporary name in the same folder, so that
//! files and symbolic links of other users are neither followed nor reused (open(2)). It is renamed
//! after it is synced to disk, and then the folder is synced: a power loss leaves either the old or
//! the new file.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Read, Write},
    os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use model::{
    text,
    text::{Text, Value},
};

/// Permissions of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Its owner: mode 0600 under any umask.
    Owner,
    /// Permissions of the umask: for files that users share.
    ByUmask,
    /// This mode under any umask, from the moment that it has its name.
    Mode(u32),
}

/// Handling of an existing file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It is replaced atomically. A symbolic link is replaced, not followed.
    Replace,
    /// It is not replaced, and writing fails with [`io::ErrorKind::AlreadyExists`].
    Keep,
}

/// Checks whether a file could be written, together with the missing folders above it. What another
/// process changes meanwhile is not known.
///
/// # Errors
/// It is a folder; the lowest folder above it that exists is none, or may not be written.
pub fn check(file: &Path) -> io::Result<()> {
    if is_stream(file) {
        return Ok(());
    }
    if file.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let above = file.ancestors().skip(1).map(|folder| match folder {
        folder if folder.as_os_str().is_empty() => Path::new("."),
        folder => folder,
    });
    let Some(folder) = above.into_iter().find(|folder| folder.exists()) else {
        return Err(io::ErrorKind::NotFound.into());
    };
    if !folder.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    Ok(rustix::fs::access(
        folder,
        rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK,
    )?)
}

/// Writes `bytes` to `file` atomically.
///
/// # Errors
/// As [`write_by`].
pub fn write(file: &Path, readers: Readers, existing: Existing, bytes: &[u8]) -> io::Result<()> {
    write_by(file, readers, existing, |out| out.write_all(bytes))
}

/// Like [`write()`], with a closure that writes the content.
///
/// # Errors
/// The error of `write`; the folder does not exist or is not writable, the disk is full, or the
/// file exists and must not be replaced. No partial file remains.
pub fn write_by(
    file: &Path,
    readers: Readers,
    existing: Existing,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    written(file, readers, existing, write).map(drop)
}

/// Like [`write()`], and returns the file, open at its end. Opened by its name again, it could be
/// one that another process has put there meanwhile.
///
/// # Errors
/// As [`write()`].
pub fn write_open(
    file: &Path,
    readers: Readers,
    existing: Existing,
    bytes: &[u8],
) -> io::Result<File> {
    written(file, readers, existing, |out| out.write_all(bytes))
}

fn written(
    file: &Path,
    readers: Readers,
    existing: Existing,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<File> {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let (partial, out) = Partial::new(folder, readers)?;
    let mut out = BufWriter::with_capacity(64 << 10, out);
    write(&mut out)?;
    let out = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Readers::Mode(mode) = readers {
        out.set_permissions(fs::Permissions::from_mode(mode))?;
    }
    out.sync_all()?;
    match existing {
        Existing::Replace => fs::rename(&partial.0, file)?,
        // Unlike a rename, a link never replaces a file.
        Existing::Keep => fs::hard_link(&partial.0, file)?,
    }
    drop(partial);
    sync_folder(folder)?;
    Ok(out)
}

/// Beginning of the name of a temporary file.
const PARTIAL: &str = ".pathtwin-";

/// Extension of a temporary file.
const EXTENSION: &str = "partial";

/// A temporary file, which is removed on drop.
struct Partial(PathBuf);

impl Partial {
    fn new(folder: &Path, readers: Readers) -> io::Result<(Self, File)> {
        /// Maximum attempts at finding a free temporary name, which may be taken by remains of a
        /// killed process or by an attacker.
        const TRIES: u32 = 100;
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let mode = match readers {
            Readers::Owner | Readers::Mode(_) => 0o600,
            Readers::ByUmask => 0o666,
        };
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(mode);
        let mut tries = 0;
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("{PARTIAL}{}-{number}.{EXTENSION}", std::process::id());
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
        // After a rename it no longer exists.
        let _ = fs::remove_file(&self.0);
    }
}

/// Removes the temporary files that processes which were killed while they wrote left in a folder.
/// No other process may write to the folder meanwhile by [`write()`].
///
/// # Errors
/// The folder cannot be read, or a file not be removed. A missing folder has none.
pub fn remove_partial(folder: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(PARTIAL) && path.extension().is_some_and(|e| e == EXTENSION) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// Creates a folder and its missing parents, which survive a power loss when this returns.
///
/// # Errors
/// One of them cannot be created.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    make(folder, |_| Ok(()))
}

/// The same, for all users of the host to read (mode 755), whatever the umask.
///
/// # Errors
/// As [`make_folder`].
pub fn make_folder_for_all(folder: &Path) -> io::Result<()> {
    make(folder, |made| {
        fs::set_permissions(made, fs::Permissions::from_mode(0o755))
    })
}

fn make(folder: &Path, made: impl Fn(&Path) -> io::Result<()>) -> io::Result<()> {
    let is_missing = |f: &&Path| !f.as_os_str().is_empty() && !f.exists();
    let mut missing: Vec<&Path> = folder.ancestors().take_while(is_missing).collect();
    while let Some(next) = missing.pop() {
        match fs::create_dir(next) {
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && next.is_dir() => {}
            done => done.and_then(|()| made(next))?,
        }
        let above = next.parent().filter(|above| !above.as_os_str().is_empty());
        sync_folder(above.unwrap_or(Path::new(".")))?;
    }
    Ok(())
}

/// Syncs a folder, so that the names in it, new and removed ones, survive a power loss. File
/// systems without support for that return EINVAL.
///
/// # Errors
/// It cannot be opened, or its disk failed.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        Err(e) if e.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}

/// Creates a folder and its missing parents with mode 0700. Existing folders are not changed.
///
/// # Errors
/// It cannot be created, or is not a folder.
pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

/// Removes the permissions of other users on a file or folder owned by this user; `false` if no
/// change was needed, or it has another owner.
///
/// # Errors
/// It does not exist, or its mode cannot be changed.
pub fn make_private(path: &Path) -> io::Result<bool> {
    // Follows links: only this user can create one in a folder of this user.
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

/// Reads a regular file that only this user may write, links followed; `None` if others may, or if
/// it is another user's.
///
/// # Errors
/// It cannot be read, is not UTF-8, or is longer than `longest` bytes.
pub fn read_own(file: &Path, longest: u64) -> io::Result<Option<String>> {
    let open = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(file)?;
    // Of the very file that is read.
    let meta = open.metadata()?;
    let is_users = meta.uid() == rustix::process::geteuid().as_raw();
    if !meta.is_file() || !is_users || meta.mode() & 0o022 != 0 {
        return Ok(None);
    }
    let bytes = read_to(open, longest)?.ok_or(io::ErrorKind::FileTooLarge)?;
    let text = String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData)?;
    Ok(Some(text))
}

/// Returns true if a path is a stream that must be written in place instead of replaced: a device,
/// a pipe, a socket, or a descriptor under /dev or /proc.
pub fn is_stream(file: &Path) -> bool {
    let kind = fs::metadata(file).map(|m| m.file_type());
    file.starts_with("/dev")
        || file.starts_with("/proc")
        || kind.is_ok_and(|k| {
            k.is_fifo() || k.is_char_device() || k.is_block_device() || k.is_socket()
        })
}

/// Error of reading a secret.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub enum SecretError {
    /// It cannot be read.
    Read(PathBuf, io::Error),
    /// Others can read or change it, so it may be compromised.
    Open(PathBuf, u32),
    /// It is too long for a secret.
    TooLong(PathBuf, u64),
}

impl SecretError {
    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::Read(file, error) => {
                text!("read {file}: {error}", file = file, error = error)
            }
            Self::Open(file, mode) => text!(
                "{file} is accessible to other users (mode {mode}): run `chmod 600 {file}`, and \
                 create a new one if others may have read it",
                file = file,
                mode = format!("{mode:03o}")
            ),
            Self::TooLong(file, longest) => text!(
                "{file} is longer than {longest}: not a secret of this program",
                file = file,
                longest = Value::Bytes(*longest as f64)
            ),
        }
    }
}

/// Reads a secret of at most `longest` bytes from a file that other users can neither read nor
/// change. The group `root` does not count as others: credentials of systemd are readable for it.
///
/// # Errors
/// The file cannot be read, is open to others, or is longer.
pub fn read_secret(file: &Path, longest: u64) -> Result<Vec<u8>, SecretError> {
    let cannot = |e| SecretError::Read(file.to_owned(), e);
    let open = File::open(file).map_err(cannot)?;
    // Checked on the open file, so that it cannot be replaced in between.
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

/// Reads a file written by a less trusted program: a regular file of at most `longest` bytes, never
/// the target of a link or a pipe without a writer.
///
/// # Errors
/// It cannot be read, is not a regular file, or is longer.
pub fn read_untrusted(file: &Path, longest: u64) -> io::Result<Vec<u8>> {
    read_untrusted_with(file, longest).map(|(bytes, _)| bytes)
}

/// Like [`read_untrusted`], with the owner and the mode of the very file that was read.
///
/// # Errors
/// As [`read_untrusted`].
pub fn read_untrusted_with(file: &Path, longest: u64) -> io::Result<(Vec<u8>, fs::Metadata)> {
    let open = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(file)?;
    let meta = open.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let too_long = || io::Error::other(format!("longer than {longest} bytes"));
    Ok((read_to(open, longest)?.ok_or_else(too_long)?, meta))
}

fn read_to(file: File, longest: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.take(longest.saturating_add(1))
        .read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= longest).then_some(bytes))
}

#[cfg(test)]
mod tests;
