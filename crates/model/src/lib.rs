//! The documents of pathtwin, their units and the spec grammar. It does no I/O.
//!
//! A path has two forms. The user writes a TOML text, and [`spec`] turns it into checked
//! [`cell::Cell`]s, one for each combination of the matrix and each repeat. Only checked types
//! reach the engine: their values are valid and all defaults are filled in.
//!
//! The result of a cell is a stream of [`record`]s; [`row`] is the flat form that is printed.

pub mod advice;
pub mod capacity;
pub mod cause;
pub mod cell;
pub mod change;
pub mod comparison;
pub mod counter;
pub mod evidence;
pub mod facts;
pub mod figures;
pub mod findings;
pub mod history;
pub mod job;
mod names;
pub mod net;
pub mod observation;
pub mod path;
pub mod plan;
pub mod prefix;
pub mod proof;
pub mod record;
pub mod remedy;
pub mod row;
pub mod run;
pub mod safe;
pub mod spec;
pub mod text;
pub mod twin;
pub mod units;
pub mod watch;
pub mod wire;
