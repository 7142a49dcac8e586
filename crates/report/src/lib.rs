//! Output formats of documents, one module each.

pub mod advice;
pub mod answer;
mod busy;
pub mod change;
pub mod comparison;
pub mod csv;
pub mod documents;
pub mod exposition;
pub mod facts;
mod figures;
pub mod findings;
mod fit;
pub mod flent;
pub mod gathered;
pub mod graph;
#[cfg(feature = "history")]
pub mod history;
pub mod iperf3;
pub mod junit;
pub mod lab_kernel;
pub mod live;
pub mod markdown;
mod number;
pub mod observation;
pub mod pace;
pub mod page;
pub mod plain;
mod printed;
pub mod prometheus;
pub mod proof;
pub mod run;
mod segments;
pub mod shortfall;
pub mod terminal;
pub mod time;
pub mod twin;
mod wrap;
