//! How well `measure` measures: runs on lab paths, where the truth is known.

pub mod count;
pub mod coverage;
pub mod many;
pub mod pairs;
pub mod pairs_table;
pub mod paths;
pub mod table;
pub mod truth;

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use model::{cell::Cell, job, plan::Plan};

use kernel::Image;
use lab::{
    LabError,
    guest::Boot,
    measure::{self, Measured},
    sandbox::Sandbox,
};

/// Virtual time after which a run counts as hung.
const LIMIT: Duration = Duration::from_secs(3600);

/// What runs need.
#[derive(Clone, Copy)]
pub struct Lab<'a> {
    /// The kernel image.
    pub kernel: &'a Image,
    /// The folders.
    pub sandbox: &'a Sandbox,
    /// Runs at once.
    pub jobs: usize,
    /// Real time after which a run is ended.
    pub wall_limit: Duration,
    /// Set when the user wants to stop.
    pub stop: &'a AtomicBool,
}

/// Carries a plan out on every path, several side by side; results in the order of the paths. Each is
/// `told` when it is there, with its place, and may be made smaller then: the courses of hundreds of
/// megabytes of a long plan add up.
pub fn run(
    lab: Lab<'_>,
    cells: &[Cell],
    plan: &Plan,
    told: &(dyn Fn(usize, &mut Result<Measured, LabError>) + Sync),
) -> Vec<Option<Result<Measured, LabError>>> {
    let next = AtomicUsize::new(0);
    let results: Vec<_> = cells.iter().map(|_| Mutex::new(None)).collect();
    let cpus = sys::sched::allowed_cpus().unwrap_or_default();
    std::thread::scope(|scope| {
        for job in 0..lab.jobs.max(1) {
            let cpu = cpus.get(job % cpus.len().max(1)).copied();
            let (next, results) = (&next, &results);
            scope.spawn(move || {
                while !lab.stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(cell) = cells.get(index) else {
                        return;
                    };
                    let mut result = one(lab, cell, plan, cpu);
                    told(index, &mut result);
                    *results[index]
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner) = Some(result);
                }
            });
        }
    });
    results
        .into_iter()
        .map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect()
}

fn one(lab: Lab<'_>, cell: &Cell, plan: &Plan, cpu: Option<usize>) -> Result<Measured, LabError> {
    let boot = Boot {
        kernel: &lab.kernel.path,
        sandbox: lab.sandbox,
        cpu,
        wall_limit: lab.wall_limit,
        stop: lab.stop,
    };
    let job = job::Measure {
        cell: cell.clone(),
        plan: plan.clone(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        limit_ns: LIMIT.as_nanos() as u64,
    };
    measure::run(boot, &job)
}
