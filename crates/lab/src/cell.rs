//! One cell: from the checked description to what it measured.

use std::{
    fs,
    path::{Path, PathBuf},
};

use model::{
    cell::Cell,
    job::{Job, OUTPUT_FILE, RECORDS_FILE, TRUTH_FILE},
    record::Output,
};

use crate::{
    LabError,
    guest::{self, Boot, Cost},
};

/// What a cell gave back.
#[derive(Clone, Debug, PartialEq)]
pub struct CellResult {
    /// The description.
    pub output: Output,
    /// Records a measuring host could have made ([`model::record::records`]).
    pub records: Vec<u8>,
    /// Records of what no host could see.
    pub truth: Vec<u8>,
    /// BLAKE3 over all three as the guest wrote them, in hex.
    pub digest: String,
    /// What it cost.
    pub cost: Cost,
    /// Whether it was remembered, not run.
    pub cached: bool,
}

/// Runs a cell in a guest.
pub fn run(boot: Boot<'_>, cell: &Cell) -> Result<CellResult, LabError> {
    let folder = boot.sandbox.cell_folder()?;
    let job = Job::Cell(Box::new(cell.clone()));
    let done = guest::run(boot, &folder, &job, cell.seed, memory_mb(cell))
        .and_then(|cost| read(&folder, cost, false));
    let _ = fs::remove_dir_all(&folder);
    let result = done?;
    match &result.output.error {
        Some(error) => Err(LabError::Guest(error.clone())),
        None => Ok(result),
    }
}

/// Reads a result from a folder.
pub fn read(folder: &Path, cost: Cost, cached: bool) -> Result<CellResult, LabError> {
    let read = |name: &str| -> Result<(PathBuf, Vec<u8>), LabError> {
        let path = folder.join(name);
        let bytes = fs::read(&path).map_err(LabError::file("read", &path))?;
        Ok((path, bytes))
    };
    let (path, description) = read(OUTPUT_FILE)?;
    let output: Output =
        serde_json::from_slice(&description).map_err(|e| LabError::Result(path, e.to_string()))?;
    if output.error.is_some() {
        let (records, truth) = (Vec::new(), Vec::new());
        return Ok(CellResult {
            output,
            records,
            truth,
            digest: String::new(),
            cost,
            cached,
        });
    }
    let (_, records) = read(RECORDS_FILE)?;
    let (_, truth) = read(TRUTH_FILE)?;
    let mut hasher = blake3::Hasher::new();
    for part in [&description, &records, &truth] {
        // With its length before it, no part can pass for the end of another.
        hasher
            .update(&(part.len() as u64).to_le_bytes())
            .update(part);
    }
    let digest = hasher.finalize().to_hex().to_string();
    Ok(CellResult {
        output,
        records,
        truth,
        digest,
        cost,
        cached,
    })
}

/// Memory of a cell's guest: room for all that its queues, windows and delays can hold, counted at
/// three times its size because packets are kept in buffers with headers. Only what is used is
/// taken from the host. In steps, because it is part of the command line.
pub fn memory_mb(cell: &Cell) -> u64 {
    const BASE: u64 = 192 << 20;
    let path = &cell.path;
    let holds = [&path.down, &path.up].map(|line| {
        let rate = line
            .rate
            .unwrap_or(model::units::Rate::from_bps(10_000_000_000));
        rate.bytes_in(path.rtt() + line.jitter).0 + line.buffer.bytes(path.mtu).0
    });
    let flows: u64 = std::iter::once(&cell.traffic)
        .chain(&cell.cross)
        .map(|t| u64::from(t.flows) * t.directions.len() as u64)
        .sum();
    let needed = BASE + 6 * (holds[0] + holds[1]) + flows * (2 << 20);
    (needed >> 20).next_power_of_two().clamp(256, 8192)
}
