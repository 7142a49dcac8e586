//! Results of an accuracy command, one JSON file each below `--out`, so that a stopped command
//! continues there.

use std::path::{Path, PathBuf};

use anyhow::Context;
use pathtwin::{exit::Failure, format};
use serde::{Serialize, de::DeserializeOwned};
use sys::files::Readers;

/// The folder of the results, if there is one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Results<'a>(Option<&'a Path>);

impl<'a> Results<'a> {
    /// Opens or makes the folder.
    pub(super) fn open(folder: Option<&'a Path>) -> Result<Self, Failure> {
        if let Some(folder) = folder {
            let made = std::fs::create_dir_all(folder);
            made.with_context(|| format!("make {}", folder.display()))?;
        }
        Ok(Self(folder))
    }

    /// The stored result of this name.
    pub(super) fn get<T: DeserializeOwned>(self, name: &str) -> Result<Option<T>, Failure> {
        let file = self.0.map(|folder| file(folder, name));
        let Some(file) = file.filter(|file| file.exists()) else {
            return Ok(None);
        };
        let bytes = std::fs::read(&file).with_context(|| format!("read {}", file.display()))?;
        let result = serde_json::from_slice(&bytes);
        Ok(Some(result.with_context(|| file.display().to_string())?))
    }

    /// Stores a result.
    pub(super) fn put<T: Serialize>(self, name: &str, result: &T) -> Result<(), Failure> {
        let Some(folder) = self.0 else {
            return Ok(());
        };
        let text = serde_json::to_vec_pretty(result).context("write a result as JSON")?;
        format::file(&file(folder, name), Readers::ByUmask, &text)
    }
}

fn file(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.json"))
}
