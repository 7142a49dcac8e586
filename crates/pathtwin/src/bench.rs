//! The lab as the bench of a search for a twin.

use std::sync::atomic::AtomicBool;

use indicatif::ProgressBar;
use lab::{Lab, Lists};
use model::job;
use twin::{Bench, Outcome, Stopped};

use crate::progress;

/// Carries plans out on candidate paths in the lab, all lists of jobs on one bar.
#[derive(Debug)]
pub struct InLab<'a> {
    lists: Lists<'a>,
    bar: &'a ProgressBar,
}

impl<'a> InLab<'a> {
    /// In this lab, with a bar over all jobs to come, until it is stopped.
    pub fn new(lab: &'a Lab, bar: &'a ProgressBar, stop: &'a AtomicBool) -> Self {
        let total = usize::try_from(bar.length().unwrap_or_default()).unwrap_or(usize::MAX);
        Self {
            lists: Lists::new(lab, total, stop),
            bar,
        }
    }
}

impl Bench for InLab<'_> {
    fn measure(
        &mut self,
        jobs: &[job::Measure],
        seen: &mut dyn FnMut(usize, Outcome),
    ) -> Result<(), Stopped> {
        let done = self.lists.each(jobs, &mut |ended| {
            progress::step(self.bar, &ended);
            let outcome = match ended.result {
                Ok(measured) => {
                    let name = measured.digest.chars().take(16).collect();
                    Outcome::Run(Box::new(measured.run), name)
                }
                Err(error) => Outcome::Failed(error.to_string()),
            };
            seen(ended.index, outcome);
        });
        done.map_err(|_| Stopped)
    }
}
