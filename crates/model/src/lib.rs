//! The documents of pathtwin, their units and the spec grammar. No I/O happens here.
//!
//! Two types describe a path. What the user wrote is a TOML text; [`spec`] turns it into checked
//! [`cell::Cell`]s, one for each combination of the matrix and each repeat. Only checked types
//! reach the engine: every value in them is possible, every default is filled in.
//!
//! What a cell measured comes back as a stream of [`record`]s, which [`row`] describes in the flat
//! form that is printed.

pub mod cell;
pub mod comparison;
pub mod evidence;
pub mod facts;
pub mod figures;
pub mod findings;
pub mod job;
pub mod net;
pub mod observation;
pub mod path;
pub mod plan;
pub mod prefix;
pub mod record;
pub mod remedy;
pub mod row;
pub mod run;
pub mod safe;
pub mod spec;
pub mod text;
pub mod twin;
pub mod units;
