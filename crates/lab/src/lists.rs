//! Lists of jobs one after the other, of which each depends on the results of those before: a
//! search.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Done, Lab, LabError, Pace, job::Job};

/// The lab for a search, with one progress over all its lists.
#[derive(Debug)]
pub struct Lists<'a> {
    lab: &'a Lab,
    stop: &'a AtomicBool,
    pace: Pace,
}

impl<'a> Lists<'a> {
    /// A search of at most `total` jobs, until told to stop.
    pub fn new(lab: &'a Lab, total: usize, stop: &'a AtomicBool) -> Self {
        Self {
            lab,
            stop,
            pace: Pace::new(total),
        }
    }

    /// Runs the next list as [`Lab::each`] does; the progress is that of the whole search.
    ///
    /// # Errors
    /// The user stopped it.
    pub fn each<J: Job>(
        &mut self,
        jobs: &[J],
        on_done: &mut dyn FnMut(Done<J::Output>),
    ) -> Result<(), LabError> {
        let pace = &mut self.pace;
        self.lab.each(jobs, self.stop, &mut |done| {
            let progress = pace.ended(done.cached);
            if !matches!(done.result, Err(LabError::Stopped)) {
                on_done(Done { progress, ..done });
            }
        });
        match self.stop.load(Ordering::Relaxed) {
            true => Err(LabError::Stopped),
            false => Ok(()),
        }
    }
}
