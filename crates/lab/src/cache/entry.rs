//! The file format of a cached result.
//!
//! ```text
//! pathtwin result 2
//! {"key":"…","wall_s":0.8,"cpu_s":0.6,"files":[["output.json",812],["records.bin",40960]]}
//! the bytes of these files, then 32 bytes: BLAKE3 over all before
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{guest::Cost, job::Artifacts};

const HEAD: &[u8] = b"pathtwin result 2\n";

/// The list of the files before their bytes.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    /// The key of the job, in hex.
    key: String,
    wall_s: f64,
    cpu_s: f64,
    /// Name and length of each file, in the order of their bytes.
    files: Vec<(String, u64)>,
}

/// Reason why a cached result is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// It was changed after it was written.
    #[error("its checksum differs")]
    Checksum,
    /// It belongs to another key.
    #[error("it is the result of another job")]
    Foreign,
    /// It has another format.
    #[error("its format is not of this version")]
    Form,
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Io(std::io::ErrorKind),
    /// Its contents are not a result of such a job.
    #[error("its contents are not a result of this job")]
    Contents,
}

/// Encodes the files of a guest for a key.
pub(crate) fn encode(key: &blake3::Hash, artifacts: &Artifacts) -> Vec<u8> {
    let files = artifacts.files().iter();
    let contents = Contents {
        key: key.to_hex().to_string(),
        wall_s: artifacts.cost.wall_s,
        cpu_s: artifacts.cost.cpu_s,
        files: files
            .clone()
            .map(|(name, bytes)| (name.clone(), bytes.len() as u64))
            .collect(),
    };
    let mut text = HEAD.to_vec();
    // Strings and numbers can always be written.
    text.extend(serde_json::to_vec(&contents).unwrap_or_default());
    text.push(b'\n');
    files.for_each(|(_, bytes)| text.extend_from_slice(bytes));
    let checksum = blake3::hash(&text);
    text.extend_from_slice(checksum.as_bytes());
    text
}

/// Decodes the files of a guest for a key, if they are exactly those written.
pub(crate) fn decode(key: &blake3::Hash, text: &[u8]) -> Result<Artifacts, Damage> {
    let (text, checksum) = text
        .split_last_chunk::<{ blake3::OUT_LEN }>()
        .ok_or(Damage::Checksum)?;
    if blake3::hash(text) != *checksum {
        return Err(Damage::Checksum);
    }
    let rest = text.strip_prefix(HEAD).ok_or(Damage::Form)?;
    let end = rest.iter().position(|byte| *byte == b'\n');
    let (line, bytes) = rest.split_at(end.ok_or(Damage::Form)?);
    let contents: Contents = serde_json::from_slice(line).map_err(|_| Damage::Form)?;
    if contents.key != key.to_hex().as_str() {
        return Err(Damage::Foreign);
    }
    let cost = Cost {
        wall_s: contents.wall_s,
        cpu_s: contents.cpu_s,
    };
    let files = files(&contents.files, &bytes[1..]).ok_or(Damage::Form)?;
    Ok(Artifacts {
        cached: true,
        ..Artifacts::new(files, cost)
    })
}

/// Splits the bytes into files; `None` unless they are exactly those.
fn files(names: &[(String, u64)], mut bytes: &[u8]) -> Option<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for (name, length) in names {
        let (file, rest) = bytes.split_at_checked(usize::try_from(*length).ok()?)?;
        files.insert(name.clone(), file.to_vec());
        bytes = rest;
    }
    bytes.is_empty().then_some(files)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn artifacts(files: &[(&str, &[u8])]) -> Artifacts {
        let files = files.iter().map(|(n, b)| ((*n).to_owned(), b.to_vec()));
        let cost = Cost {
            wall_s: 0.1,
            cpu_s: 1.0 / 3.0,
        };
        Artifacts::new(files.collect(), cost)
    }

    fn key(text: &str) -> blake3::Hash {
        blake3::hash(text.as_bytes())
    }

    #[test]
    fn another_jobs_result_is_foreign() {
        let text = encode(&key("a"), &artifacts(&[("output.json", b"{}")]));
        assert_eq!(decode(&key("b"), &text), Err(Damage::Foreign));
    }

    proptest! {
        #[test]
        fn a_written_entry_is_read(one in prop::collection::vec(any::<u8>(), 0..200),
                                   two in prop::collection::vec(any::<u8>(), 0..200)) {
            let artifacts = artifacts(&[("output.json", &one), ("records.bin", &two), ("empty", b"")]);
            let read = decode(&key("a"), &encode(&key("a"), &artifacts)).unwrap();
            prop_assert!(read.cached);
            prop_assert_eq!(Artifacts { cached: false, ..read }, artifacts);
        }

        /// Cut anywhere, or with any bit turned over.
        #[test]
        fn truncated_or_changed_entries_are_damaged(at in 0.0..1.0f64, bit in 0..8u32) {
            let text = encode(&key("a"), &artifacts(&[("output.json", b"{\"schema\": 1}")]));
            let at = (text.len() as f64 * at) as usize;
            prop_assert!(decode(&key("a"), &text[..at]).is_err());
            let mut changed = text;
            changed[at] ^= 1 << bit;
            prop_assert_eq!(decode(&key("a"), &changed), Err(Damage::Checksum));
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let whole = [HEAD, &bytes].concat();
            let checksum = blake3::hash(&whole);
            let _ = decode(&key("a"), &bytes);
            let _ = decode(&key("a"), &[whole.as_slice(), checksum.as_bytes()].concat());
        }
    }
}
