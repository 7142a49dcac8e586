//! Accuracy of `measure`: runs on lab paths, where the truth is known.

pub mod captures;
pub mod count;
pub mod coverage;
pub mod many;
pub mod pairs;
pub mod pairs_table;
pub mod paths;
pub mod segments;
pub mod table;
pub mod truth;
pub mod twins;

use std::time::Duration;

use model::{cell::Cell, job, plan::Plan};

/// Virtual time after which a run counts as hung: the default plan takes more than an hour on slow
/// paths of long round trips.
const LIMIT: Duration = Duration::from_secs(4 * 3600);

/// A plan on each of these paths.
pub fn jobs(cells: &[Cell], plan: &Plan) -> Vec<job::Measure> {
    cells
        .iter()
        .map(|cell| {
            let program = env!("CARGO_PKG_VERSION");
            job::Measure::new(cell.clone(), plan.clone(), program, LIMIT)
        })
        .collect()
}
