//! Output formats of documents, one module each.

pub mod advice;
pub mod answer;
mod busy;
pub mod change;
pub mod comparison;
pub mod csv;
pub mod documents;
pub mod facts;
mod figures;
pub mod findings;
mod fit;
pub mod flent;
pub mod graph;
pub mod iperf3;
pub mod junit;
pub mod markdown;
mod number;
pub mod observation;
pub mod page;
pub mod plain;
pub mod prometheus;
pub mod run;
pub mod shortfall;
pub mod terminal;
pub mod time;
pub mod twin;
mod wrap;
