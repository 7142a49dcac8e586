//! Remedies on the ends of a lab path, by the real `tune` in a guest.

use model::{
    cell::KernelName,
    job::{self, OUTPUT_FILE, Prove, ProveOutput},
    units::Seed,
};

use crate::{
    LabError, Task,
    job::{Artifacts, Job, json},
    measure::plan_memory_mb,
};

impl Job for Prove {
    type Output = ProveOutput;

    fn guest_job(&self) -> job::Job {
        job::Job::Prove(Box::new(self.clone()))
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

    fn result(&self, mut artifacts: Artifacts) -> Result<ProveOutput, LabError> {
        let output: ProveOutput = json(OUTPUT_FILE, &artifacts.take(OUTPUT_FILE)?)?;
        match output.error {
            Some(report) => Err(LabError::Guest {
                task: Task::Prove,
                report,
            }),
            None => Ok(output),
        }
    }
}
