//! Many cells side by side: one guest a processor, each held to its own.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use model::cell::Cell;

use crate::{
    LabError,
    cache::Cache,
    cell::{self, CellResult},
    guest::Boot,
    sandbox::Sandbox,
};

/// What the cells are run with.
#[derive(Debug)]
pub struct Pool<'a> {
    /// The kernel image.
    pub kernel: &'a std::path::Path,
    /// The folders the guests live in.
    pub sandbox: &'a Sandbox,
    /// Results known from before; absent = run all.
    pub cache: Option<&'a Cache>,
    /// Guests at once; one a processor is the best there is.
    pub jobs: usize,
    /// Real time after which a cell is ended.
    pub wall_limit: Duration,
    /// Set when the user wants to stop: what is done is kept.
    pub stop: &'a AtomicBool,
}

/// A cell that has ended.
#[derive(Debug)]
pub struct Ended {
    /// Its place in the list.
    pub index: usize,
    /// What came out.
    pub result: Result<CellResult, LabError>,
}

impl Pool<'_> {
    /// Runs all cells; tells of each as it ends. Returns when all have ended or were stopped. The
    /// results come in the order of the cells; cells that were not begun are absent.
    pub fn run(
        &self,
        cells: &[Cell],
        mut told: impl FnMut(&Ended),
    ) -> Vec<Option<Result<CellResult, LabError>>> {
        let next = AtomicUsize::new(0);
        let cpus = Mutex::new(sys::sched::allowed_cpus().unwrap_or_default());
        let (sender, receiver) = mpsc::channel();
        let mut results: Vec<_> = cells.iter().map(|_| None).collect();
        thread::scope(|scope| {
            for _ in 0..self.jobs.clamp(1, cells.len().max(1)) {
                let sender = sender.clone();
                let (next, cpus) = (&next, &cpus);
                scope.spawn(move || {
                    let cpu = cpus.lock().unwrap_or_else(PoisonError::into_inner).pop();
                    while !self.stop.load(Ordering::Relaxed) {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(cell) = cells.get(index) else { return };
                        let result = self.one(cell, cpu);
                        if sender.send(Ended { index, result }).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            for ended in receiver {
                told(&ended);
                results[ended.index] = Some(ended.result);
            }
        });
        results
    }

    fn one(&self, cell: &Cell, cpu: Option<usize>) -> Result<CellResult, LabError> {
        if let Some(known) = self.cache.and_then(|cache| cache.get(cell)) {
            return Ok(known);
        }
        let Pool {
            kernel,
            sandbox,
            wall_limit,
            stop,
            ..
        } = *self;
        let result = cell::run(
            Boot {
                kernel,
                sandbox,
                cpu,
                wall_limit,
                stop,
            },
            cell,
        )?;
        if let Some(cache) = self.cache {
            // A full disk must not lose the result in hand.
            let _ = cache.put(cell, &result);
        }
        Ok(result)
    }
}
