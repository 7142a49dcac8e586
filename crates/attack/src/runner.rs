//! Concurrent execution of attacks.

use std::sync::{Mutex, PoisonError};

use crate::case::{Case, Row, Target};

/// Runs `jobs` attacks at a time, each on a separate server; `report` is called after each. Returns
/// the rows in the order of the attacks.
pub fn run(
    cases: &[&'static Case],
    target: &Target,
    jobs: usize,
    report: impl Fn(&Row) + Sync,
) -> Vec<Row> {
    // Each server has clients with thousands of connections.
    let _ = sys::descriptors::allow(16_384);
    let next = Mutex::new(cases.iter().enumerate());
    let rows: Mutex<Vec<(usize, Row)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
                while let Some((number, case)) = take() {
                    let row = case.judge(target);
                    report(&row);
                    let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
                    rows.push((number, row));
                }
            });
        }
    });
    let mut rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
    rows.sort_by_key(|(number, _)| *number);
    rows.into_iter().map(|(_, row)| row).collect()
}
