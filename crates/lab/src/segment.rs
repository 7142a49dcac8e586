//! Parts of a spec's cells, for several machines without coordination.
//!
//! `K/N` assigns each cell to one of N segments by its number alone, so segment K has the same
//! cells on every machine. Each segment has a file ([`mod@file`]), to which the rows of a cell are
//! appended when it ends; [`gather`](crate::gather) combines the files.

mod error;
pub mod file;

use std::{
    fmt,
    path::Path,
    str::FromStr,
    sync::atomic::{AtomicBool, Ordering},
};

use model::{cell::Cell, row::Row};

use crate::{Done, Lab, LabError, cell::CellResult};
pub use error::SegmentError;
use file::{Header, Part, SegmentFile};

/// A part of a spec's cells, one of N.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Segment {
    /// Number of segments, at least 1.
    count: usize,
    /// Index of the segment, from 0.
    index: usize,
}

/// A text that names no segment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a segment: give K/N with K from 1 to N, for example 3/10")]
pub struct NotASegment(String);

impl Segment {
    /// All cells.
    pub const WHOLE: Self = Self { count: 1, index: 0 };

    /// Segment `number` of `count`, from 1; `None` if there is no such segment.
    pub fn new(number: usize, count: usize) -> Option<Self> {
        let index = number.checked_sub(1)?;
        (index < count).then_some(Self { count, index })
    }

    /// Returns the number of segments.
    pub fn count(self) -> usize {
        self.count
    }

    /// The indices of its cells among `total`, ascending. Segments differ by at most one cell.
    ///
    /// The cells are assigned in the order of a hash of their index: assigned in turn, a matrix
    /// whose innermost factor has N values would give all the expensive cells to one segment.
    pub fn indices(self, total: usize) -> Vec<usize> {
        let mut order: Vec<_> = (0..total)
            .map(|index| {
                (
                    *blake3::hash(&(index as u64).to_le_bytes()).as_bytes(),
                    index,
                )
            })
            .collect();
        order.sort_unstable();
        let mine = order.iter().skip(self.index).step_by(self.count);
        let mut indices: Vec<_> = mine.map(|(_, index)| *index).collect();
        indices.sort_unstable();
        indices
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index + 1, self.count)
    }
}

impl FromStr for Segment {
    type Err = NotASegment;

    fn from_str(text: &str) -> Result<Self, NotASegment> {
        let parts = text.split_once('/');
        parts
            .and_then(|(number, count)| Self::new(number.parse().ok()?, count.parse().ok()?))
            .ok_or_else(|| NotASegment(text.to_owned()))
    }
}

/// A task of an array job: the number of the submission and the task in it, both from 0.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct TaskId {
    /// Number of the submission.
    pub round: u32,
    /// Number of the task.
    pub task: u32,
}

/// A text that names no task.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a task: give ROUND/TASK")]
pub struct NotATask(String);

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.round, self.task)
    }
}

impl FromStr for TaskId {
    type Err = NotATask;

    fn from_str(text: &str) -> Result<Self, NotATask> {
        let parts = text.split_once('/').and_then(|(round, task)| {
            Some(Self {
                round: round.parse().ok()?,
                task: task.parse().ok()?,
            })
        });
        parts.ok_or_else(|| NotATask(text.to_owned()))
    }
}

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
/// The file cannot be read or written, it exists although `resume` is false, or it belongs to
/// another spec, kernel image or guest program.
pub fn run(
    lab: &Lab,
    task: Task<'_>,
    stop: &AtomicBool,
    on_done: &mut dyn FnMut(usize, &Done<CellResult>),
) -> Result<Outcome, LabError> {
    let header = Header::new(lab, &task)?;
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
        Some(error) => Err(error),
        None => Ok(Outcome {
            completed: all.iter().filter(|i| file.has(**i)).count(),
            cells: all.len(),
            rows: file.into_rows(),
        }),
    }
}

#[cfg(test)]
pub(crate) mod tests;
