//! Cache of results by content: a job that ran before in the same kernel by the same guest program
//! is not run again.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use sys::files::{Existing, Readers};

use crate::{
    LabError,
    entry::{self, Damage},
    guest,
    job::{Artifacts, Job},
};

/// Size above which the oldest results are evicted, bytes.
const MOST: u64 = 2 << 30;

/// Version of the keys and of the files under them. Results of other versions are never found, and
/// are evicted when they are the oldest.
const SCHEMA: &[u8] = b"pathtwin result 2";

/// A folder of results.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    /// What every key depends on besides the job.
    base: blake3::Hasher,
    most: u64,
}

/// Result of a look-up.
#[derive(Debug)]
pub(crate) enum Lookup {
    /// The files of a guest.
    Hit(Artifacts),
    /// No result.
    Miss,
    /// A damaged result, which has been evicted.
    Damaged(Damaged),
}

/// A cached result that was damaged, and has been removed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the cached result {} was discarded: {why}", file.display())]
pub struct Damaged {
    /// Where it was.
    pub file: PathBuf,
    /// What is wrong with it.
    pub why: Damage,
}

impl Cache {
    /// The cache below `folder` for one kernel image and one guest program.
    ///
    /// # Errors
    /// The guest program cannot be read.
    pub(crate) fn new(folder: PathBuf, kernel_hash: &str, guest: &Path) -> Result<Self, LabError> {
        let mut base = blake3::Hasher::new();
        base.update(SCHEMA);
        add(&mut base, kernel_hash.as_bytes());
        let program = fs::read(guest).map_err(LabError::file("read", guest))?;
        base.update(blake3::hash(&program).as_bytes());
        Ok(Self {
            folder,
            base,
            most: MOST,
        })
    }

    /// The key of a job: over the kernel image and its command line, the guest program, the seed
    /// and the job.
    ///
    /// # Errors
    /// The job cannot be written as JSON.
    pub(crate) fn key(&self, job: &impl Job) -> Result<blake3::Hash, LabError> {
        let mut key = self.base.clone();
        for argument in guest::arguments(job.memory_mb()) {
            add(&mut key, argument.as_bytes());
        }
        key.update(&job.seed().0.to_le_bytes());
        // The fields of a job are written as they are declared, maps in key order: one job has
        // one text.
        let text = serde_json::to_vec(&job.guest_job()).map_err(LabError::GuestJob)?;
        add(&mut key, &text);
        Ok(key.finalize())
    }

    fn file(&self, key: &blake3::Hash) -> PathBuf {
        let hex = key.to_hex();
        self.folder.join(&hex[..2]).join(&hex[2..])
    }

    /// Looks a key up.
    pub(crate) fn get(&self, key: &blake3::Hash) -> Lookup {
        let read = match fs::read(self.file(key)) {
            Ok(text) => entry::decode(key, &text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Lookup::Miss,
            Err(error) => Err(Damage::Io(error.kind())),
        };
        match read {
            Ok(artifacts) => Lookup::Hit(artifacts),
            Err(why) => Lookup::Damaged(self.drop_damaged(key, why)),
        }
    }

    /// Evicts the result under a key.
    pub(crate) fn drop_damaged(&self, key: &blake3::Hash, why: Damage) -> Damaged {
        let file = self.file(key);
        remove(&file);
        Damaged { file, why }
    }

    /// Stores the files of a guest, as [`entry::encode`] writes them. Two processes that store the
    /// same result at once write the same bytes.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn put(&self, key: &blake3::Hash, text: &[u8]) -> Result<(), LabError> {
        if text.len() as u64 > self.most {
            return Ok(());
        }
        let file = self.file(key);
        let folder = file.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder).map_err(LabError::file("create", folder))?;
        sys::files::write(&file, Readers::Owner, Existing::Replace, text)
            .map_err(LabError::file("write", &file))
    }

    /// Evicts the oldest results above the size limit; files of killed writers are among them.
    pub(crate) fn trim(&self) {
        let mut all: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for shelf in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            for entry in fs::read_dir(shelf.path()).into_iter().flatten().flatten() {
                let Ok(metadata) = entry.metadata() else {
                    continue;
                };
                let changed = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                let size = match metadata.is_dir() {
                    true => folder_size(&entry.path()),
                    false => metadata.len(),
                };
                all.push((changed, size, entry.path()));
            }
        }
        all.sort_by_key(|(changed, ..)| std::cmp::Reverse(*changed));
        let mut sum = 0;
        for (_, size, path) in all {
            sum += size;
            if sum > self.most {
                remove(&path);
            }
        }
    }
}

/// Adds a part with its length before it, so that no part can pass for the end of another.
fn add(key: &mut blake3::Hasher, part: &[u8]) {
    key.update(&(part.len() as u64).to_le_bytes()).update(part);
}

/// The first version kept a folder for each result.
fn folder_size(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files
        .filter_map(|f| f.metadata().ok())
        .map(|m| m.len())
        .sum()
}

fn remove(path: &Path) {
    if fs::remove_file(path).is_err() {
        let _ = fs::remove_dir_all(path);
    }
}

/// The folder of the cache.
///
/// # Errors
/// The environment names none.
pub(crate) fn folder() -> Result<PathBuf, LabError> {
    let given = |name| {
        std::env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    given("PATHTWIN_CACHE")
        .or_else(|| Some(given("XDG_CACHE_HOME")?.join("pathtwin")))
        .or_else(|| Some(given("HOME")?.join(".cache/pathtwin")))
        .map(|root| root.join("cells"))
        .ok_or(LabError::NoCache)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::{collections::BTreeMap, time::Duration};

    use super::*;
    use crate::guest::Cost;

    fn cache(folder: &Path) -> Cache {
        let guest = folder.join("guest");
        fs::write(&guest, "a program").unwrap();
        Cache::new(folder.join("cells"), "a kernel", &guest).unwrap()
    }

    fn put(cache: &Cache, key: &blake3::Hash, bytes: &[u8]) {
        let files = BTreeMap::from([("output.json".to_owned(), bytes.to_vec())]);
        let artifacts = Artifacts::new(files, Cost::default());
        cache.put(key, &entry::encode(key, &artifacts)).unwrap();
    }

    fn key(text: &str) -> blake3::Hash {
        blake3::hash(text.as_bytes())
    }

    #[test]
    fn a_stored_result_is_found_and_a_truncated_one_is_evicted_and_reported() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path());
        let key = key("a job");
        assert!(matches!(cache.get(&key), Lookup::Miss));
        put(&cache, &key, b"0123456789");
        assert!(matches!(cache.get(&key), Lookup::Hit(l) if l.cached));

        let file = cache.file(&key);
        let text = fs::read(&file).unwrap();
        fs::write(&file, &text[..text.len() - 1]).unwrap();
        let Lookup::Damaged(damaged) = cache.get(&key) else {
            panic!("a truncated result was used");
        };
        assert_eq!((&damaged.file, damaged.why), (&file, Damage::Checksum));
        assert!(!file.exists());
        assert!(matches!(cache.get(&key), Lookup::Miss));
    }

    #[test]
    fn a_result_under_another_key_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path());
        let (one, two) = (key("one"), key("two"));
        put(&cache, &one, b"1");
        fs::create_dir_all(cache.file(&two).parent().unwrap()).unwrap();
        fs::rename(cache.file(&one), cache.file(&two)).unwrap();
        assert!(matches!(
            cache.get(&two),
            Lookup::Damaged(Damaged {
                why: Damage::Foreign,
                ..
            })
        ));
    }

    #[test]
    fn the_oldest_results_go_first() {
        let folder = tempfile::tempdir().unwrap();
        let mut cache = cache(folder.path());
        let keys: Vec<_> = ["a", "b", "c"].map(key).to_vec();
        let now = SystemTime::now();
        for (age, key) in keys.iter().enumerate() {
            put(&cache, key, &[0; 1000]);
            let time = now - Duration::from_secs(age as u64 * 100);
            let file = fs::File::options()
                .append(true)
                .open(cache.file(key))
                .unwrap();
            file.set_modified(time).unwrap();
        }
        // Of the first version: a folder, older than all.
        let old = cache.folder.join("00/0123");
        fs::create_dir_all(&old).unwrap();
        fs::write(old.join("records.bin"), [0; 10]).unwrap();
        let file = fs::File::open(&old).unwrap();
        file.set_modified(now - Duration::from_secs(900)).unwrap();
        cache.most = 2500;
        cache.trim();
        let there: Vec<bool> = keys.iter().map(|key| cache.file(key).exists()).collect();
        assert_eq!(there, [true, true, false]);
        assert!(!old.exists());
    }
}
