//! Parts of a spec's cells: segments, and tasks of an array job.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
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

/// The part of a sweep that a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A segment.
    Segment(#[serde(with = "as_text")] Segment),
    /// A task of an array job ([`crate::batch`]).
    Task(#[serde(with = "as_text")] TaskId),
}

impl Part {
    /// Name of the file: the same in every run of a part.
    pub fn file_name(self) -> String {
        match self {
            Self::Segment(Segment { count, index }) => {
                format!("segment-{}-of-{count}.jsonl", index + 1)
            }
            Self::Task(TaskId { round, task }) => format!("task-{round}-{task}.jsonl"),
        }
    }

    /// Returns true if this is the file name of a part.
    pub(crate) fn is_file_name(name: &str) -> bool {
        name.ends_with(".jsonl") && (name.starts_with("segment-") || name.starts_with("task-"))
    }
}

mod as_text {
    use std::{fmt::Display, str::FromStr};

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<T: Display, S: Serializer>(part: &T, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(part)
    }

    pub(super) fn deserialize<'de, T, D>(from: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}
