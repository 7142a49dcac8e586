//! The history as the place of runs.

use model::{run::Run, text::Text};
use store::Document;

use super::{History, Kept, unsaved::label};
use crate::{
    config::PathConfig,
    runs::{Changed, Place, Runs},
};

impl Runs for History {
    fn keep(
        &mut self,
        path: &PathConfig,
        run: &Run,
        log: &mut dyn FnMut(&Text),
    ) -> (Place, Vec<Changed>) {
        let Some(document) = document(path, run) else {
            return (Place::State, Vec::new());
        };
        let id = document.id.clone();
        match Self::keep(self, document, log) {
            (Kept::History, changes) => (Place::History(id), changes),
            (_, changes) => (Place::Waits, changes),
        }
    }

    fn every_ns(&self) -> u64 {
        Self::every_ns(self)
    }

    fn retry(&mut self, log: &mut dyn FnMut(&Text)) {
        Self::retry(self, log);
    }

    fn end(&mut self, log: &mut dyn FnMut(&Text)) {
        Self::end(self, log);
    }
}

/// The run as a document of the history.
fn document(path: &PathConfig, run: &Run) -> Option<Document> {
    let body = serde_json::to_vec(run).ok()?;
    let mut document = Document::of_run(body, "this run").ok()?;
    document.label("path", &path.name);
    label(&mut document);
    Some(document)
}
