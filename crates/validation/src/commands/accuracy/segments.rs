//! `pathtwin lab accuracy --segments`: drawn paths with a third point, and the segment that is
//! named.

use model::units::Seed;
use validation::accuracy::segments;

use pathtwin::{
    exit::{Failure, code},
    format,
};

use super::Bench;

pub(super) fn segments(bench: Bench<'_>, paths: usize, draw: u64) -> Result<(), Failure> {
    let drawn = segments::draw(paths, Seed(draw)).map_err(|e| Failure::new(code::FAILED, e))?;
    let cells: Vec<_> = drawn.iter().map(|path| path.cell.clone()).collect();
    let runs = bench.measure(&cells, &measure::plans::quick(), |_, _| ())?;
    let judged = drawn.iter().zip(&runs);
    let judged = judged.map(|(path, run)| {
        let findings = explain::judge(&run.run);
        (path.fault, path.cell.name.clone(), findings)
    });
    format::text(&segments::markdown(&judged.collect::<Vec<_>>()))
}
