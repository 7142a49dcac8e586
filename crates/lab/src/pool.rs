//! Many jobs side by side: one guest a processor, each held to its own.

use std::{
    num::NonZeroUsize,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use crate::{
    LabError,
    cache::Damaged,
    job::Job,
    progress::{Pace, Progress},
};

/// A job that has ended.
#[derive(Debug)]
pub struct Done<T> {
    /// Its place in the list.
    pub index: usize,
    /// What came of it.
    pub result: Result<T, LabError>,
    /// Whether its result was remembered, not made now.
    pub cached: bool,
    /// A remembered result that was not to be believed: the job was done anew.
    pub damaged: Option<Damaged>,
    /// How far the list is with it.
    pub progress: Progress,
}

/// What one worker has of a job.
pub(crate) struct One<T> {
    pub(crate) result: Result<T, LabError>,
    pub(crate) cached: bool,
    pub(crate) damaged: Option<Damaged>,
}

/// Does all jobs by `one`, on so many workers and each worker on a processor of its own, and tells of
/// each as it ends, on the thread that called. Returns when all have ended
/// or were stopped; those that were not begun are never told of.
pub(crate) fn each<J: Job>(
    workers: NonZeroUsize,
    jobs: &[J],
    one: impl Fn(&J, Option<usize>) -> One<J::Output> + Sync,
    stop: &AtomicBool,
    told: &mut dyn FnMut(Done<J::Output>),
) {
    let next = AtomicUsize::new(0);
    let cpus = Mutex::new(sys::sched::allowed_cpus().unwrap_or_default());
    let (sender, receiver) = mpsc::channel();
    let mut pace = Pace::new(jobs.len());
    thread::scope(|scope| {
        for _ in 0..workers.get().clamp(1, jobs.len().max(1)) {
            let sender = sender.clone();
            let (next, cpus, one) = (&next, &cpus, &one);
            scope.spawn(move || {
                let cpu = cpus.lock().unwrap_or_else(PoisonError::into_inner).pop();
                while !stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { return };
                    if sender.send((index, one(job, cpu))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (index, one) in receiver {
            told(Done {
                index,
                progress: pace.ended(one.cached),
                result: one.result,
                cached: one.cached,
                damaged: one.damaged,
            });
        }
    });
}
