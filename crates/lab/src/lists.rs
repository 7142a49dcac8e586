//! Consecutive lists of plans, each depending on the results of earlier ones: a search.

use std::sync::atomic::{AtomicBool, Ordering};

use model::job::{self, Bench, Outcome, Stopped};

use crate::{Done, Lab, LabError, Pace, measure::Measured};

/// The lab as the bench of a search, with one progress over all its lists.
#[derive(Debug)]
pub struct Lists<'a, F> {
    lab: &'a Lab,
    stop: &'a AtomicBool,
    pace: Pace,
    on_done: F,
}

impl<'a, F: FnMut(&Done<Measured>)> Lists<'a, F> {
    /// A search of at most `total` plans, until stopped. `on_done` sees each as it ends, with the
    /// progress of the whole search.
    pub fn new(lab: &'a Lab, total: usize, stop: &'a AtomicBool, on_done: F) -> Self {
        Self {
            lab,
            stop,
            pace: Pace::new(total),
            on_done,
        }
    }
}

impl<F: FnMut(&Done<Measured>)> Bench for Lists<'_, F> {
    fn measure(
        &mut self,
        jobs: &[job::Measure],
        seen: &mut dyn FnMut(usize, Outcome),
    ) -> Result<(), Stopped> {
        let (pace, on_done) = (&mut self.pace, &mut self.on_done);
        self.lab.each(jobs, self.stop, &mut |done| {
            let progress = pace.ended(done.cached);
            if matches!(done.result, Err(LabError::Stopped)) {
                return;
            }
            let done = Done { progress, ..done };
            on_done(&done);
            seen(done.index, outcome(done.result));
        });
        match self.stop.load(Ordering::Relaxed) {
            true => Err(Stopped),
            false => Ok(()),
        }
    }
}

/// A Run is named by the start of its digest.
fn outcome(result: Result<Measured, LabError>) -> Outcome {
    match result {
        Ok(measured) => {
            let name = measured.digest.chars().take(16).collect();
            Outcome::Run(Box::new(measured.run), name)
        }
        Err(error) => Outcome::Failed(error.into()),
    }
}
