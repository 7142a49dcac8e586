//! Notes on facts that are unknown.

use model::text::Text;

/// Facts that are unknown, and why.
#[derive(Debug, Default)]
pub(super) struct Notes(pub(super) Vec<Text>);

impl Notes {
    pub(super) fn add(&mut self, note: Text) {
        if !self.0.contains(&note) {
            self.0.push(note);
        }
    }

    /// Returns the value, or adds a note with the reason for its absence.
    pub(super) fn keep<T, E>(
        &mut self,
        result: Result<T, E>,
        note: impl FnOnce(&E) -> Text,
    ) -> Option<T> {
        result.map_err(|error| self.add(note(&error))).ok()
    }
}
