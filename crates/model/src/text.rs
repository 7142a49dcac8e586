//! Texts with values, formatted only when they are rendered.
//!
//! A [`Text`] is an English template and the values for the names in its braces. `Display` renders
//! it in English, and [`Text::render`] in the language of a [`Catalogue`], keyed by the English
//! template as in gettext. Texts of this program are only made by the [`text!`](crate::text!)
//! macro, so that all templates can be extracted from the sources.

mod catalogue;
mod conversion;
mod document;
mod macros;
mod rendering;
mod system;
mod template;

pub use catalogue::Catalogue;
pub use rendering::capital;
pub use template::{Text, Value};

#[cfg(test)]
mod tests;
