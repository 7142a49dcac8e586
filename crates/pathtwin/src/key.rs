//! Where the access key is kept, and how it is given.

use std::{
    fs,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow};
use traffic::wire::Key;

use crate::exit::{Failure, code};

/// Environment variable with a key.
const VARIABLE: &str = "PATHTWIN_KEY";

/// The user's key file; `None` if there is no home.
pub(crate) fn default_file() -> Option<PathBuf> {
    let folder = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")))?;
    Some(folder.join("pathtwin").join("key"))
}

/// The key a client uses: given, from the environment, or from the user's file.
pub(crate) fn of_client(given: Option<&str>) -> Result<Key, Failure> {
    let variable = std::env::var(VARIABLE).ok();
    match given.or(variable.as_deref()) {
        Some(text) => read(text),
        None => {
            let file = default_file().filter(|f| f.exists());
            let file = file.ok_or_else(|| {
                Failure::new(
                    code::USE,
                    anyhow!(
                        "no key: give the one that `pathtwin serve` printed with --key, in {VARIABLE}, \
                         or in ~/.config/pathtwin/key; or --open for a server in open mode"
                    ),
                )
            })?;
            from_file(&file)
        }
    }
}

/// A key as text, or the file that holds one.
fn read(text: &str) -> Result<Key, Failure> {
    match text.parse() {
        Ok(key) => Ok(key),
        Err(_) if Path::new(text).exists() => from_file(Path::new(text)),
        Err(error) => Err(Failure::new(code::USE, error)),
    }
}

fn from_file(file: &Path) -> Result<Key, Failure> {
    let text = fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?;
    text.parse().map_err(|error: traffic::wire::key::KeyError| {
        Failure::new(code::USE, anyhow!("{}: {error}", file.display()))
    })
}

/// The key a server uses, and whether it was made just now.
pub(crate) fn of_server(file: Option<&Path>) -> Result<(Key, Option<PathBuf>), Failure> {
    let file = match file {
        Some(file) => file.to_owned(),
        None => default_file().ok_or_else(|| {
            Failure::new(code::USE, anyhow!("no home folder: name a file with --key"))
        })?,
    };
    if file.exists() {
        return Ok((from_file(&file)?, None));
    }
    let key = Key::generate().context("make a key")?;
    write_new(&file, &key).with_context(|| format!("write {}", file.display()))?;
    Ok((key, Some(file)))
}

/// Writes a file that nobody else may read, whole or not at all.
fn write_new(file: &Path, key: &Key) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let new = file.with_extension("new");
    let mut out = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&new)?;
    writeln!(out, "{key}")?;
    out.sync_all()?;
    fs::rename(new, file)
}
