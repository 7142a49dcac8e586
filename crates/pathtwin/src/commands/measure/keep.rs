//! Where a run is kept: in a file, in the history, or where neither takes it, in its own file.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
#[cfg(feature = "history")]
use model::history;
use model::run::Run;
use sys::files::Readers;

use crate::{
    cli::measure::Measure,
    exit::{Failure, message},
    format,
    say::say,
};

/// Checks that a run could be kept where it is requested, before minutes of measurement.
///
/// # Errors
/// The file or the history cannot be written.
pub(super) fn check(arguments: &Measure) -> Result<(), Failure> {
    format::check(arguments.out.as_deref())?;
    #[cfg(feature = "history")]
    if is_in_history(arguments) {
        arguments.place.check(
            "nothing was measured, because the run could not be kept; use another history (--store \
             FILE) or none (--no-store, with --out FILE)",
        )?;
    }
    Ok(())
}

/// Where a run is kept.
#[derive(Default)]
pub(super) struct Kept {
    /// Its name for other commands: a file, or its id in the history.
    pub(super) name: Option<String>,
    /// True if it is in the history.
    is_in_history: bool,
    /// What could not be written.
    failures: Vec<Failure>,
}

impl Kept {
    /// Keeps a run in the history and in `--out FILE`. If that was requested and nothing takes it,
    /// it is written to `pathtwin-ID.json` in the current folder, else in that of temporary files.
    pub(super) fn new(arguments: &Measure, run: &Run) -> Self {
        let mut kept = Self::default();
        kept.in_history(arguments, run);
        if let Some(file) = &arguments.out {
            match write(file, run) {
                Ok(()) => kept.name = Some(file.display().to_string()),
                Err(failure) => kept.failures.push(failure),
            }
        }
        if !kept.failures.is_empty() && kept.name.is_none() {
            kept.name = rescue(run).map(|file| file.display().to_string());
        }
        kept
    }

    #[cfg(feature = "history")]
    fn in_history(&mut self, arguments: &Measure, run: &Run) {
        if !is_in_history(arguments) {
            return;
        }
        match import(arguments, run) {
            Ok(()) => {
                self.name = Some(run.id.clone());
                self.is_in_history = true;
            }
            Err(failure) => self.failures.push(failure),
        }
    }

    #[cfg(not(feature = "history"))]
    fn in_history(&mut self, _: &Measure, _: &Run) {}

    /// Says where it is kept, after the answer.
    ///
    /// # Errors
    /// Something could not be written.
    pub(super) fn said(self, run: &Run) -> Result<(), Failure> {
        if self.is_in_history {
            say!("pathtwin: kept as {}; see pathtwin history list", run.id);
        }
        let Some(code) = self.failures.first().map(|failure| failure.code) else {
            return Ok(());
        };
        let failed = self.failures.iter().map(|failure| message(&failure.error));
        let mut why = failed.collect::<Vec<_>>().join("; ");
        match self.name {
            Some(name) => why.push_str(&format!("; the run is kept as {name}")),
            None => why.push_str("; the run is kept nowhere"),
        }
        Err(Failure::new(code, anyhow!("{why}")))
    }
}

#[cfg(feature = "history")]
fn is_in_history(arguments: &Measure) -> bool {
    let is_named = arguments.place.store.is_some();
    !arguments.no_store && history::is_kept(arguments.lab.spec().is_some(), is_named)
}

#[cfg(feature = "history")]
fn import(arguments: &Measure, run: &Run) -> Result<(), Failure> {
    let text = json(run)?;
    let labels = history::labels_of(run.lab, &arguments.label, sys::machine::host_name);
    let mut store = arguments.place.open()?;
    store.import(&mut text.as_slice(), "this run", &labels)?;
    Ok(())
}

/// Writes a run where none of the requested places takes it; `None` if that fails too.
fn rescue(run: &Run) -> Option<PathBuf> {
    let name = format!("pathtwin-{}.json", run.id);
    let folders = [PathBuf::from("."), std::env::temp_dir()];
    let mut files = folders.into_iter().map(|folder| folder.join(&name));
    files.find(|file| write(file, run).is_ok())
}

/// Writes a run atomically, readable by its owner only, since it names hosts and addresses.
fn write(file: &Path, run: &Run) -> Result<(), Failure> {
    format::file(file, Readers::Owner, &json(run)?)
}

fn json(run: &Run) -> Result<Vec<u8>, Failure> {
    Ok(serde_json::to_vec(run).context("write the run as JSON")?)
}
