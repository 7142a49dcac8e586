//! Pool of workers for concurrent jobs.

use std::{
    num::NonZeroUsize,
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use crate::{
    cache::CacheNote,
    error::LabError,
    progress::{Pace, Progress},
};

/// A job that has ended.
#[derive(Debug)]
pub struct Done<T> {
    /// Its place in the list.
    pub index: usize,
    /// Its result.
    pub result: Result<T, LabError>,
    /// True if it came from the cache.
    pub cached: bool,
    /// Messages about the cache for the user.
    pub notes: Vec<CacheNote>,
    /// Progress of the list with it.
    pub progress: Progress,
}

/// A worker's result of a job.
pub(crate) struct One<T> {
    pub(crate) result: Result<T, LabError>,
    pub(crate) cached: bool,
    pub(crate) notes: Vec<CacheNote>,
}

/// Runs `count` jobs in parallel, up to a limit, and reports each as it ends, on the calling
/// thread. `one` runs the job of an index. Returns when all have ended or were stopped; jobs that
/// were not started are never reported.
pub(crate) fn each<T: Send>(
    count: usize,
    at_once: NonZeroUsize,
    stop: &AtomicBool,
    one: impl Fn(usize) -> One<T> + Sync,
    on_done: &mut dyn FnMut(Done<T>),
) {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let mut pace = Pace::new(count);
    thread::scope(|scope| {
        for _ in 0..at_once.get().clamp(1, count.max(1)) {
            let sender = sender.clone();
            let (next, one) = (&next, &one);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count || sender.send((index, one(index))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (index, one) in receiver {
            on_done(Done {
                index,
                progress: pace.ended(one.cached),
                result: one.result,
                cached: one.cached,
                notes: one.notes,
            });
        }
    });
}
