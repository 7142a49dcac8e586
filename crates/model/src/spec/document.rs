//! Parsed specs, key by key.

use toml::de::{DeTable, DeValue};

use super::{
    error::Problems,
    matrix::Factor,
    place::Place,
    reason::{MAX_CROSSES, Reason},
    text::{Entries, Lines, Reader, entry},
};

/// Parsed specs, key by key.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Document {
    /// Entries outside of the matrix.
    pub(super) base: Entries,
    /// The matrix, in the order of the file.
    pub(super) factors: Vec<Factor>,
    /// Number of `[[cross]]` tables.
    pub(super) crosses: usize,
}

/// Parses as much of the text as possible; errors go to `problems`.
pub(super) fn read(text: &str, problems: &mut Problems) -> Document {
    let lines = Lines::of(text);
    let (root, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let place = error.span().map_or(Place::File, |span| lines.place(span));
        problems.add(place, "", Reason::Toml(error.message().replace('\n', "; ")));
    }
    let mut document = Document {
        base: Entries::new(),
        factors: Vec::new(),
        crosses: 0,
    };
    if !errors.is_empty() {
        return document;
    }
    let root = root.get_ref();
    document.crosses = entry(root, "cross")
        .and_then(DeValue::as_array)
        .map_or(0, |a| a.len());
    if document.crosses > MAX_CROSSES {
        problems.add(Place::File, "cross", Reason::Crosses);
        return document;
    }
    let mut reader = Reader {
        lines,
        crosses: document.crosses,
        problems,
    };
    reader.table("", root, "matrix", &mut document.base);
    if let Some((key, matrix)) = root.iter().find(|(key, _)| key.get_ref() == "matrix") {
        document.factors = reader.matrix(key, matrix);
    }
    document
}
