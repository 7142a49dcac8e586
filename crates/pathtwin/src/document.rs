//! Documents by name: from files, standard input and the history.

use std::{io::Read, path::Path};

use anyhow::Context;

use crate::{
    cli::document::Place,
    exit::{Failure, code},
};
#[cfg(feature = "history")]
use crate::{cli::history::StoreArgs, exit::message};

/// The contents of a file, or of standard input (`-`); `None` if the name is not that of a file.
pub(crate) fn file(name: &str) -> Option<Result<Vec<u8>, Failure>> {
    let text = if name == "-" {
        let mut text = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut text);
        read.map(|_| text).context("read standard input")
    } else if Path::new(name).exists() || name.contains(['/', '.']) {
        std::fs::read(name).with_context(|| format!("read {name}"))
    } else {
        return None;
    };
    Some(text.map_err(|e| Failure::new(code::USE, e)))
}

impl Place {
    /// A file, or the run of the history with this ID prefix.
    pub(crate) fn named(&self, name: &str) -> Result<Vec<u8>, Failure> {
        file(name).unwrap_or_else(|| self.kept(name))
    }

    #[cfg(feature = "history")]
    fn kept(&self, name: &str) -> Result<Vec<u8>, Failure> {
        Ok(self.history.open()?.body(model::history::Kind::Run, name)?)
    }

    #[cfg(not(feature = "history"))]
    fn kept(&self, name: &str) -> Result<Vec<u8>, Failure> {
        let why =
            anyhow::anyhow!("{name}: no such file, and this pathtwin was built without a history");
        Err(Failure::new(code::USE, why))
    }
}

#[cfg(feature = "history")]
impl StoreArgs {
    /// Opens it; created if it does not exist.
    pub(crate) fn open(&self) -> Result<store::Store, Failure> {
        let place = place(self.store.as_deref())?;
        let mut store = store::Store::open(&place)?;
        store.allow_documents_of(self.max_document.0);
        Ok(store)
    }

    /// Checks that it can be opened, before work whose result goes there; created if it does not
    /// exist. `remedy` ends the message.
    pub(crate) fn check(&self, remedy: &str) -> Result<(), Failure> {
        let opened = self.open().map(drop);
        opened.map_err(|failure| {
            let why = message(&failure.error);
            Failure::new(failure.code, anyhow::anyhow!("{why}; {remedy}"))
        })
    }
}

/// The history of this name; by default the one in the environment, else the user's own.
#[cfg(feature = "history")]
pub(crate) fn place(named: Option<&str>) -> Result<store::Place, Failure> {
    let set = std::env::var("PATHTWIN_STORE")
        .ok()
        .filter(|s| !s.is_empty());
    match named.map(str::to_owned).or(set) {
        Some(text) => Ok(store::Place::parse(&text)?),
        None => of_user(),
    }
}

/// The user's own history.
#[cfg(feature = "history")]
fn of_user() -> Result<store::Place, Failure> {
    let place = store::Place::of_user(std::env::var_os("XDG_DATA_HOME"), std::env::var_os("HOME"));
    let place = place.ok_or_else(|| {
        let why = "no folder for the history: HOME is not set; name one with --store FILE";
        Failure::new(code::LACKS, anyhow::anyhow!(why))
    })?;
    place.make_private();
    Ok(place)
}
