//! Cells as jobs, and their results.

use std::time::Duration;

use model::{
    cell::{Cell, KernelName},
    job::{self, OUTPUT_FILE, RECORDS_FILE, TRUTH_FILE},
    record::Output,
    units::Seed,
};

use crate::{
    LabError, Task,
    guest::Cost,
    job::{Artifacts, Job, json},
};

/// The result of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellResult {
    /// The description.
    pub output: Output,
    /// Records a measuring host could have made ([`model::record::records`]).
    pub records: Vec<u8>,
    /// Records of the truth that no host could see.
    pub truth: Vec<u8>,
    /// BLAKE3 over all three as the guest wrote them, in hex.
    pub digest: String,
    /// Real and processor time.
    pub cost: Cost,
    /// True if it came from the cache.
    pub cached: bool,
}

impl Job for Cell {
    type Output = CellResult;

    fn guest_job(&self) -> job::Job {
        job::Job::Cell(Box::new(self.clone()))
    }

    fn kernel(&self) -> Option<&KernelName> {
        self.kernel.as_ref()
    }

    fn seed(&self) -> Seed {
        self.seed
    }

    fn memory_mb(&self) -> u64 {
        memory_mb(self)
    }

    fn files(&self) -> Vec<String> {
        [OUTPUT_FILE, RECORDS_FILE, TRUTH_FILE]
            .map(str::to_owned)
            .to_vec()
    }

    fn length(&self) -> Duration {
        Self::length(self)
    }

    fn result(&self, artifacts: Artifacts) -> Result<CellResult, LabError> {
        let result = read(artifacts)?;
        match &result.output.error {
            Some(report) => Err(LabError::Guest {
                task: Task::Cell,
                report: report.clone(),
            }),
            None => Ok(result),
        }
    }
}

/// Decodes the result of a cell, also of one that failed.
pub(crate) fn read(mut artifacts: Artifacts) -> Result<CellResult, LabError> {
    let description = artifacts.take(OUTPUT_FILE)?;
    let output: Output = json(OUTPUT_FILE, &description)?;
    let failed = output.error.is_some();
    let (records, truth) = match failed {
        true => (Vec::new(), Vec::new()),
        false => (artifacts.take(RECORDS_FILE)?, artifacts.take(TRUTH_FILE)?),
    };
    let digest = match failed {
        true => String::new(),
        false => digest([&description, &records, &truth]),
    };
    Ok(CellResult {
        output,
        records,
        truth,
        digest,
        cost: artifacts.cost,
        cached: artifacts.cached,
    })
}

fn digest(parts: [&[u8]; 3]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        // With its length before it, no part can pass for the end of another.
        hasher
            .update(&(part.len() as u64).to_le_bytes())
            .update(part);
    }
    hasher.finalize().to_hex().to_string()
}

/// Memory of a cell's guest: for the maximum data in queues, windows and delays, times three
/// because of packet buffer overhead. The host allocates only the parts in use. Rounded to steps,
/// because it is part of the command line.
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
