//! Errors in a spec, with their places.

use std::fmt;

/// Maximum number of listed problems; the rest is only counted.
const LISTED: usize = 50;

/// All problems of a spec.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.listing())]
pub struct SpecError {
    file: String,
    problems: Vec<Problem>,
}

impl SpecError {
    /// The problems, in the order of the file.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The name of the file, as given to [`super::Spec::parse`].
    pub fn file(&self) -> &str {
        &self.file
    }

    fn listing(&self) -> String {
        let mut lines: Vec<String> = self
            .problems
            .iter()
            .take(LISTED)
            .map(|p| p.line_for(&self.file))
            .collect();
        if self.problems.len() > LISTED {
            lines.push(format!(
                "{}: and {} more",
                self.file,
                self.problems.len() - LISTED
            ));
        }
        lines.join("\n")
    }
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Where the value was written.
    pub place: Place,
    /// Full dotted path of the key; empty if the text is not TOML.
    pub key: String,
    /// The reason.
    pub reason: String,
}

impl Problem {
    fn line_for(&self, file: &str) -> String {
        let head = match self.place {
            Place::Line(line) => format!("{file}:{line}: "),
            Place::File => format!("{file}: "),
            Place::Set => format!("{file}: --set "),
        };
        match self.key.as_str() {
            "" => format!("{head}{}", self.reason),
            key => format!("{head}{key}: {}", self.reason),
        }
    }
}

/// Where a value was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// No line: a default, or the file as a whole.
    File,
    /// This line of the file, counted from 1.
    Line(usize),
    /// The command line.
    Set,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => f.write_str("the file"),
            Self::Line(line) => write!(f, "line {line}"),
            Self::Set => f.write_str("--set"),
        }
    }
}

/// Collector of problems, without duplicates.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<Problem>);

impl Problems {
    /// Maximum number of collected problems, which also bounds the search for duplicates.
    const KEPT: usize = 1000;

    pub(super) fn add(&mut self, place: Place, key: &str, reason: impl Into<String>) {
        let problem = Problem {
            place,
            key: key.to_owned(),
            reason: reason.into(),
        };
        if self.0.len() < Self::KEPT && !self.0.contains(&problem) {
            self.0.push(problem);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `value` if there are no problems.
    pub(super) fn or<T>(mut self, file: &str, value: T) -> Result<T, SpecError> {
        if self.0.is_empty() {
            return Ok(value);
        }
        self.0.sort();
        Err(SpecError {
            file: file.to_owned(),
            problems: self.0,
        })
    }
}
