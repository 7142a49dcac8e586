//! A document in a form for people: one file a format.

pub mod comparison;
pub mod findings;
pub mod graph;
mod number;
pub mod observation;
pub mod plain;
pub mod run;
pub mod summary;
pub mod terminal;
pub mod time;
