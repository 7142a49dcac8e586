//! Errors in a spec, with their places.

use super::{place::Place, reason::Reason};

/// Maximum number of listed problems; the rest is only counted.
const LISTED: usize = 50;

/// All problems of a spec.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
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
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Location of the value in the spec.
    pub place: Place,
    /// Full dotted path of the key; empty if the text is not TOML.
    pub key: String,
    /// The reason.
    pub reason: Reason,
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

/// Collector of problems, without duplicates.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<Problem>);

impl Problems {
    /// Maximum number of collected problems, which also bounds the search for duplicates.
    const KEPT: usize = 1000;

    pub(super) fn add(&mut self, place: Place, key: &str, reason: impl Into<Reason>) {
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
    pub(super) fn or<T>(self, file: &str, value: T) -> Result<T, SpecError> {
        match self.0.is_empty() {
            true => Ok(value),
            false => Err(self.error(file)),
        }
    }

    /// The error that lists them.
    pub(super) fn error(mut self, file: &str) -> SpecError {
        self.0
            .sort_by_cached_key(|p| (p.place, p.key.clone(), p.reason.to_string()));
        SpecError {
            file: file.to_owned(),
            problems: self.0,
        }
    }
}
