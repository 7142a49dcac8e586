//! The reference of the grammar.

/// The reference of the grammar, as Markdown.
pub fn reference() -> String {
    String::new()
}
