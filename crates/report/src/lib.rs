//! A document in a form for people: one file a format.

pub mod comparison;
pub mod documents;
pub mod facts;
mod figures;
pub mod findings;
pub mod graph;
mod number;
pub mod observation;
pub mod page;
pub mod plain;
pub mod run;
pub mod summary;
pub mod terminal;
pub mod time;
