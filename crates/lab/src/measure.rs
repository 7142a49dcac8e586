//! Jobs that run a plan between the ends of a lab path.

use model::{
    cell::{Cell, KernelName},
    job::{self, Measure, MeasureOutput, OUTPUT_FILE, QueueTruth},
    run::Run,
    units::Seed,
};

use crate::{
    LabError, Task,
    cell::memory_mb,
    guest::Cost,
    job::{Artifacts, Job, json},
};

/// The result of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The run.
    pub run: Run,
    /// The bottlenecks' queues, which no host could see.
    pub truth: Vec<QueueTruth>,
    /// BLAKE3 over the run as the guest wrote it, in hex.
    pub digest: String,
    /// Real and processor time.
    pub cost: Cost,
    /// True if it came from the cache.
    pub cached: bool,
}

/// Memory of a guest that runs a plan, MiB: its records are in memory until its end.
pub(crate) fn plan_memory_mb(cell: &Cell) -> u64 {
    memory_mb(cell).max(1024)
}

impl Job for Measure {
    type Output = Measured;

    fn guest_job(&self) -> job::Job {
        job::Job::Measure(Box::new(self.clone()))
    }

    fn kernel(&self) -> Option<&KernelName> {
        self.cell.kernel.as_ref()
    }

    fn seed(&self) -> Seed {
        self.cell.seed
    }

    fn memory_mb(&self) -> u64 {
        plan_memory_mb(&self.cell)
    }

    fn files(&self) -> Vec<String> {
        vec![OUTPUT_FILE.to_owned()]
    }

    fn result(&self, mut artifacts: Artifacts) -> Result<Measured, LabError> {
        let text = artifacts.take(OUTPUT_FILE)?;
        let output: MeasureOutput = json(OUTPUT_FILE, &text)?;
        let digest = blake3::hash(&text).to_hex().to_string();
        match (output.run, output.error) {
            (Some(run), _) => Ok(Measured {
                // Runs of one seed on different paths are different runs.
                run: Run {
                    id: digest[..16].to_owned(),
                    ..*run
                },
                truth: output.truth,
                digest,
                cost: artifacts.cost,
                cached: artifacts.cached,
            }),
            (None, Some(report)) => Err(LabError::Guest {
                task: Task::Plan,
                report,
            }),
            (None, None) => Err(LabError::NoRun),
        }
    }
}
