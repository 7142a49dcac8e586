//! The lab as the bench of a search for a twin.

use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::ProgressBar;
use lab::{Lab, LabError};
use model::job;
use twin::{Bench, Outcome, Stopped};

use crate::progress;

/// Carries plans out on candidate paths in the lab, all lists of jobs on one bar.
#[derive(Debug)]
pub struct InLab<'a> {
    lab: &'a Lab,
    bar: &'a ProgressBar,
    /// Jobs of earlier lists.
    before: u64,
    stop: &'a AtomicBool,
}

impl<'a> InLab<'a> {
    /// In this lab, with a bar over all jobs to come, until it is stopped.
    pub fn new(lab: &'a Lab, bar: &'a ProgressBar, stop: &'a AtomicBool) -> Self {
        Self {
            lab,
            bar,
            before: 0,
            stop,
        }
    }
}

impl Bench for InLab<'_> {
    fn measure(
        &mut self,
        jobs: &[job::Measure],
        seen: &mut dyn FnMut(usize, Outcome),
    ) -> Result<(), Stopped> {
        let mut stopped = false;
        self.lab.each(jobs, self.stop, &mut |ended| {
            progress::step_of(self.bar, self.before, &ended);
            let outcome = match ended.result {
                Ok(measured) => {
                    let name = measured.digest.chars().take(16).collect();
                    Outcome::Run(Box::new(measured.run), name)
                }
                Err(LabError::Stopped) => {
                    stopped = true;
                    return;
                }
                Err(error) => Outcome::Failed(error.to_string()),
            };
            seen(ended.index, outcome);
        });
        self.before += jobs.len() as u64;
        let stopped = stopped || self.stop.load(Ordering::Relaxed);
        if stopped { Err(Stopped) } else { Ok(()) }
    }
}
