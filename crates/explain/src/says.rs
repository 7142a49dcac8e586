//! What a rule says.

use model::net::Side;

pub(crate) use model::{text as say, text::Text as Says};

/// An end, in sentences.
pub(crate) fn end(side: Side) -> Says {
    match side {
        Side::Near => say!("near host"),
        Side::Far => say!("far host"),
    }
}
