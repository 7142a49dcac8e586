//! Token that a browser or a program must show, from a file of its owner.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};
use sys::files::{self, Existing, Readers, SecretError};

/// Longest file of a token, bytes.
const LARGEST: u64 = 4096;
/// Fewest characters: 16 random bytes in hexadecimal.
const SHORTEST: usize = 32;

/// A token, of which only a digest is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct Token([u8; 32]);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Error reading or creating a token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// Its file cannot be read, or others can read it.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// It could be guessed, or does not fit into a header.
    #[error(
        "{}: a token has at least {SHORTEST} letters and digits; delete the file to get a new one",
        .0.display()
    )]
    Weak(PathBuf),
    /// A new one cannot be written.
    #[error("write the token to {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
}

impl Token {
    /// The token of a text.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Reads the token of a file. If the file does not exist, it is created with a new token of
    /// these random bytes, and the second value is true.
    ///
    /// # Errors
    /// The file cannot be read or created, others can read it, or its token is too short.
    pub fn of_file(file: &Path, random: [u8; 32]) -> Result<(Self, bool), TokenError> {
        if !file.exists() {
            let text: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
            let line = format!("{text}\n");
            files::write(file, Readers::Owner, Existing::Keep, line.as_bytes()).map_err(
                |source| TokenError::Write {
                    path: file.to_owned(),
                    source,
                },
            )?;
            return Ok((Self::of(&text), true));
        }
        let bytes = files::read_secret(file, LARGEST)?;
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim();
        if text.len() < SHORTEST || !text.bytes().all(|c| c.is_ascii_alphanumeric()) {
            return Err(TokenError::Weak(file.to_owned()));
        }
        Ok((Self::of(text), false))
    }

    /// Returns true if a text is the token. Digests are compared, so that timing reveals nothing
    /// about it.
    pub fn is(&self, text: &str) -> bool {
        *self == Self::of(text)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_new_token_is_private_and_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let (made, new) = Token::of_file(&file, [7; 32]).unwrap();
        let (read, again) = Token::of_file(&file, [8; 32]).unwrap();
        assert!(new && !again && made == read && made.is(&"07".repeat(32)));
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{mode:o}");
        assert!(!made.is("") && !made.is(&"08".repeat(32)));
    }

    #[test]
    fn a_token_that_could_be_guessed_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        std::fs::write(&file, "secret").unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        let refused = Token::of_file(&file, [7; 32]);
        assert!(matches!(refused, Err(TokenError::Weak(_))), "{refused:?}");
    }
}
