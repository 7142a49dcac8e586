//! Sets of runs in files and in the history.

use std::path::Path;

use anyhow::Context;
use compare::{Measured, Query, SelectError, Selected, Set, Source, select};
use model::run::Run;

use crate::cli::compare::From as Origin;
use crate::{
    document,
    exit::{Failure, code},
};

impl Origin {
    /// The runs of both sets, each in the order of time.
    pub(super) fn pair(
        &self,
        before: &str,
        after: &str,
    ) -> Result<(Vec<Measured>, Vec<Measured>), Failure> {
        let (before, after) = (set(before)?, set(after)?);
        select((&before, &after), self.path(), &mut self.runs())
    }
}

/// The set of a name: a file of that name, or runs by its grammar.
fn set(text: &str) -> Result<Set<'_>, Failure> {
    if Path::new(text).exists() {
        return Ok(Set::These(vec![text]));
    }
    Set::parse(text).map_err(|e| Failure::new(code::USE, e))
}

/// The run in a file, or on standard input.
fn file(name: &str) -> Option<Result<Run, Failure>> {
    let run = |text: Vec<u8>| {
        let run = Run::parse(&text).with_context(|| name.to_owned());
        run.map_err(|e| Failure::new(code::USE, e))
    };
    Some(document::file(name)?.and_then(run))
}

impl From<SelectError> for Failure {
    fn from(error: SelectError) -> Self {
        Self::new(code::USE, error)
    }
}

#[cfg(feature = "history")]
impl Origin {
    fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    fn runs(&self) -> Runs<'_> {
        Runs {
            place: &self.place,
            store: None,
        }
    }
}

/// Files, and the history, which is opened when it is first needed.
#[cfg(feature = "history")]
struct Runs<'a> {
    place: &'a crate::cli::history::StoreArgs,
    store: Option<store::Store>,
}

#[cfg(feature = "history")]
impl Runs<'_> {
    fn store(&mut self) -> Result<&mut store::Store, Failure> {
        let store = match self.store.take() {
            Some(store) => store,
            None => self.place.open()?,
        };
        Ok(self.store.insert(store))
    }

    /// The run of the history with this id prefix, and its path.
    fn stored(&mut self, id: &str) -> Result<Selected, Failure> {
        let store = self.store()?;
        let body = store.body(model::history::Kind::Run, id)?;
        let run = Run::parse(&body).map_err(|e| Failure::new(code::FAILED, e))?;
        let path = store.path_of(model::history::Kind::Run, &run.id).ok();
        Ok(Selected::of(&run, path))
    }
}

#[cfg(feature = "history")]
impl Source for Runs<'_> {
    type Error = Failure;

    fn named(&mut self, name: &str) -> Result<Selected, Failure> {
        match file(name) {
            Some(run) => Ok(Selected::of(&run?, None)),
            None => self.stored(name),
        }
    }

    fn paths(&mut self) -> Result<Vec<String>, Failure> {
        let paths = self.store()?.paths()?;
        Ok(paths.into_iter().map(|(path, _)| path).collect())
    }

    fn query(&mut self, query: &Query<'_>) -> Result<Vec<Selected>, Failure> {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let entries = self.store()?.list(&store::Filter {
            kind: Some(model::history::Kind::Run),
            path: Some(query.path.clone()),
            labels: query.label.map(owned).into_iter().collect(),
            until_us: query.before_us,
            limit: query.newest,
            ..store::Filter::default()
        })?;
        entries.iter().map(|entry| self.stored(&entry.id)).collect()
    }
}

#[cfg(not(feature = "history"))]
impl Origin {
    fn path(&self) -> Option<&str> {
        None
    }

    fn runs(&self) -> Runs {
        Runs
    }
}

/// Files only.
#[cfg(not(feature = "history"))]
struct Runs;

#[cfg(not(feature = "history"))]
fn no_history() -> Failure {
    let why = anyhow::anyhow!("this pathtwin was built without a history: name files with runs");
    Failure::new(code::USE, why)
}

#[cfg(not(feature = "history"))]
impl Source for Runs {
    type Error = Failure;

    fn named(&mut self, name: &str) -> Result<Selected, Failure> {
        Ok(Selected::of(&file(name).ok_or_else(no_history)??, None))
    }

    fn paths(&mut self) -> Result<Vec<String>, Failure> {
        Err(no_history())
    }

    fn query(&mut self, _: &Query<'_>) -> Result<Vec<Selected>, Failure> {
        Err(no_history())
    }
}
