//! Sets of runs by name.

use std::path::Path;

use anyhow::{Context, anyhow};
use compare::{Measured, Set};
use model::run::Run;

use crate::cli::compare::From;
use crate::{
    document,
    exit::{Failure, code},
};

#[cfg(feature = "history")]
use crate::cli::history::Where;

/// What a name stands for: a file of that name, or what its grammar says.
fn set(text: &str) -> Result<Set<'_>, Failure> {
    if Path::new(text).exists() {
        return Ok(Set::These(vec![text]));
    }
    Set::parse(text).map_err(|e| Failure::new(code::USE, e))
}

/// The run in a file, or on standard input, if that is what is named.
fn file(name: &str) -> Option<Result<Run, Failure>> {
    let run = |text: Vec<u8>| {
        let run = Run::parse(&text).with_context(|| name.to_owned());
        run.map_err(|e| Failure::new(code::USE, e))
    };
    Some(document::file(name)?.and_then(run))
}

/// A run, with what is needed to find those before it.
struct Found {
    started_us: u64,
    #[cfg_attr(not(feature = "history"), expect(dead_code, reason = "for before:N"))]
    path: Option<String>,
    measured: Measured,
}

impl Found {
    fn new(run: &Run, path: Option<String>) -> Self {
        Self {
            started_us: run.started_us,
            path,
            measured: Measured::of(run),
        }
    }
}

impl From {
    /// The runs of both sets, each in the order of time.
    pub(super) fn pair(
        &self,
        before: &str,
        after: &str,
    ) -> Result<(Vec<Measured>, Vec<Measured>), Failure> {
        let (a, b) = (set(before)?, set(after)?);
        let mut history = self.history();
        let (a, b) = match (&a, &b) {
            (Set::Before(_), Set::Before(_)) => {
                let why = anyhow!("before:N means the runs before the other set: name that one");
                return Err(Failure::new(code::USE, why));
            }
            (Set::Before(n), b) => {
                let b = history.runs(b)?;
                (history.before(*n, &b)?, b)
            }
            (a, Set::Before(n)) => {
                let a = history.runs(a)?;
                let b = history.before(*n, &a)?;
                (a, b)
            }
            (a, b) => (history.runs(a)?, history.runs(b)?),
        };
        let measured = |mut runs: Vec<Found>| {
            runs.sort_by_key(|run| run.started_us);
            runs.into_iter().map(|run| run.measured).collect()
        };
        Ok((measured(a), measured(b)))
    }

    #[cfg(feature = "history")]
    fn history(&self) -> history::History<'_> {
        history::History::new(&self.place, self.path.as_deref())
    }

    #[cfg(not(feature = "history"))]
    fn history(&self) -> files::Files {
        files::Files
    }
}

#[cfg(feature = "history")]
mod history {
    use model::run::Run;
    use store::{Filter, Kind, Store};

    use super::{Failure, Found, Set, Where, anyhow, code, file};

    /// The history, opened when it is first needed.
    pub(super) struct History<'a> {
        place: &'a Where,
        path: Option<&'a str>,
        store: Option<Store>,
    }

    impl<'a> History<'a> {
        pub(super) fn new(place: &'a Where, path: Option<&'a str>) -> Self {
            Self {
                place,
                path,
                store: None,
            }
        }

        fn store(&mut self) -> Result<&mut Store, Failure> {
            let store = match self.store.take() {
                Some(store) => store,
                None => self.place.open()?,
            };
            Ok(self.store.insert(store))
        }

        pub(super) fn runs(&mut self, set: &Set<'_>) -> Result<Vec<Found>, Failure> {
            match set {
                Set::These(names) => names.iter().map(|name| self.one(name)).collect(),
                Set::Last(n) => self.of_path(Filter {
                    limit: Some(*n),
                    ..Filter::default()
                }),
                Set::Label(name, value) => self.of_path(Filter {
                    labels: vec![((*name).to_owned(), (*value).to_owned())],
                    ..Filter::default()
                }),
                Set::Before(_) => Ok(Vec::new()),
            }
        }

        /// The runs before the first of others, of the same path.
        pub(super) fn before(&mut self, n: u64, others: &[Found]) -> Result<Vec<Found>, Failure> {
            let first = others.iter().min_by_key(|run| run.started_us);
            self.of_path(Filter {
                until_us: first.map(|run| run.started_us),
                path: first.and_then(|run| run.path.clone()),
                limit: Some(n),
                ..Filter::default()
            })
        }

        fn one(&mut self, name: &str) -> Result<Found, Failure> {
            if let Some(run) = file(name) {
                return Ok(Found::new(&run?, None));
            }
            let store = self.store()?;
            let body = store.body(Kind::Run, name)?;
            let run = parse(&body)?;
            let path = store.path_of(Kind::Run, &run.id).ok();
            Ok(Found::new(&run, path))
        }

        fn of_path(&mut self, mut filter: Filter) -> Result<Vec<Found>, Failure> {
            let asked = self.path.map(str::to_owned).or(filter.path.take());
            let store = self.store()?;
            filter.kind = Some(Kind::Run);
            filter.path = Some(match asked {
                Some(path) => path,
                None => only_path(store)?,
            });
            let entries = store.list(&filter)?;
            entries
                .into_iter()
                .map(|entry| {
                    let run = parse(&store.body(Kind::Run, &entry.id)?)?;
                    Ok(Found::new(&run, Some(entry.path)))
                })
                .collect()
        }
    }

    fn parse(body: &[u8]) -> Result<Run, Failure> {
        Run::parse(body).map_err(|e| Failure::new(code::FAILED, e))
    }

    fn only_path(store: &mut Store) -> Result<String, Failure> {
        let mut paths = store.paths()?;
        match paths.len() {
            1 => Ok(paths.swap_remove(0).0),
            0 => Err(Failure::new(code::USE, anyhow!("the history has no runs"))),
            _ => {
                let names: Vec<String> = paths.into_iter().map(|(path, _)| path).collect();
                let why = anyhow!("give --path: the history has runs of {}", names.join(", "));
                Err(Failure::new(code::USE, why))
            }
        }
    }
}

#[cfg(not(feature = "history"))]
mod files {
    use super::{Failure, Found, Set, anyhow, code, file};

    /// Files only.
    pub(super) struct Files;

    impl Files {
        pub(super) fn runs(&mut self, set: &Set<'_>) -> Result<Vec<Found>, Failure> {
            let none = || {
                let why =
                    anyhow!("this pathtwin was built without a history: name files with runs");
                Failure::new(code::USE, why)
            };
            let Set::These(names) = set else {
                return Err(none());
            };
            names
                .iter()
                .map(|name| Ok(Found::new(&file(name).ok_or_else(none)??, None)))
                .collect()
        }

        pub(super) fn before(&mut self, n: u64, _: &[Found]) -> Result<Vec<Found>, Failure> {
            self.runs(&Set::Before(n))
        }
    }
}
