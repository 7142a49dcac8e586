//! Results remembered by content: a cell that was run before with the same kernel and the same
//! guest program is not run again.

use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use model::{
    cell::Cell,
    job::{OUTPUT_FILE, RECORDS_FILE, TRUTH_FILE},
};

use crate::{
    LabError,
    cell::{self, CellResult},
    guest::Cost,
};

/// Size above which the oldest results are forgotten, bytes.
const MOST: u64 = 2 << 30;

const COST_FILE: &str = "cost.txt";

/// A folder of results.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    /// What every key depends on beside the cell.
    base: blake3::Hasher,
}

impl Cache {
    /// The cache below `folder` for one kernel image and one guest program.
    pub fn new(folder: PathBuf, kernel_hash: &str, guest: &Path) -> Result<Self, LabError> {
        let mut base = blake3::Hasher::new();
        base.update(kernel_hash.as_bytes());
        let program = fs::read(guest).map_err(LabError::file("read", guest))?;
        base.update(blake3::hash(&program).as_bytes());
        Ok(Self { folder, base })
    }

    fn place(&self, cell: &Cell) -> PathBuf {
        // The fields of a cell are written in the order they are declared, maps in key order: one
        // cell has one text.
        let text = serde_json::to_vec(cell).unwrap_or_default();
        let key = self.base.clone().update(&text).finalize().to_hex();
        self.folder.join(&key[..2]).join(&key[2..])
    }

    /// The result of a cell, if it is known. A damaged one is forgotten.
    pub fn get(&self, cell: &Cell) -> Option<CellResult> {
        let place = self.place(cell);
        let cost = fs::read_to_string(place.join(COST_FILE)).ok()?;
        let (wall, cpu) = cost.trim().split_once(' ')?;
        let cost = Cost {
            wall_s: wall.parse().ok()?,
            cpu_s: cpu.parse().ok()?,
        };
        match cell::read(&place, cost, true) {
            Ok(result) => Some(result),
            Err(_) => {
                let _ = fs::remove_dir_all(&place);
                None
            }
        }
    }

    /// Remembers a result. Two who remember the same at once write the same.
    pub fn put(&self, cell: &Cell, result: &CellResult) -> Result<(), LabError> {
        let place = self.place(cell);
        let parent = place.parent().unwrap_or(&self.folder);
        fs::create_dir_all(parent).map_err(LabError::file("make", parent))?;
        let partial = tempfile::Builder::new()
            .prefix("partial-")
            .tempdir_in(parent)
            .map_err(LabError::file("make a folder in", parent))?;
        let description = serde_json::to_vec(&result.output).unwrap_or_default();
        let cost = format!("{} {}\n", result.cost.wall_s, result.cost.cpu_s);
        let files: [(&str, &[u8]); 4] = [
            (OUTPUT_FILE, &description),
            (RECORDS_FILE, &result.records),
            (TRUTH_FILE, &result.truth),
            (COST_FILE, cost.as_bytes()),
        ];
        for (name, bytes) in files {
            let path = partial.path().join(name);
            fs::write(&path, bytes).map_err(LabError::file("write", &path))?;
        }
        // A rename onto one that another writer has just put there fails, and need not succeed.
        if fs::rename(partial.path(), &place).is_ok() {
            let _ = partial.keep();
        }
        Ok(())
    }

    /// Forgets the oldest results above the size limit, and what killed writers left.
    pub fn trim(&self) {
        let mut all: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for shelf in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            for entry in fs::read_dir(shelf.path()).into_iter().flatten().flatten() {
                let Ok(changed) = entry.metadata().and_then(|m| m.modified()) else {
                    continue;
                };
                all.push((changed, size(&entry.path()), entry.path()));
            }
        }
        all.sort_by_key(|(changed, ..)| std::cmp::Reverse(*changed));
        let mut sum = 0;
        for (_, size, path) in all {
            sum += size;
            if sum > MOST {
                let _ = fs::remove_dir_all(path);
            }
        }
    }
}

fn size(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files
        .filter_map(|f| f.metadata().ok())
        .map(|m| m.len())
        .sum()
}

/// The folder results are remembered in.
pub fn folder() -> Result<PathBuf, LabError> {
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
