//! The access key: its file, and its sources.

use std::{
    ffi::OsString,
    io::{self, Read},
    path::{Path, PathBuf},
};

use model::{text, text::Text};
use sys::files::{self, Existing, Readers, SecretError};
use traffic::wire::{Key, key};

/// Environment variable with a key.
pub const VARIABLE: &str = "PATHTWIN_KEY";

/// Maximum size of a key file, bytes: a key has 69, possibly with surrounding whitespace.
const LARGEST: u64 = 4096;

/// Error reading or creating a key.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub enum KeyError {
    /// A client was given none.
    Missing,
    /// A server has no place for its key.
    NoHome,
    /// A text is neither a key nor a file.
    Text(key::KeyError),
    /// The file holds no key.
    NotKey {
        /// The file, or standard input.
        from: String,
        /// Its fault.
        error: key::KeyError,
    },
    /// The file cannot be read, or others can read it.
    Secret(#[from] SecretError),
    /// Standard input cannot be read.
    Input(#[source] io::Error),
    /// The kernel returned no random bytes.
    Generate(#[source] io::Error),
    /// A new key cannot be stored.
    Write {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

impl KeyError {
    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::Missing => text!(
                "no key: copy the key file of the far end to ~/.config/pathtwin/key (mode 600), \
                 or name it with --key FILE; --key - reads it from standard input, {variable} \
                 gives it in the environment; --open is for a server in open mode",
                variable = VARIABLE
            ),
            Self::NoHome => text!("no home folder for the key: name a file with --key FILE"),
            Self::Text(error) => text!(
                "{error}; and there is no file of this name",
                error = error.text()
            ),
            Self::NotKey { from, error } => {
                text!("{from}: {error}", from = from, error = error.text())
            }
            Self::Secret(error) => error.text(),
            Self::Input(error) => text!(
                "cannot read the key from standard input: {error}",
                error = error
            ),
            Self::Generate(error) => text!("cannot generate a key: {error}", error = error),
            Self::Write { path, source } => text!(
                "cannot write the key to {file}: {error}",
                file = path,
                error = source
            ),
        }
    }

    /// Returns true if the arguments are wrong, not this host.
    pub fn is_wrong_use(&self) -> bool {
        !matches!(
            self,
            Self::Input(_) | Self::Generate(_) | Self::Write { .. }
        )
    }
}

/// The user's key file, by the XDG base directories; `None` if there is no home.
pub fn default_file() -> Option<PathBuf> {
    file_of_user(
        std::env::var_os("XDG_CONFIG_HOME"),
        std::env::var_os("HOME"),
    )
}

fn file_of_user(xdg_config_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let folder = sys::folders::of_user(xdg_config_home, home, ".config")?;
    Some(folder.join("pathtwin").join("key"))
}

/// A client's key, and whether it can be seen by other users, on the command line.
#[derive(Debug)]
pub struct ClientKey {
    /// The key.
    pub key: Key,
    /// True if the key itself was an argument, which `ps` shows to every user of this host.
    pub on_command_line: bool,
}

/// The key of a client: `given` on the command line as a file, as `-` for `input`, or directly;
/// else from the environment, else from the user's file.
///
/// # Errors
/// There is no key, or it cannot be read.
pub fn of_client(given: Option<&str>, input: impl Read) -> Result<ClientKey, KeyError> {
    let variable = std::env::var(VARIABLE).ok();
    let file = || default_file().filter(|file| file.exists());
    let hidden = |key| ClientKey {
        key,
        on_command_line: false,
    };
    match (given, variable.as_deref()) {
        (Some("-"), _) => from_input(input).map(hidden),
        (Some(text), _) => from_text(text),
        (None, Some(text)) => from_text(text).map(|found| hidden(found.key)),
        (None, None) => from_file(&file().ok_or(KeyError::Missing)?).map(hidden),
    }
}

/// The folder of the keys of hosts that were measured.
fn known_folder() -> Option<PathBuf> {
    Some(default_file()?.with_file_name("keys"))
}

/// The name of a host's file: characters that could be part of a path are written as `%` and their
/// code.
fn file_name(host: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let mut name = String::new();
    for (at, c) in host.to_ascii_lowercase().chars().enumerate() {
        match plain(c) || (at > 0 && matches!(c, '.' | ':')) {
            true => name.push(c),
            false => name.push_str(&format!("%{:x}", u32::from(c))),
        }
    }
    name
}

/// The stored key of a host that was measured before.
///
/// # Errors
/// Its file cannot be read, can be read by others, or is not a key.
pub fn known(host: &str) -> Result<Option<Key>, KeyError> {
    let file = known_folder().map(|folder| folder.join(file_name(host)));
    let there = file.filter(|file| file.exists());
    there.map(|file| from_file(&file)).transpose()
}

/// Stores the key of a host, readable by its owner only. False: it was already stored.
///
/// # Errors
/// There is no home folder, or the file cannot be written.
pub fn remember(host: &str, key: &Key) -> Result<bool, KeyError> {
    let folder = known_folder().ok_or(KeyError::NoHome)?;
    let file = folder.join(file_name(host));
    if from_file(&file).is_ok_and(|known| known == *key) {
        return Ok(false);
    }
    let text = format!("{key}\n");
    files::make_private_folder(&folder)
        .and_then(|()| files::write(&file, Readers::Owner, Existing::Replace, text.as_bytes()))
        .map_err(|source| KeyError::Write { path: file, source })?;
    Ok(true)
}

/// A key as text, or the file that holds one.
fn from_text(text: &str) -> Result<ClientKey, KeyError> {
    let (key, on_command_line) = match text.parse() {
        Ok(key) => (key, true),
        Err(_) if Path::new(text).exists() => (from_file(Path::new(text))?, false),
        Err(error) => return Err(KeyError::Text(error)),
    };
    Ok(ClientKey {
        key,
        on_command_line,
    })
}

fn from_file(file: &Path) -> Result<Key, KeyError> {
    let bytes = files::read_secret(file, LARGEST)?;
    parse(&bytes, &file.display().to_string())
}

fn from_input(input: impl Read) -> Result<Key, KeyError> {
    let mut bytes = Vec::new();
    let read = input.take(LARGEST).read_to_end(&mut bytes);
    read.map_err(KeyError::Input)?;
    parse(&bytes, "standard input")
}

fn parse(bytes: &[u8], from: &str) -> Result<Key, KeyError> {
    let key = String::from_utf8_lossy(bytes).parse();
    key.map_err(|error| KeyError::NotKey {
        from: from.to_owned(),
        error,
    })
}

/// The key of a server, from a file or the user's own, and the file if it was generated just now.
///
/// # Errors
/// The file cannot be read or written, or is not a key.
pub fn of_server(file: Option<&Path>) -> Result<(Key, Option<PathBuf>), KeyError> {
    let file = match file {
        Some(file) => file.to_owned(),
        None => default_file().ok_or(KeyError::NoHome)?,
    };
    // One in a folder that this user may not enter is not made anew: reading it says why.
    if !matches!(file.try_exists(), Ok(false)) {
        return Ok((from_file(&file)?, None));
    }
    let key = Key::generate().map_err(KeyError::Generate)?;
    match write_new(&file, &key) {
        Ok(()) => Ok((key, Some(file))),
        // Another server was faster.
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok((from_file(&file)?, None)),
        Err(source) => Err(KeyError::Write { path: file, source }),
    }
}

/// Writes a file that no other user may read, completely or not at all.
fn write_new(file: &Path, key: &Key) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        files::make_private_folder(folder)?;
    }
    let text = format!("{key}\n");
    files::write(file, Readers::Owner, Existing::Keep, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_keeps_the_key_that_its_client_then_reads() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/key");
        let (key, made) = of_server(Some(&file)).unwrap();
        assert_eq!(made.as_ref(), Some(&file));
        assert_eq!(of_server(Some(&file)).unwrap(), (key.clone(), None));
        let client = of_client(file.to_str(), io::empty()).unwrap();
        assert!(client.key == key && !client.on_command_line);
    }

    /// Bug: with an empty XDG_CONFIG_HOME, keys were written to `pathtwin/keys` in the current
    /// folder.
    #[test]
    fn an_empty_or_relative_folder_is_as_if_it_were_not_set() {
        let of = |config: Option<&str>, home: Option<&str>| {
            file_of_user(config.map(OsString::from), home.map(OsString::from))
        };
        let usual = Some(PathBuf::from("/home/u/.config/pathtwin/key"));
        for config in [None, Some(""), Some("config")] {
            assert_eq!(of(config, Some("/home/u")), usual);
            assert_eq!(of(config, Some("")), None);
        }
        let set = of(Some("/etc/u"), Some("/home/u"));
        assert_eq!(set, Some(PathBuf::from("/etc/u/pathtwin/key")));
    }

    #[test]
    fn a_host_names_no_file_outside_of_the_folder() {
        assert_eq!(file_name("Far.example:7000"), "far.example:7000");
        assert_eq!(file_name("[2001:db8::1]:9"), "%5b2001:db8::1%5d:9");
        for host in ["../key", "..", ".", "/etc/passwd", "a/../b", "\u{2f}\0"] {
            let name = file_name(host);
            assert!(!name.contains('/') && !name.contains('\0'), "{name}");
            assert!(!name.starts_with('.') && !name.is_empty(), "{name}");
        }
    }

    #[test]
    fn a_key_on_the_command_line_is_known_to_be_visible() {
        let text = Key::generate().unwrap().to_string();
        assert!(of_client(Some(&text), io::empty()).unwrap().on_command_line);
        let piped = of_client(Some("-"), format!(" {text}\n").as_bytes()).unwrap();
        assert!(!piped.on_command_line);
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_line() {
        let error = of_client(Some("-"), b"hello".as_slice()).unwrap_err();
        assert!(error.to_string().starts_with("standard input: "), "{error}");
        let error = of_client(Some("/no/such/file"), io::empty()).unwrap_err();
        assert!(matches!(error, KeyError::Text(_)) && error.is_wrong_use());
    }
}
