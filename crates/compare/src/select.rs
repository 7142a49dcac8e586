//! Selection of the runs of both sets.

use model::{run::Run, text, text::Text};

use crate::{Measured, Set};

/// A run, with the labels needed to find those before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selected {
    /// Start time, µs since 1970.
    pub started_us: u64,
    /// The path that it is of in the history; absent for a file.
    pub path: Option<String>,
    /// Its values.
    pub measured: Measured,
}

impl Selected {
    /// A run of a path.
    pub fn of(run: &Run, path: Option<String>) -> Self {
        Self {
            started_us: run.started_us,
            path,
            measured: Measured::of(run),
        }
    }
}

/// A query for the runs of a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query<'a> {
    /// The path.
    pub path: String,
    /// Only runs with this label.
    pub label: Option<(&'a str, &'a str)>,
    /// Only runs that started before this, µs since 1970.
    pub before_us: Option<u64>,
    /// Only this many, the newest.
    pub newest: Option<u64>,
}

/// Source of runs: files, and a history.
pub trait Source {
    /// Error finding a run.
    type Error: From<SelectError>;

    /// The run in a file, or with this id prefix.
    ///
    /// # Errors
    /// The run does not exist, or cannot be read.
    fn named(&mut self, name: &str) -> Result<Selected, Self::Error>;

    /// The paths that there are runs of.
    ///
    /// # Errors
    /// The history cannot be read.
    fn paths(&mut self) -> Result<Vec<String>, Self::Error>;

    /// The runs of a path.
    ///
    /// # Errors
    /// The history cannot be read.
    fn query(&mut self, query: &Query<'_>) -> Result<Vec<Selected>, Self::Error>;
}

/// Error selecting runs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub enum SelectError {
    /// Both sets are relative to the other.
    BothBefore,
    /// The history is empty.
    NoRuns,
    /// The path is ambiguous.
    SeveralPaths(Vec<String>),
}

impl SelectError {
    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::BothBefore => {
                text!("before:N means the runs before the other set: name that one")
            }
            Self::NoRuns => text!("the history has no runs"),
            Self::SeveralPaths(paths) => text!(
                "give --path: the history has runs of {paths}",
                paths = paths.join(", ")
            ),
        }
    }
}

/// The runs of two sets, each in chronological order. Sets of the history are of `path`, or of the
/// only path in it; `before:N` is of the path of the other set.
///
/// # Errors
/// A run is not found, or the path is ambiguous.
pub fn select<S: Source>(
    (before, after): (&Set<'_>, &Set<'_>),
    path: Option<&str>,
    source: &mut S,
) -> Result<(Vec<Measured>, Vec<Measured>), S::Error> {
    let mut selection = Selection { path, source };
    let (before, after) = match (before, after) {
        (Set::Before(_), Set::Before(_)) => return Err(SelectError::BothBefore.into()),
        (Set::Before(n), set) => {
            let after = selection.runs(set)?;
            (selection.before(*n, &after)?, after)
        }
        (set, Set::Before(n)) => {
            let before = selection.runs(set)?;
            let after = selection.before(*n, &before)?;
            (before, after)
        }
        (before, after) => (selection.runs(before)?, selection.runs(after)?),
    };
    let in_order = |mut runs: Vec<Selected>| {
        runs.sort_by_key(|run| run.started_us);
        runs.into_iter().map(|run| run.measured).collect()
    };
    Ok((in_order(before), in_order(after)))
}

struct Selection<'a, S> {
    path: Option<&'a str>,
    source: &'a mut S,
}

impl<S: Source> Selection<'_, S> {
    fn runs(&mut self, set: &Set<'_>) -> Result<Vec<Selected>, S::Error> {
        match set {
            Set::These(names) => {
                let mut runs: Vec<Selected> = Vec::new();
                for name in names {
                    let run = self.source.named(name)?;
                    // Named twice, it is no second observation.
                    if runs
                        .iter()
                        .all(|known| known.measured.id != run.measured.id)
                    {
                        runs.push(run);
                    }
                }
                Ok(runs)
            }
            Set::Last(n) => self.of_path(
                None,
                Query {
                    newest: Some(*n),
                    ..Query::default()
                },
            ),
            Set::Label(name, value) => self.of_path(
                None,
                Query {
                    label: Some((name, value)),
                    ..Query::default()
                },
            ),
            // Relative to another set, which `select` has found.
            Set::Before(_) => Ok(Vec::new()),
        }
    }

    /// The runs before the first of others, of the same path.
    fn before(&mut self, n: u64, others: &[Selected]) -> Result<Vec<Selected>, S::Error> {
        let first = others.iter().min_by_key(|run| run.started_us);
        let query = Query {
            before_us: first.map(|run| run.started_us),
            newest: Some(n),
            ..Query::default()
        };
        self.of_path(first.and_then(|run| run.path.clone()), query)
    }

    fn of_path(
        &mut self,
        of_others: Option<String>,
        query: Query<'_>,
    ) -> Result<Vec<Selected>, S::Error> {
        let path = match self.path.map(str::to_owned).or(of_others) {
            Some(path) => path,
            None => only(self.source.paths()?)?,
        };
        self.source.query(&Query { path, ..query })
    }
}

fn only(mut paths: Vec<String>) -> Result<String, SelectError> {
    match paths.len() {
        0 => Err(SelectError::NoRuns),
        1 => Ok(paths.swap_remove(0)),
        _ => Err(SelectError::SeveralPaths(paths)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs 1, 2, 3, ... of the path "a" and a single run 2 of "b", each at the time of its number.
    struct History {
        paths: Vec<&'static str>,
        runs: u64,
    }

    fn run(path: &str, number: u64) -> Selected {
        Selected {
            started_us: number,
            path: Some(path.to_owned()),
            measured: Measured {
                id: format!("{path}{number}"),
                ..Measured::default()
            },
        }
    }

    impl Source for History {
        type Error = SelectError;

        fn named(&mut self, name: &str) -> Result<Selected, SelectError> {
            let (path, number) = name.split_at(1);
            Ok(run(path, number.parse().unwrap()))
        }

        fn paths(&mut self) -> Result<Vec<String>, SelectError> {
            Ok(self.paths.iter().map(|p| (*p).to_owned()).collect())
        }

        fn query(&mut self, query: &Query<'_>) -> Result<Vec<Selected>, SelectError> {
            let mut runs: Vec<u64> = match query.path.as_str() {
                "a" => (1..=self.runs).rev().collect(),
                _ => vec![2],
            };
            runs.retain(|n| query.before_us.is_none_or(|before| *n < before));
            runs.truncate(query.newest.map_or(usize::MAX, |n| n as usize));
            Ok(runs.into_iter().map(|n| run(&query.path, n)).collect())
        }
    }

    fn ids(
        history: &mut History,
        before: &str,
        after: &str,
        path: Option<&str>,
    ) -> Result<(Vec<String>, Vec<String>), SelectError> {
        let sets = (Set::parse(before).unwrap(), Set::parse(after).unwrap());
        let (before, after) = select((&sets.0, &sets.1), path, history)?;
        let ids = |runs: Vec<Measured>| runs.into_iter().map(|run| run.id).collect();
        Ok((ids(before), ids(after)))
    }

    #[test]
    fn before_means_the_runs_before_the_first_of_the_other_set_in_the_order_of_time() {
        let mut history = History {
            paths: vec!["a"],
            runs: 9,
        };
        let (before, after) = ids(&mut history, "before:3", "last:2", None).unwrap();
        assert_eq!(before, ["a5", "a6", "a7"]);
        assert_eq!(after, ["a8", "a9"]);
        let (before, after) = ids(&mut history, "a4,a3", "before:2", None).unwrap();
        assert_eq!(before, ["a3", "a4"]);
        assert_eq!(after, ["a1", "a2"]);
    }

    /// Bug: one run named three times had no spread between its "runs", and each difference from it
    /// was certain.
    #[test]
    fn a_run_that_is_named_twice_counts_once() {
        let mut history = History {
            paths: vec!["a"],
            runs: 9,
        };
        let (before, after) = ids(&mut history, "a4,a3,a4,a4", "a5,a5", None).unwrap();
        assert_eq!(before, ["a3", "a4"]);
        assert_eq!(after, ["a5"]);
    }

    #[test]
    fn a_path_must_be_given_where_there_are_several() {
        let mut history = History {
            paths: vec!["a", "b"],
            runs: 9,
        };
        let several = ids(&mut history, "before:1", "last:1", None);
        assert!(matches!(several, Err(SelectError::SeveralPaths(_))));
        let (_, after) = ids(&mut history, "a1", "last:1", Some("b")).unwrap();
        assert_eq!(after, ["b2"]);
        // Before a run of a path means of that path.
        let (before, _) = ids(&mut history, "before:1", "a9", None).unwrap();
        assert_eq!(before, ["a8"]);
    }

    #[test]
    fn two_sets_cannot_both_be_relative_to_the_other() {
        let mut history = History {
            paths: Vec::new(),
            runs: 0,
        };
        let both = ids(&mut history, "before:1", "before:2", None);
        assert_eq!(both, Err(SelectError::BothBefore));
        let none = ids(&mut history, "a1", "last:2", None);
        assert_eq!(none, Err(SelectError::NoRuns));
    }
}
