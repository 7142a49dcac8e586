//! A cache over HTTP, in the protocol of bazel-remote: `/ac/KEY` has an action, which names the
//! blob `/cas/SHA256` with the result.

use std::sync::atomic::{AtomicBool, Ordering};

use sha2::{Digest as _, Sha256};

use super::{
    action::{self, Digest},
    entry::Damage,
    http::Url,
    note::{CacheNote, RemoteError},
};

/// A cache that several hosts share.
#[derive(Debug)]
pub(super) struct Remote {
    url: Url,
    /// True if it does not respond; then it is not used again.
    lost: AtomicBool,
    /// True if it accepts results.
    takes: AtomicBool,
}

impl Remote {
    /// The cache at a URL; `upload` if new results go there.
    pub(super) fn new(url: Url, upload: bool) -> Self {
        Self {
            url,
            lost: AtomicBool::new(false),
            takes: AtomicBool::new(upload),
        }
    }

    /// The address of a key.
    pub(super) fn place(&self, key: &blake3::Hash) -> String {
        format!("{}{}", self.url, action_path(key))
    }

    /// Reads the result of a key and verifies it against the server's checksum.
    pub(super) fn read(&self, key: &blake3::Hash, notes: &mut Vec<CacheNote>) -> Option<Vec<u8>> {
        if self.lost.load(Ordering::Relaxed) {
            return None;
        }
        match self.get(key) {
            Ok(Ok(text)) => text,
            Ok(Err(why)) => {
                let place = self.place(key);
                notes.push(CacheNote::Damaged { place, why });
                None
            }
            Err(error) => {
                self.give_up(error, notes);
                None
            }
        }
    }

    fn get(&self, key: &blake3::Hash) -> Result<Result<Option<Vec<u8>>, Damage>, RemoteError> {
        let Some(text) = self.get_path(&action_path(key))? else {
            return Ok(Ok(None));
        };
        let Some(digest) = action::decode(&text) else {
            return Ok(Err(Damage::Form));
        };
        // Evicted in the meantime: the same as not found.
        let Some(text) = self.get_path(&blob_path(&digest.sha256))? else {
            return Ok(Ok(None));
        };
        match digest == digest_of(&text) {
            true => Ok(Ok(Some(text))),
            false => Ok(Err(Damage::Checksum)),
        }
    }

    fn get_path(&self, path: &str) -> Result<Option<Vec<u8>>, RemoteError> {
        let answer = self.url.get(path)?;
        match answer.status {
            200 => Ok(Some(answer.body)),
            404 => Ok(None),
            status => Err(RemoteError::Status(status)),
        }
    }

    /// Stores the result of a key: first the blob, so that no action names a missing one.
    pub(super) fn write(&self, key: &blake3::Hash, text: &[u8], notes: &mut Vec<CacheNote>) {
        if self.lost.load(Ordering::Relaxed) || !self.takes.load(Ordering::Relaxed) {
            return;
        }
        let digest = digest_of(text);
        let answer = self
            .put(&blob_path(&digest.sha256), text)
            .and_then(|()| self.put(&action_path(key), &action::encode(&digest)));
        if let Err(error) = answer
            && self.takes.swap(false, Ordering::Relaxed)
        {
            notes.push(CacheNote::Upload {
                url: self.url.to_string(),
                why: error,
            });
        }
    }

    fn put(&self, path: &str, body: &[u8]) -> Result<(), RemoteError> {
        match self.url.put(path, body)?.status {
            200..=299 => Ok(()),
            status => Err(RemoteError::Status(status)),
        }
    }

    /// A server that does not respond would cost a timeout per cell.
    fn give_up(&self, why: RemoteError, notes: &mut Vec<CacheNote>) {
        if !self.lost.swap(true, Ordering::Relaxed) {
            notes.push(CacheNote::Remote {
                url: self.url.to_string(),
                why,
            });
        }
    }
}

fn digest_of(text: &[u8]) -> Digest {
    let hash = Sha256::digest(text);
    Digest {
        sha256: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
        size: text.len() as u64,
    }
}

fn action_path(key: &blake3::Hash) -> String {
    format!("/ac/{}", key.to_hex())
}

fn blob_path(sha256: &str) -> String {
    format!("/cas/{sha256}")
}
