//! Where the access key is kept, and how it is given.

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow};
use sys::files::{self, Existing, Readers};
use traffic::wire::Key;

use crate::{
    exit::{Failure, code},
    format::say,
};

/// Environment variable with a key.
const VARIABLE: &str = "PATHTWIN_KEY";

/// Longest file that may hold a key, bytes: a key has 69, and there may be room around it.
const LONGEST: u64 = 4096;

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
    match (given, variable.as_deref()) {
        (Some("-"), _) => from_input(),
        (Some(text), _) => read(text, true),
        (None, Some(text)) => read(text, false),
        (None, None) => {
            let file = default_file().filter(|f| f.exists());
            let file = file.ok_or_else(|| {
                Failure::new(
                    code::USE,
                    anyhow!(
                        "no key: bring the key file of the far end to ~/.config/pathtwin/key (mode 600), or name \
                         it with --key FILE; --key - reads it from standard input, {VARIABLE} holds it in the \
                         environment; --open is for a server in open mode"
                    ),
                )
            })?;
            from_file(&file)
        }
    }
}

/// A key as text, or the file that holds one.
fn read(text: &str, on_command_line: bool) -> Result<Key, Failure> {
    match text.parse() {
        Ok(key) => {
            if on_command_line {
                say(format_args!(
                    "a key on the command line is seen by every user of this host (ps): --key FILE and --key - are not"
                ));
            }
            Ok(key)
        }
        Err(_) if Path::new(text).exists() => from_file(Path::new(text)),
        Err(error) => Err(Failure::new(code::USE, error)),
    }
}

fn from_file(file: &Path) -> Result<Key, Failure> {
    let bytes = files::read_secret(file, LONGEST).map_err(|e| Failure::new(code::USE, e))?;
    parse(&bytes, &file.display().to_string())
}

fn from_input() -> Result<Key, Failure> {
    let mut bytes = Vec::new();
    let mut input = io::stdin().lock().take(LONGEST);
    let read = input.read_to_end(&mut bytes);
    read.context("read the key from standard input")?;
    parse(&bytes, "standard input")
}

fn parse(bytes: &[u8], from: &str) -> Result<Key, Failure> {
    let key = String::from_utf8_lossy(bytes).parse();
    key.map_err(|error: traffic::wire::key::KeyError| {
        Failure::new(code::USE, anyhow!("{from}: {error}"))
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
    match write_new(&file, &key) {
        Ok(()) => Ok((key, Some(file))),
        // Another server was faster.
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok((from_file(&file)?, None)),
        Err(e) => Err(anyhow!(e)
            .context(format!("write {}", file.display()))
            .into()),
    }
}

/// Writes a file that nobody else may read, whole or not at all.
fn write_new(file: &Path, key: &Key) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        files::make_private_folder(folder)?;
    }
    let text = format!("{key}\n");
    files::write(file, Readers::Owner, Existing::Keep, text.as_bytes())
}
