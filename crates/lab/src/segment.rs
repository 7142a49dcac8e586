//! Parts of a spec's cells, for several machines without coordination.
//!
//! `K/N` assigns each cell to one of N segments by its number alone, so segment K has the same
//! cells on every machine. Each segment has a file ([`mod@file`]), to which the rows of a cell are
//! appended when it ends; [`gather`](crate::gather) combines the files.

mod error;
pub mod file;
mod part;

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use model::{cell::Cell, row::Row};

use crate::{Done, Lab, LabError, cell::CellResult};
use file::{Header, SegmentFile};

pub use error::SegmentError;
pub use part::{NotASegment, NotATask, Part, Segment, TaskId};

/// A part of a spec to run.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// Name of the spec.
    pub name: &'a str,
    /// All cells of the spec, not only the part's cells.
    pub cells: &'a [Cell],
    /// The part.
    pub part: Part,
    /// Indices of its cells.
    pub indices: &'a [usize],
    /// The folder of the part's file.
    pub folder: &'a Path,
    /// True to continue an existing file; otherwise the file must not exist.
    pub resume: bool,
}

/// State of a part after a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Rows of the completed cells, in the order of the cells.
    pub rows: Vec<Row>,
    /// Number of cells of the part.
    pub cells: usize,
    /// Number of completed cells.
    pub completed: usize,
}

/// Runs the cells of a part whose rows are missing in its file, and appends the rows of each when
/// it ends. Cells that failed before are run again. `on_done` gets the index of each cell among all
/// cells. `stop` is set if the file cannot be written.
///
/// # Errors
/// The file cannot be read or written, it exists although `resume` is false, it belongs to another
/// spec, kernel image or guest program, or another run of the part has replaced it.
pub fn run(
    lab: &Lab,
    task: Task<'_>,
    stop: &AtomicBool,
    on_done: &mut dyn FnMut(usize, &Done<CellResult>),
) -> Result<Outcome, LabError> {
    let header = Header::new(lab, task.part, task.name, task.cells)?;
    let mut file = SegmentFile::open(task.folder, &header, task.resume)?;
    let all = task.indices;
    let open: Vec<usize> = all.iter().copied().filter(|i| !file.has(*i)).collect();
    let cells: Vec<Cell> = open.iter().map(|i| task.cells[*i].clone()).collect();
    let mut write_error = None;
    lab.each(&cells, stop, &mut |done| {
        let index = open[done.index];
        on_done(index, &done);
        if let Err(error) = file.append(index, &cells[done.index], &done.result) {
            write_error.get_or_insert(error);
            // The results of further cells would be lost, too.
            stop.store(true, Ordering::Relaxed);
        }
    });
    match write_error {
        Some(error) => return Err(error),
        // Another start may have replaced the file between its last line and now.
        None => file.check()?,
    }
    Ok(Outcome {
        completed: all.iter().filter(|i| file.has(**i)).count(),
        cells: all.len(),
        rows: file.into_rows(),
    })
}

#[cfg(test)]
pub(crate) mod tests;
