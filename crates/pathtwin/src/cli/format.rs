//! Formats of output that most commands have.

use clap::ValueEnum;

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table
    Text,
    /// One JSON document
    Json,
    /// One JSON row a line
    Jsonl,
}
