//! Cache of results by content: a job that ran before in the same kernel by the same guest program
//! is not run again.
//!
//! Results are searched in this order: the user's own [`folder`], the read-only folder of a team, a
//! [`remote`] cache over HTTP. Results from the latter two are copied to the user's own folder, and
//! new results are stored in that folder and in the remote cache. The checksum and key of every
//! result are checked, and a result that fails is not used.

pub mod action;
mod config;
pub(crate) mod entry;
mod folder;
mod http;
mod note;
mod remote;

use std::{fs, path::Path};

use crate::{
    LabError, guest,
    job::{Artifacts, Job},
};
pub(crate) use config::Tiers;
pub use entry::Damage;
use folder::Folder;
pub use note::CacheNote;
use remote::Remote;

/// Version of the keys and of the files under them. Results of other versions are never found, and
/// are evicted when they are the oldest.
const SCHEMA: &[u8] = b"pathtwin result 2";

/// The results that this user can reach.
#[derive(Debug)]
pub(crate) struct Cache {
    /// Part of every key besides the job and the kernel.
    guest: blake3::Hash,
    own: Folder,
    team: Option<Folder>,
    remote: Option<Remote>,
}

/// Result of a look-up.
#[derive(Debug)]
pub(crate) struct Found<T> {
    /// The result; absent = not in the cache.
    pub(crate) result: Option<T>,
    /// Messages of the search.
    pub(crate) notes: Vec<CacheNote>,
}

impl Cache {
    /// The cache for one guest program.
    ///
    /// # Errors
    /// The guest program cannot be read.
    pub(crate) fn new(tiers: Tiers, guest: &Path) -> Result<Self, LabError> {
        let program = fs::read(guest).map_err(LabError::file("read", guest))?;
        let push = tiers.upload;
        Ok(Self {
            guest: blake3::hash(&program),
            own: Folder::own(tiers.own, tiers.most),
            team: tiers.team.map(Folder::read_only),
            remote: tiers.url.map(|url| Remote::new(url, push)),
        })
    }

    /// The key of a job: over the kernel image and its command line, the guest program, the seed
    /// and the job.
    ///
    /// # Errors
    /// The job cannot be written as JSON.
    pub(crate) fn key(&self, job: &impl Job, kernel: &str) -> Result<blake3::Hash, LabError> {
        let mut key = blake3::Hasher::new();
        key.update(SCHEMA);
        add(&mut key, kernel.as_bytes());
        key.update(self.guest.as_bytes());
        for argument in guest::arguments(job.memory_mb(), job.is_mostly_idle()) {
            add(&mut key, argument.as_bytes());
        }
        key.update(&job.seed().0.to_le_bytes());
        // The fields of a job are written as they are declared, maps in key order: one job has
        // one text.
        let text = serde_json::to_vec(&job.guest_job()).map_err(LabError::GuestJob)?;
        add(&mut key, &text);
        Ok(key.finalize())
    }

    /// Looks up a key, nearest location first. `accept` converts files to a result; files that it
    /// rejects count as damaged.
    pub(crate) fn find<T>(
        &self,
        key: &blake3::Hash,
        accept: impl Fn(Artifacts) -> Option<T>,
    ) -> Found<T> {
        let mut notes = Vec::new();
        let check = |text: &[u8]| {
            let artifacts = entry::decode(key, text)?;
            accept(artifacts).ok_or(Damage::Contents)
        };
        for folder in std::iter::once(&self.own).chain(&self.team) {
            let checked = match folder.read(key) {
                Ok(None) => continue,
                Ok(Some(text)) => check(&text).map(|result| (text, result)),
                Err(why) => Err(why),
            };
            match checked {
                Ok((text, result)) => {
                    self.keep(key, &text, folder);
                    return found(result, notes);
                }
                Err(why) => notes.push(folder.discard(key, why)),
            }
        }
        if let Some(remote) = &self.remote {
            match remote
                .read(key, &mut notes)
                .map(|text| (check(&text), text))
            {
                Some((Ok(result), text)) => {
                    let _ = self.own.write(key, &text);
                    return found(result, notes);
                }
                Some((Err(why), _)) => notes.push(CacheNote::Damaged {
                    place: remote.place(key),
                    why,
                }),
                None => {}
            }
        }
        Found {
            result: None,
            notes,
        }
    }

    /// Stores the files of a guest, as [`entry::encode`] writes them. Two processes that store the
    /// same result at once write the same bytes. The result is returned even if the disk is full.
    pub(crate) fn put(&self, key: &blake3::Hash, text: &[u8]) -> Vec<CacheNote> {
        let _ = self.own.write(key, text);
        let mut notes = Vec::new();
        if let Some(remote) = &self.remote {
            remote.write(key, text, &mut notes);
        }
        notes
    }

    /// Evicts the least recently used results of the user's own folder, above the size limit.
    pub(crate) fn trim(&self) {
        self.own.trim();
    }

    /// Records the use of a result, and stores it in the user's own folder if it was found
    /// elsewhere.
    fn keep(&self, key: &blake3::Hash, text: &[u8], place: &Folder) {
        match place.is_own() {
            true => place.touch(key),
            false => {
                let _ = self.own.write(key, text);
            }
        }
    }
}

fn found<T>(result: T, notes: Vec<CacheNote>) -> Found<T> {
    Found {
        result: Some(result),
        notes,
    }
}

/// Adds a part with its length before it, so that no part can pass for the end of another.
fn add(key: &mut blake3::Hasher, part: &[u8]) {
    key.update(&(part.len() as u64).to_le_bytes()).update(part);
}

#[cfg(test)]
mod tests;
