//! A plan between the ends of a lab path.

use std::fs;

use model::{
    job::{Job, Measure, MeasureOutput, OUTPUT_FILE, QueueTruth},
    run::Run,
};

use crate::{
    LabError,
    cell::memory_mb,
    guest::{self, Boot, Cost},
};

/// What came of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The run.
    pub run: Run,
    /// The bottlenecks' queues, which no host could see.
    pub truth: Vec<QueueTruth>,
    /// BLAKE3 over the run as the guest wrote it, in hex.
    pub digest: String,
    /// What it cost.
    pub cost: Cost,
}

/// Carries a plan out.
pub fn run(boot: Boot<'_>, job: &Measure) -> Result<Measured, LabError> {
    let folder = boot.sandbox.cell_folder()?;
    // The records of a whole plan are kept in memory until its end.
    let memory = memory_mb(&job.cell).max(1024);
    let seed = job.cell.seed;
    let job = Job::Measure(Box::new(job.clone()));
    let done = guest::run(boot, &folder, &job, seed, memory).and_then(|cost| {
        let path = folder.join(OUTPUT_FILE);
        let text = guest::read(&path)?;
        let output: MeasureOutput =
            serde_json::from_slice(&text).map_err(|e| LabError::Result(path, e.to_string()))?;
        let digest = blake3::hash(&text).to_hex().to_string();
        match output {
            MeasureOutput {
                run: Some(run),
                truth,
                ..
            } => Ok(Measured {
                // Runs of one seed on different paths are different runs.
                run: Run {
                    id: digest[..16].to_owned(),
                    ..*run
                },
                truth,
                digest,
                cost,
            }),
            MeasureOutput { error, .. } => Err(LabError::Guest(
                error.unwrap_or_else(|| "no run and no reason".to_owned()),
            )),
        }
    });
    let _ = fs::remove_dir_all(&folder);
    done
}
